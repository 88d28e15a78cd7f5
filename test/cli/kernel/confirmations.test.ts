// Every command that takes --yes: without it, and without a terminal to ask on, it is exit 2 and changes nothing.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listCommands } from "../../../src/cli/kernel/command-tree.ts";
import { createProgram } from "../../../src/cli/kernel/program.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openShop, optionsOf, reseller, type Shop } from "../../support/worlds/shop.ts";
import { seedRates } from "../../support/seeds/rates.ts";
import { freshFolder } from "../../support/folders.ts";

function fileOf(name: string, lines: readonly string[]): string {
  const path = join(freshFolder(), name);
  writeFileSync(path, lines.join("\n"));
  return path;
}

const numbers = Array.from({ length: 25 }, (_, index) => index);
const grants = () =>
  fileOf("grants.csv", ["service,username", ...numbers.map((at) => `s${at},bob`)]);
const prices = () => fileOf("list.csv", ["id,price", ...numbers.map((at) => `s${at},9`)]);
const oldUsers = () => fileOf("users.csv", ["id,username,balance", "1,dora,5"]);
const newUsers = () => fileOf("users.csv", ["username,credit,reference", "dora,5,r"]);
const newKeys = () => fileOf("keys.csv", ["username,type,reach", "bob,recharge,children"]);
const ABOVE = ["--confirm-above", "0"];

/** How each asks; a command that is not here fails the first test. Those of PostgreSQL and of backups have tests of their own. */
const CASES: Record<string, () => string[]> = {
  "admin user credit": () => ["bob", "5", ...ABOVE],
  "admin user debit": () => ["alice", "5", ...ABOVE],
  "admin user import": () => [newUsers(), ...ABOVE],
  "admin key import": () => [newKeys()],
  "admin user erase": () => ["carl", "--reason", "asked"],
  "admin user discount": () => ["bob", "100"],
  "admin service create": () => {
    const provider = ["--provider", "acme", "--provider-service", "1"];
    return ["--name", "N", "--price", "0.5", "--min", "1", "--max", "9", ...provider];
  },
  "admin service grant": () => ["synced", "--user", "bob", "--price", "0.5"],
  "admin service update": () => ["followers", "--price", "0"],
  "admin service reprice": () => ["--percent", "10"],
  "admin service import": () => [prices(), "--update"],
  "admin grant import": () => [grants()],
  "admin import panel": () => ["--users", oldUsers(), ...ABOVE],
  "admin order cancel": () => ["1", ...ABOVE],
  "admin order fail": () => ["1", ...ABOVE],
  "admin order partial": () => ["1", "--remains", "5", ...ABOVE],
  "admin order refund": () => ["2", ...ABOVE],
  "admin order place": () => ["alice", "followers", "--link", "x", "--quantity", "100", ...ABOVE],
  "admin order resend": () => ["3", ...ABOVE],
  "admin payment approve": () => [payments.open!, ...ABOVE],
  "admin payment refund": () => [payments.paid!, "--amount", "1", ...ABOVE],
  "admin payment surplus": () => [payments.paid!, "--credit", "1", ...ABOVE],
};
const ELSEWHERE = ["admin order late", "admin order settle", "restore", "restored"];

/** Ids of a payment to approve and of one that is paid. */
const payments: { open?: string; paid?: string } = {};

function seedPayments(shop: Shop): void {
  const actor = seedMember(shop);
  seedMethod(shop, "bank", "manual");
  payments.open = askPayment(shop, { methodId: "bank", actor, now: Date.now() });
  const id = (payments.paid = askPayment(shop, { methodId: "bank", actor, now: Date.now() }));
  shop.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
  const again = { programId: "t1", amountMicros: 1_000_000, currency: "USD" };
  shop.run("recordPaid", { methodId: "bank", id, ...again });
}

const asking = listCommands(await createProgram())
  .filter(({ command }) => command.options.some(({ long }) => long === "--yes"))
  .map(({ words }) => words);

test("every confirmation has a case", () => {
  expect(asking.toSorted()).toEqual([...Object.keys(CASES), ...ELSEWHERE].toSorted());
});

test.each(Object.entries(CASES))("%s", async (words, rest) => {
  const shop = openShop();
  shop.user("carl");
  for (const at of numbers) shop.service({ id: `s${at}`, name: `S${at}` });
  seedRates(shop, "acme", { "1": "1" });
  shop.service({ id: "synced", price: "2", provider: { name: "acme", service: "1" } });
  shop.order(100);
  shop.order(100);
  shop.order(100);
  await shop.cli("admin", "order", "complete", "2");
  await shop.cli("admin", "order", "fail", "3");
  await shop.cli("admin", "user", "deactivate", "carl");
  seedPayments(shop);
  const before = shop.dump();
  const argv = [...words.split(" "), ...rest()];
  for (const json of [[], ["--json"]]) {
    const { code, stdout, told } = await reseller(...argv, ...json, ...optionsOf(shop));
    expect([code, told]).toEqual([2, expect.stringContaining("--yes")]);
    // What it asks about is shown to a person only.
    if (json.length > 0) expect(stdout).toBe("");
    expect(shop.dump()).toBe(before);
  }
  const { code, stderr } = await reseller(...argv, "--yes", ...optionsOf(shop));
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(shop.dump()).not.toBe(before);
});

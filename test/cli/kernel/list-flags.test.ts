// Every list and report × every flag that its --help names: each flag is taken, and a window of time means the same everywhere.

import { beforeAll, describe, expect, test } from "bun:test";
import type { Command, Option } from "commander";
import { listCommands, visibleOptions } from "../../../src/cli/kernel/command-tree.ts";
import { createProgram } from "../../../src/cli/kernel/program.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openShop, optionsOf, reseller, type Shop } from "../../support/worlds/shop.ts";

const LISTS = listCommands(await createProgram()).filter(({ words, command }) => {
  return /(^| )(list|report|deliveries|export)$/.test(words) && command.commands.length === 0;
});
/** Needs S3, which these tests do not have. */
const REMOTE = "backup list";
/** Settings and what every command has. */
const COMMON = ["--data", "--database", "--env-file", "--help", "--as"];
/** A value for each placeholder. */
const VALUES: Record<string, string> = {
  username: "alice",
  id: "followers",
  ids: "1",
  name: "acme",
  text: "x",
  number: "1",
  seq: "1",
  order: "1",
  key: "k",
  when: "24h",
  time: "24h",
  word: "x",
};

let shop: Shop;
let webhook: string;
let keyId: string;
beforeAll(async () => {
  shop = openShop();
  shop.order(100);
  const changes = { mode: "credit", sellerName: "s", sellerAddress: "a" } as const;
  shop.run("setInvoicing", { changes });
  shop.run("creditUser", { username: "alice", amountMicros: 5, note: null });
  shop.run("issueInvoices", { limit: 1 });
  const actor = seedMember(shop);
  seedMethod(shop, "bank", "manual");
  askPayment(shop, { methodId: "bank", actor, now: Date.now() });
  const url = "https://1.1.1.1/x";
  const made = await shop.cli(
    "admin",
    "webhook",
    "create",
    "--user",
    "alice",
    "--url",
    url,
    "--json",
  );
  webhook = made.json.id;
  keyId = shop.query<{ id: string }>("SELECT id FROM keys")[0]!.id;
  // A row for each list.
  const provider = { protocol: "smm-api", url: "http://127.0.0.1:9/", key: "k" };
  shop.run("createProvider", { name: "acme", ...provider });
  shop.run("inviteAdministrator", { name: "ada", role: "owner", invitationHash: "1".repeat(64) });
  const ann = { email: "ann@alice.example", name: "Ann", role: "owner", language: "en" } as const;
  shop.run("setMailSettings", { active: true, operator: null });
  shop.run("inviteMember", { ...ann, username: "alice", invitationHash: null });
  shop.run("updateService", { id: "followers", changes: { cancel: true } });
  const [key] = shop.query<{ account: number }>("SELECT reseller_account AS account FROM keys");
  const asked = { resellerAccount: key!.account, keyId, kind: "cancel" } as const;
  shop.run("makeRequest", { ...asked, id: String(shop.order(100)) });
  shop.run("createAlertEndpoint", { target: { url: "http://10.1.2.3:9/" }, secret: "s" });
  const alert = { kind: "disk_low", subject: "disk", message: "The disk has 5 MiB free" } as const;
  shop.run("recordAlerts", { begun: [alert], ended: [] });
  shop.run("testWebhook", { id: webhook });
  const server = "s".repeat(24);
  const due = shop.run("takeDueWebhookDeliveries", { server, limit: 9, perEndpoint: 9 });
  const reply = { httpStatus: 500, error: "status", response: "", retryAfterSeconds: null };
  const attempts = due.map(
    (each) => ({ ...each, at: Date.now(), durationMs: 3, ...reply }) as const,
  );
  shop.run("recordWebhookAttempts", { attempts, jitter: 0 });
});

function valueOf(words: string, option: Option): string[] {
  if (!option.required && !option.optional) return [];
  if (option.argChoices) return [option.argChoices[0]!];
  const placeholder = /[<[]([\w-]+)/.exec(option.flags)![1]!;
  if (option.long === "--limit") return ["5"];
  if (option.long === "--columns") return [words === "admin order list" ? "link" : "id"];
  if (option.long === "--cursor" && placeholder === "id")
    return [words.endsWith("key list") ? keyId : "followers"];
  return [VALUES[placeholder] ?? "1"];
}

/** What a command must have besides. */
function requiredOf(words: string, command: Command, besides: string): string[] {
  const needed = command.options.filter(({ mandatory, long }) => mandatory && long !== besides);
  const options = needed.flatMap((option) => [option.long!, ...valueOf(words, option)]);
  return command.registeredArguments.some(({ required }) => required)
    ? [webhook, ...options]
    : options;
}

describe.each(LISTS.filter(({ words }) => words !== REMOTE))("$words", ({ words, command }) => {
  const flags = visibleOptions(command).filter(({ long }) => !COMMON.includes(long!));
  test.each(flags.map((option) => [option.long!, option] as const))("%s", async (long, option) => {
    const argv = [...words.split(" "), ...requiredOf(words, command, long), long];
    const { code, told } = await reseller(...argv, ...valueOf(words, option), ...optionsOf(shop));
    // What there is not, such as a provider of that name, is a refusal and no wrong usage.
    expect([code === 2 ? told : "", code <= 1]).toEqual(["", true]);
  });
});

describe("--since and --until, or --from and --to, are the same window in", () => {
  /** They show prices and names as they are now, or must be whole to be imported again. */
  const WITHOUT_TIME = [
    "admin category list",
    "admin grant list",
    "admin payment method list",
    "admin portal notice list",
    "admin service export",
  ];
  const WINDOWED: [string, string[]][] = [
    ["admin user list", []],
    ["admin key list", []],
    ["admin service list", []],
    ["admin provider list", []],
    ["admin portal list", []],
    ["admin webhook list", []],
    ["admin webhook deliveries", ["WEBHOOK"]],
    ["admin request list", []],
    ["admin alert list", []],
    ["admin alert list", ["--open"]],
    ["panel list", []],
    ["admin order list", []],
    ["admin transaction list", ["--user", "alice"]],
    ["admin transaction list", ["--all"]],
    ["admin transaction export", []],
    ["admin invoice list", []],
    ["admin invoice export", []],
    ["admin payment list", []],
    ["admin audit list", []],
    ["admin mail list", []],
    ["report", []],
  ];
  test("every list and report", () => {
    const names = LISTS.map(({ words }) => words).filter((words) => words !== REMOTE);
    const windowed = new Set(WINDOWED.map(([words]) => words));
    expect(names.toSorted()).toEqual([...windowed, ...WITHOUT_TIME].toSorted());
  });

  test.each(WINDOWED)("%s", async (words, more) => {
    const ask = async (...window: string[]) => {
      const ran = await reseller(
        ...words.split(" "),
        ...more.map((each) => (each === "WEBHOOK" ? webhook : each)),
        ...window,
        "--json",
        ...optionsOf(shop),
      );
      expect([window, ran.code, ran.told]).toEqual([window, 0, expect.any(String)]);
      return (ran.json as unknown[]).length;
    };
    for (const [begin, end] of [
      ["--since", "--until"],
      ["--from", "--to"],
    ] as const) {
      expect(await ask(begin, "24h")).toBeGreaterThan(0);
      expect(await ask(begin, "2026-01-01", end, "0")).toBeGreaterThan(0);
      expect(await ask(begin, "2001-01-01", end, "2001-01-02")).toBe(0);
      expect(await ask(begin, "2999-01-01")).toBe(0);
      expect(await ask(end, "2001-01-01", begin, "2000-01-01")).toBe(0);
    }
    const both = await reseller(
      ...words.split(" "),
      ...more.map((each) => (each === "WEBHOOK" ? webhook : each)),
      "--since",
      "1h",
      "--from",
      "1h",
      ...optionsOf(shop),
    );
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("cannot be used with")]);
  });
});

// `admin payment` and `admin payment method`: ways to pay with their secrets, and decisions on payments.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "bun:test";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { freshFolder } from "../../support/folders.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

const SECRET = `whsec_${Buffer.alloc(32, 3).toString("base64")}`;

let shop: Shop;
let actor: Actor;
beforeEach(() => {
  shop = openShop();
  actor = seedMember(shop, "carol");
});

const fileWith = (text: string) => {
  const path = join(freshFolder(), "file.txt");
  writeFileSync(path, text);
  return path;
};
const method = (...argv: string[]) => shop.cli("admin", "payment", "method", ...argv);
const payment = (...argv: string[]) => shop.cli("admin", "payment", ...argv);
const asked = (amount = 10) =>
  askPayment(shop, { methodId: "bank", actor, amount, now: Date.now() });

describe("a way to pay", () => {
  test("is added with texts for each language, limits, fee and bonus, and shown as it is", async () => {
    const terms = [
      "--min",
      "5",
      "--max",
      "900",
      "--fee",
      "2.9%",
      "--fee-fixed",
      "0.3",
      "--fee-by",
      "customer",
    ];
    const texts = [
      "--name",
      "Bank",
      "--name",
      "es=Banco",
      "--instructions",
      fileWith("Account 1\nNova"),
    ];
    const more = ["--bonus", "100=3,500=5", "--reseller", "carol"];
    expect((await method("add", "manual", "bank", ...texts, ...terms, ...more)).code).toBe(0);
    const { json } = await method("show", "bank", "--json");
    expect(json).toMatchObject({
      id: "bank",
      kind: "manual",
      names: { en: "Bank", es: "Banco" },
      instructions: { en: "Account 1\nNova" },
      min: "5",
      max: "900",
      fee: 2.9,
      feeFixed: "0.3",
      feeBy: "customer",
      bonus: "100=3,500=5",
      resellers: ["carol"],
      active: true,
      notRight: [],
    });
    expect(
      (await method("edit", "bank", "--name", "tr=Banka", "--bonus", "none", "--all-resellers"))
        .code,
    ).toBe(0);
    const { json: after } = await method("show", "bank", "--json");
    expect(after).toMatchObject({
      names: { en: "Bank", es: "Banco", tr: "Banka" },
      bonus: "",
      resellers: null,
    });
    expect((await method("list")).stdout).toContain("bank");
  });

  test("of a program gets a secret, which is shown once and never again", async () => {
    const { json } = await method("add", "callback", "pay", "--json");
    expect((await method("show", "pay")).stdout).toContain("No genuine notice has arrived yet.");
    expect(json.secret).toMatch(/^whsec_/);
    const shown = [
      await method("show", "pay"),
      await method("list", "--json"),
      await method("edit", "pay", "--min", "2"),
    ];
    for (const { stdout } of shown) expect(stdout).not.toContain(json.secret.slice(6));
    expect(JSON.stringify(shop.query("SELECT * FROM audit"))).not.toContain(json.secret.slice(6));
    const stored = shop.query<{ settings: string }>("SELECT settings FROM payment_methods")[0]!;
    expect(JSON.parse(stored.settings)).toEqual({ secret: json.secret });
  });

  test("of a program gets a new secret, shown once; the others have none to make", async () => {
    const { json: before } = await method("add", "callback", "pay", "--json");
    const { json } = await method("rotate", "pay", "--json");
    expect(json.secret).toMatch(/^whsec_/);
    expect(json.secret).not.toBe(before.secret);
    expect(shop.query("SELECT settings FROM payment_methods")).toEqual([
      { settings: JSON.stringify({ secret: json.secret }) },
    ]);
    expect((await method("show", "pay")).stdout).not.toContain(json.secret.slice(6));
    await method("add", "manual", "bank");
    expect([(await method("rotate", "bank")).code, (await method("rotate", "none")).code]).toEqual([
      2, 1,
    ]);
  });

  test("takes a secret from a file, never from the command line", async () => {
    const before = shop.dump();
    const typed = await method("add", "callback", "pay", "--set", `secret=${SECRET}`);
    expect([typed.code, typed.stderr]).toEqual([2, expect.stringContaining("--secret-file")]);
    expect(typed.stderr).not.toContain(SECRET);
    const short = await method(
      "add",
      "callback",
      "pay",
      "--secret-file",
      `secret=${fileWith("whsec_abc")}`,
    );
    expect(short.code).toBe(2);
    expect(shop.dump()).toBe(before);
    const file = fileWith(`${SECRET}\n`);
    expect((await method("add", "callback", "pay", "--secret-file", `secret=${file}`)).code).toBe(
      0,
    );
    expect(shop.query("SELECT settings FROM payment_methods")).toEqual([
      { settings: JSON.stringify({ secret: SECRET }) },
    ]);
  });

  test.each([
    ["an unknown kind", ["add", "cash", "x"], 2],
    ["an id with a slash", ["add", "manual", "a/b"], 2],
    ["an unknown setting", ["add", "manual", "x", "--set", "a=b"], 2],
    ...[
      "here",
      "https:here",
      "javascript:alert(1)",
      "http://pay.example/{payment}",
      "http://{payment}/",
      "http://localhost.pay.example/",
      "http://localhost@pay.example/",
    ].map((page): [string, string[], number] => [
      `the page ${page}`,
      ["add", "callback", "x", "--set", `pay-url=${page}`],
      2,
    ]),
    ["instructions that cannot be read", ["add", "manual", "bank", "--instructions", "/gone"], 2],
    ["another currency without a rate", ["add", "manual", "x", "--currency", "EUR"], 2],
    ["steps that fall", ["add", "manual", "x", "--bonus", "500=3,100=5"], 2],
    ["a minimum above the maximum", ["add", "manual", "x", "--min", "9", "--max", "5"], 1],
    ["an unknown reseller", ["add", "manual", "x", "--reseller", "nobody"], 1],
    ["stripe without its keys", ["add", "stripe", "x"], 2],
    ["a change of none", ["edit", "none", "--min", "5"], 1],
  ])("is refused with %s, and nothing is written", async (_, argv, code) => {
    const before = shop.dump();
    expect((await method(...argv)).code).toBe(code);
    expect(shop.dump()).toBe(before);
  });

  test.each([
    "https://pay.example/{payment}?sum={amount}",
    "http://localhost:8080/{payment}",
    "http://127.0.0.1/",
    "http://[::1]/",
  ])("takes the page %s", async (page) => {
    expect((await method("add", "callback", "x", "--set", `pay-url=${page}`)).code).toBe(0);
  });

  test("is switched off and on, and removed once nothing is open", async () => {
    seedMethod(shop, "bank", "manual");
    const id = asked();
    expect((await method("off", "bank")).code).toBe(0);
    expect(() => asked()).toThrow("payment_method_not_found");
    expect((await method("on", "bank")).code).toBe(0);
    expect((await method("remove", "bank")).stderr).toContain("not ended");
    await payment("reject", id, "--reason", "gone");
    expect((await method("remove", "bank")).code).toBe(0);
    expect((await method("show", "bank")).code).toBe(1);
    expect((await payment("show", id)).code).toBe(0);
  });
});

describe("a payment", () => {
  beforeEach(() => {
    const bonusSteps = JSON.stringify([{ fromMicros: 100_000_000, ppm: 30_000 }]);
    seedMethod(shop, "bank", "manual", { bonusSteps });
  });

  test("is listed, approved with the amount received, and given back at most by the balance", async () => {
    const id = asked(100);
    const listed = await payment("list", "--state", "created", "--user", "carol", "--json");
    expect(listed.json).toMatchObject([
      { id, state: "created", due: "100", credit: "100", bonus: "3" },
    ]);
    expect((await payment("approve", id)).stdout).toContain(
      "credited 100 USD and a bonus of 3 USD",
    );
    expect((await payment("approve", id)).code).toBe(1);
    shop.run("debitUser", { username: "carol", amountMicros: 50_000_000, note: null });
    expect((await payment("refund", id, "--amount", "60")).code).toBe(1);
    expect((await payment("refund", id)).stdout).toContain("debited 53 USD");
    expect(shop.balance("carol")).toBe(0);
    const { json } = await payment("show", id, "--json");
    expect(json).toMatchObject({ state: "refunded", debited: "53" });
    expect(json.events.map(({ event }: { event: string }) => event)).toEqual([
      "created",
      "approved",
      "settled",
    ]);
    expect(json.transactions.map(({ kind }: { kind: string }) => kind)).toEqual([
      "payment",
      "payment_bonus",
      "payment_reversal",
    ]);
  });

  test("that is paid again is shown with what to do, and decided on once", async () => {
    seedMethod(shop, "wallet", "callback");
    const id = askPayment(shop, { methodId: "wallet", actor, amount: 10, now: Date.now() });
    const paid = { methodId: "wallet", id, amountMicros: 10_000_000, currency: "USD" };
    for (const programId of ["t1", "t2"]) shop.run("recordPaid", { ...paid, programId });
    const listed = await payment("list", "--state", "surplus", "--json");
    expect(listed.json).toMatchObject([{ id, state: "paid" }]);
    const shown = (await payment("show", id)).stdout;
    expect(shown).toContain("10 USD received again by wallet (t2): give it back");
    const { json } = await payment("show", id, "--json");
    expect(json.surpluses).toMatchObject([
      { cause: "paid_again", methodReference: "t2", amount: "10", left: "10", settledAt: null },
    ]);
    expect((await payment("surplus", id)).code).toBe(2);
    expect((await payment("surplus", id, "--credit", "10")).stdout).toContain("credited 10 USD");
    expect((await payment("surplus", id, "--credit", "10")).stderr).toContain("no surplus");
    expect(shop.balance("carol")).toBe(20_000_000);
    expect((await payment("list", "--state", "surplus", "--json")).json).toEqual([]);
    expect((await payment("show", id)).stdout).not.toContain("give it back");
  });

  test("as CSV is one line with what was received", async () => {
    const id = asked();
    await payment("approve", id, "--received", "4");
    const [header, line, ...rest] = (await payment("list", "--csv")).stdout.trim().split("\n");
    expect(rest).toEqual([]);
    const cells = Object.fromEntries(
      header!.split(",").map((name, at) => [name, line!.split(",")[at]]),
    );
    expect(cells).toMatchObject({ id, received: "4", credit: "4", state: "paid", method: "bank" });
  });

  test("without a file of the customer has none to write", async () => {
    const { code, stderr } = await payment("file", asked());
    expect([code, stderr]).toEqual([1, expect.stringContaining("sent no file")]);
  });

  test("that is unknown is a refusal", async () => {
    for (const argv of [["show"], ["approve"], ["refund"], ["file"], ["reject", "--reason", "x"]]) {
      const ran = await payment(argv[0]!, "x".repeat(24), ...argv.slice(1));
      expect([argv[0], ran.code, ran.stderr]).toEqual([
        argv[0],
        1,
        expect.stringContaining("not found"),
      ]);
    }
  });
});

// Ways to pay in the panel: added, changed and removed as on the command line.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findMethod } from "../../../src/db/payments/payment-methods.ts";
import { freshFolder } from "../../support/folders.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";
import { NEW_METHOD } from "./new-method.ts";

let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  for (const name of ["alice", "bob"]) panel.user(name);
  panel.user("kid", "0", "alice");
});
afterAll(() => panel.stop());

const rowOf = (id: string) => panel.read((reader) => findMethod(reader, id));
const auditOf = (id: string) =>
  panel.query<{ action: string; before: string | null; after: string | null }>(
    "SELECT action, before, after FROM audit WHERE subject = ? AND operator IS NOT NULL ORDER BY seq",
    id,
  );

async function fileWith(text: string): Promise<string> {
  const path = `${freshFolder()}/text`;
  await Bun.write(path, text);
  return path;
}

const cli = (...argv: string[]) =>
  reseller("admin", "payment", "method", ...argv, ...optionsOf(panel));

describe("what the panel does with a way to pay is what the command line does", () => {
  /** The same step by a form and by a command: what is stored and audited is the same. */
  const STEPS: readonly {
    title: string;
    form: (id: string) => Promise<Reply>;
    command: (id: string) => Promise<{ code: number }>;
  }[] = [
    {
      title: "adding one",
      form: (id) =>
        panel.confirm("/payment-methods", {
          ...NEW_METHOD,
          kind: "callback",
          id,
          currency: "eur",
          "rate-to-usd": "1.080",
          "name-en": "Wallet",
          "name-es": "Cartera",
          "text-en": "One\r\nTwo",
          min: "5",
          max: "900",
          fee: "2.9",
          fixed: "0.3",
          payer: "customer",
          bonus: "100=3, 500=5",
          "pay-url": "https://pay.example/?id={payment}",
          resellers: "bob, alice",
          active: "yes",
        }),
      async command(id) {
        const instructions = await fileWith("One\nTwo");
        const terms =
          "--currency EUR --rate-to-usd 1.080 --min 5 --max 900 --fee 2.9% --fee-fixed 0.3 --fee-by customer --bonus 100=3,500=5 --name Wallet --name es=Cartera --set pay-url=https://pay.example/?id={payment} --reseller bob --reseller alice";
        return cli("add", "callback", id, ...terms.split(" "), "--instructions", instructions);
      },
    },
    {
      title: "changing it",
      form: (id) =>
        panel.confirm(`/payment-methods/${id}/terms`, {
          ...NEW_METHOD,
          "rate-to-usd": "1.1",
          "name-en": "Wallet",
          "text-en": "One\nTwo",
          min: "6",
          fee: "0",
          "pay-url": "",
        }),
      command(id) {
        const terms =
          "--rate-to-usd 1.1 --min 6 --max 1000 --fee 0 --fee-fixed 0 --fee-by operator --bonus none --set pay-url= --all-resellers --name es=Wallet";
        return cli("edit", id, ...terms.split(" "));
      },
    },
    {
      title: "turning it off",
      form: (id) => panel.post(`/payment-methods/${id}`, { active: "no" }),
      command: (id) => cli("off", id),
    },
    {
      title: "removing it",
      form: (id) => panel.confirm(`/payment-methods/${id}/remove`, {}),
      command: (id) => cli("remove", id),
    },
  ];

  test.each(STEPS)("$title", async ({ form, command }) => {
    expect([200, 303]).toContain((await form("by-form")).status);
    expect((await command("by-command")).code).toBe(0);
    expect(known("by-form")).toEqual(known("by-command"));
    expect(entriesOf("by-form")).toEqual(entriesOf("by-command"));
  });

  /** What is stored, but for the id, the secret, and the names in other languages, which a command cannot remove. */
  function known(id: string) {
    const row = rowOf(id);
    if (!row) return null;
    const { methodId: _, createdAt: __, settings, names, ...rest } = row;
    const { secret = "", ...plain } = JSON.parse(settings) as Record<string, string>;
    const { en } = JSON.parse(names) as Record<string, string>;
    return { ...rest, en, plain, isSigned: secret.startsWith("whsec_") };
  }

  function entriesOf(id: string) {
    const withoutNames = (facts: string | null) => ({
      ...(JSON.parse(facts ?? "{}") as object),
      names: null,
    });
    return auditOf(id).map(({ action, before, after }) => [
      action,
      withoutNames(before),
      withoutNames(after),
    ]);
  }

  test("the audit log names each changed reseller and page to pay on, and of a secret only that it changed", async () => {
    seedMethod(panel, "audited", "callback", {
      settings: JSON.stringify({ secret: "old-secret" }),
    });
    const terms = { ...NEW_METHOD, "pay-url": "https://pay.example/" };
    const save = (resellers: string) =>
      panel.confirm("/payment-methods/audited/terms", { ...terms, resellers });
    await save("alice");
    await save("bob");
    await panel.confirm("/payment-methods/audited/rotate", {});
    const [, first, second, third] = auditOf("audited").map(({ after }) => after);
    expect(first).toContain('"pay-url":"https://pay.example/"');
    expect([first, second]).toEqual([
      expect.stringContaining('"resellers":"alice"'),
      expect.stringContaining('"resellers":"bob"'),
    ]);
    expect(third).toBe('{"secret":"changed"}');
  });
});

test("a first genuine notice is noted once, and a new secret waits for its own", () => {
  const settings = JSON.stringify({ secret: "one" });
  seedMethod(panel, "noticed", "callback", { settings });
  const noticedAt = () => rowOf("noticed")!.noticedAt;
  const notice = (at: number, by = settings) =>
    panel.execute("recordNotice", { methodId: "noticed", settings: by }, at);
  notice(5);
  notice(6);
  expect(noticedAt()).toBe(5);
  const known = [{ name: "secret", isSecret: true, isRequired: true }];
  const change = (changes: object) =>
    panel.run("updatePaymentMethod", { methodId: "noticed", changes, known });
  change({ minMicros: 2 * DOLLAR });
  expect(noticedAt()).toBe(5);
  change({ settings: JSON.stringify({ secret: "two" }) });
  expect(noticedAt()).toBe(null);
  // It was verified by the old secret, while that was changed.
  notice(7);
  expect(noticedAt()).toBe(null);
  notice(8, JSON.stringify({ secret: "two" }));
  expect(noticedAt()).toBe(8);
});

test("the list says what each way to pay credited in 30 days, as the report of money counts it", async () => {
  const actor = seedMember(panel, "bob");
  seedMethod(panel, "earning", "manual");
  for (const amount of [10, 25]) {
    const id = askPayment(panel, { methodId: "earning", actor, amount, now: panel.clock.now });
    panel.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
    // The first is in the totals of the day, the second not yet.
    if (amount === 10) panel.run("countDailyTotals", { limit: 1000 });
  }
  expect((await panel.get("/payment-methods/earning")).text).toContain("35.00 USD, 2 payments");
  expect((await panel.get("/payment-methods")).text).toContain("35.00");
  panel.clock.now += 31 * 86_400_000;
  panel.administrator("later", "owner");
  const headers = { cookie: panel.session("later") };
  const { text } = await panel.ask("/payment-methods/earning", { headers });
  expect(text).not.toContain("35.00 USD");
  panel.clock.now = Date.now();
});

test("who is no owner sees ways to pay without a form, and cannot open the form of a new one", async () => {
  seedMethod(panel, "seen", "callback", { settings: JSON.stringify({ secret: "s" }) });
  for (const role of ["operator", "support"] as const) {
    panel.administrator(`is-${role}`, role);
    const headers = { cookie: panel.session(`is-${role}`) };
    for (const path of ["/payment-methods", "/payment-methods/seen"]) {
      const { status, text } = await panel.ask(path, { headers });
      expect([role, path, status, text.includes(`action="/payment-methods`)]).toEqual([
        role,
        path,
        200,
        false,
      ]);
      expect(text).toContain("No genuine notice has arrived yet.");
    }
    expect((await panel.ask("/new-payment-method", { headers })).status).toBe(403);
  }
});

test("the audit log tells of a way to pay in words", async () => {
  const names = JSON.stringify({ en: "Wallet", es: "Cartera" });
  const instructions = JSON.stringify({ en: "One\nTwo" });
  const bonusSteps = JSON.stringify([{ fromMicros: 100 * DOLLAR, ppm: 30_000 }]);
  const terms = { names, instructions, bonusSteps, feePpm: 29_000 };
  seedMethod(panel, "worded", "manual", terms);
  const { text } = await panel.get("/audit?subject=worded");
  for (const words of ["en: Wallet; es: Cartera", "en: One&lt;U+000A>Two", "2.9 %", "100=3"]) {
    expect(text).toContain(words);
  }
  expect(text).not.toMatch(/\{"|&quot;|[a-z]Ppm|[a-z]Micros/);
});

test("what someone else changed meanwhile is not overwritten", async () => {
  seedMethod(panel, "shared", "manual");
  const { text } = await panel.get("/payment-methods/shared");
  const [, version = ""] = /name="version" value="(\w+)"/.exec(text) ?? [];
  panel.run("updatePaymentMethod", {
    methodId: "shared",
    changes: { minMicros: 7 * DOLLAR },
    known: [],
  });
  const fields = { ...NEW_METHOD, version, "name-en": "Typed" };
  const reply = await panel.confirm("/payment-methods/shared/terms", fields);
  expect([reply.status, reply.text]).toEqual([422, expect.stringContaining('value="Typed"')]);
  expect(rowOf("shared")!.minMicros).toBe(7 * DOLLAR);
});

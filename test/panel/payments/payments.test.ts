// Payments in the panel: what waits is counted, decided on once, and a file of a customer is never shown as a page.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PROOF_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { hiddenFields, openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
let actor: Actor;
beforeAll(async () => {
  panel = await openPanel();
  panel.user("alice", "10");
  actor = seedMember(panel);
  const bonusSteps = JSON.stringify([{ fromMicros: 100 * DOLLAR, ppm: 30_000 }]);
  seedMethod(panel, "bank", "manual", { bonusSteps });
});
afterAll(() => panel.stop());

const HTML = "<script>alert(1)</script>";
function claimed(amount = 10): string {
  const id = askPayment(panel, { methodId: "bank", actor, amount, now: panel.clock.now });
  const data = Buffer.from(`%PDF-${HTML}`).toString("base64");
  const file = { type: "application/pdf", bytes: 30, sha256: "0".repeat(64), data } as const;
  panel.run("claimPayment", { id, reference: HTML, file, isClaimed: true, actor });
  return id;
}

const stateOf = (id: string) =>
  panel.query<{ state: string }>(`SELECT state FROM payments WHERE id = '${id}'`)[0]!.state;
const balance = () => panel.balance("alice");

test("a payment to decide on is counted in the navigation and on the first page, until it is decided", async () => {
  const id = claimed(100);
  expect((await panel.get("/payments?state=waiting")).text).toContain(`/payments/${id}`);
  const today = (await panel.get("/")).text;
  expect(today).toContain("1 payment to approve or reject");
  expect(today).toMatch(/Payments<\/a><span class="badge busy"[^>]*>1</);
  const before = balance();
  const reply = await panel.confirm(`/payments/${id}/approve`, { received: "", credit: "" });
  expect(reply.status).toBe(303);
  expect(balance() - before).toBe(103 * DOLLAR);
  // Once more is refused, and credits nothing.
  const again = await panel.post(`/payments/${id}/approve`, { received: "", credit: "" });
  expect(again.status).toBe(422);
  expect(balance() - before).toBe(103 * DOLLAR);
  expect((await panel.get("/")).text).not.toContain("to approve or reject");
});

test("another amount received credits that, an exact credit has no bonus", async () => {
  const [less, exact] = [claimed(100), claimed(100)];
  const before = balance();
  await panel.confirm(`/payments/${less}/approve`, { received: "40", credit: "" });
  expect(balance() - before).toBe(40 * DOLLAR);
  await panel.confirm(`/payments/${exact}/approve`, { received: "", credit: "100" });
  expect(balance() - before).toBe(140 * DOLLAR);
});

test("a rejection needs a reason; money given back debits at most the balance, once", async () => {
  const [rejected, paid] = [claimed(), claimed()];
  expect((await panel.post(`/payments/${rejected}/reject`, { reason: "" })).status).toBe(422);
  expect((await panel.post(`/payments/${rejected}/reject`, { reason: "none" })).status).toBe(303);
  expect(stateOf(rejected)).toBe("rejected");
  await panel.confirm(`/payments/${paid}/approve`, { received: "", credit: "" });
  const before = balance();
  const settle = (amount: string) =>
    panel.confirm(`/payments/${paid}/settle`, { amount, "public-note": "given back" });
  expect((await settle("10.01")).status).toBe(422);
  expect((await settle("10")).status).toBe(303);
  expect((await settle("0.01")).status).toBe(422);
  expect(before - balance()).toBe(10 * DOLLAR);
  expect(stateOf(paid)).toBe("refunded");
});

test("money that is not credited is told with what to do, and decided on once, by an owner", async () => {
  seedMethod(panel, "purse", "callback");
  const id = askPayment(panel, { methodId: "purse", actor, amount: 25, now: panel.clock.now });
  const paid = { methodId: "purse", id, amountMicros: 25 * DOLLAR, currency: "USD" };
  panel.run("recordPaid", { ...paid, programId: "t1" });
  panel.run("recordPaid", { ...paid, programId: "t2", currency: "EUR" });
  const what = "25 EUR received again by purse (t2)";
  const today = (await panel.get("/")).text;
  expect(today).toContain(`Payment ${id} has money that is not credited: ${what}`);
  expect(today).toContain(`/payments/${id}#surplus`);
  expect((await panel.get("/payments?state=surplus")).text).toContain(`/payments/${id}`);
  const page = (await panel.get(`/payments/${id}`)).text;
  expect(page).toContain(`Not credited: ${what}. What to do: give it back where it was paid`);
  const before = balance();
  const decide = (credit: string) =>
    panel.confirm(`/payments/${id}/surplus`, { credit, "public-note": "twice" });
  expect((await decide("")).status).toBe(422);
  expect(balance()).toBe(before);
  expect((await decide("27.50")).status).toBe(303);
  expect(balance() - before).toBe(27.5 * DOLLAR);
  expect((await decide("27.50")).status).toBe(422);
  expect(balance() - before).toBe(27.5 * DOLLAR);
  expect((await panel.get(`/payments/${id}`)).text).toContain(`Decided: ${what}`);
  expect((await panel.get("/")).text).not.toContain("not credited");
  expect(await verifyStore(panel)).toEqual([]);
});

test("money that arrives while a decision is confirmed is not decided on unseen", async () => {
  const id = askPayment(panel, { methodId: "purse", actor, amount: 25, now: panel.clock.now });
  const pay = (programId: string, amount: number) => {
    const paid = { methodId: "purse", id, programId, currency: "USD" };
    panel.run("recordPaid", { ...paid, amountMicros: amount * DOLLAR });
  };
  pay("u1", 25);
  pay("u2", 25);
  const fields = { credit: "0", "public-note": "" };
  const asked = await panel.post(`/payments/${id}/surplus`, fields);
  expect(asked.text).toContain("25 USD received again by purse (u2)");
  pay("u3", 50);
  const before = balance();
  const confirmed = { ...hiddenFields(asked.text), ...fields };
  expect((await panel.post(`/payments/${id}/surplus`, confirmed)).status).toBe(422);
  const left = (await panel.get(`/payments/${id}`)).text;
  expect(left).toContain("Not credited: 25 USD received again by purse (u2)");
  expect(left).toContain("Not credited: 50 USD received again by purse (u3)");
  const again = await panel.post(`/payments/${id}/surplus`, fields);
  const both = { ...hiddenFields(again.text), ...fields };
  expect((await panel.post(`/payments/${id}/surplus`, both)).status).toBe(303);
  // A second press of the button is not answered as refused.
  expect((await panel.post(`/payments/${id}/surplus`, both)).status).toBe(303);
  expect(balance()).toBe(before);
});

test("a customer's file is only saved, and what it typed is text", async () => {
  const id = claimed();
  const page = await panel.get(`/payments/${id}`);
  expect(page.text).not.toContain(HTML);
  const file = await panel.get(`/payments/${id}/file`);
  expect([file.headers.get("content-type"), file.headers.get("content-disposition")]).toEqual([
    "application/octet-stream",
    `attachment; filename="${id}.pdf"`,
  ]);
  expect(file.headers.get("x-content-type-options")).toBe("nosniff");
  expect(file.text).toContain(HTML);
  expect((await panel.get(`/payments/${"x".repeat(24)}/file`)).status).toBe(404);
});

test("a way to pay is switched off and on, and no page shows a secret", async () => {
  const settings = JSON.stringify({ secret: "whsec_c2VjcmV0LXNlY3JldA==" });
  seedMethod(panel, "program", "callback", { settings });
  expect((await panel.post("/payment-methods/program", { active: "no" })).status).toBe(303);
  expect(panel.query("SELECT active FROM payment_methods WHERE method_id = 'program'")).toEqual([
    { active: 0 },
  ]);
  for (const path of ["/payment-methods", "/payments", "/audit"]) {
    expect((await panel.get(path)).text).not.toContain("c2VjcmV0");
  }
  expect(JSON.stringify(panel.query("SELECT * FROM audit"))).not.toContain("c2VjcmV0");
});

/** What the fields of a form show, as a browser sends it. */
function fieldsOf(html: string, action: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let name = "";
  const plain = (text: string) =>
    text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  const form = `form[action="${action}"]`;
  new HTMLRewriter()
    .on(`${form} input`, {
      element(input) {
        fields[input.getAttribute("name")!] = plain(input.getAttribute("value") ?? "");
      },
    })
    .on(`${form} select`, {
      element(select) {
        name = select.getAttribute("name")!;
      },
    })
    .on(`${form} option[selected]`, {
      element(option) {
        fields[name] = option.getAttribute("value")!;
      },
    })
    .on(`${form} textarea`, {
      element(area) {
        fields[(name = area.getAttribute("name")!)] = "";
      },
      text(part) {
        fields[name] += plain(part.text);
      },
    })
    .transform(html);
  // A browser drops the first line break of a text, and sends the others as CR LF.
  const sent = ([each, text]: [string, string]) => [
    each,
    text.replace(/^\n/, "").replaceAll("\n", "\r\n"),
  ];
  return Object.fromEntries(Object.entries(fields).map(sent)) as Record<string, string>;
}

describe("a way to pay is changed", () => {
  const METHOD = `SELECT names, instructions, min_micros, max_micros, fee_ppm, fee_fixed_micros, fee_payer, bonus_steps,
    rate_to_usd, settings, resellers, active FROM payment_methods WHERE method_id = 'wallet'`;
  const stored = () => panel.query(METHOD)[0]! as Record<string, unknown>;
  const path = "/payment-methods/wallet/terms";
  const settings = JSON.stringify({ secret: "whsec_c2VjcmV0LXNlY3JldA==" });
  const shown = async () => fieldsOf((await panel.get("/payment-methods/wallet")).text, path);
  beforeAll(() => {
    const bonusSteps = JSON.stringify([{ fromMicros: 100 * DOLLAR, ppm: 12_345 }]);
    const terms = { rateToUsd: "1.0837", feePpm: 29_001, feeFixedMicros: 300_000, bonusSteps };
    const names = JSON.stringify({ en: "Euro & more", ru: "Евро" });
    const instructions = JSON.stringify({ en: "To <b>me</b>\n\nsoon" });
    seedMethod(panel, "wallet", "callback", { ...terms, names, instructions, settings }, "EUR");
  });

  test("by a form that says what there is: sent as it is shown, it changes nothing", async () => {
    const before = stored();
    expect((await panel.confirm(path, await shown())).status).toBe(303);
    expect(stored()).toEqual(before);
  });

  test("with a proof only, and its secrets stay", async () => {
    const [before, fields] = [stored(), await shown()];
    const changed = { ...fields, min: "5", fee: "0", bonus: "", payer: "operator" };
    const texts = { "name-es": "Euros", "name-ru": "", "text-en": "A\r\nB" };
    panel.clock.now = Date.now() + PROOF_MS + 1000;
    const asked = await panel.post(path, { ...changed, ...texts });
    expect([asked.status, asked.text]).toEqual([200, expect.stringContaining('name="proof"')]);
    await panel.confirm(path, { ...changed, ...texts });
    expect(stored()).toEqual(before);
    const proven = { ...changed, ...texts, proof: PASSWORD };
    expect((await panel.confirm(path, proven)).status).toBe(303);
    expect(stored()).toEqual({
      ...before,
      names: JSON.stringify({ en: "Euro & more", es: "Euros" }),
      instructions: JSON.stringify({ en: "A\nB" }),
      min_micros: 5 * DOLLAR,
      fee_ppm: 0,
      fee_payer: "operator",
      bonus_steps: "[]",
      settings,
    });
  });

  test.each([
    ["min", "0"],
    ["min", "10001"],
    ["min", "1.001"],
    ["max", "x"],
    ["rate-to-usd", "0"],
    ["fee", "101"],
    ["fixed", "-1"],
    ["payer", "nobody"],
    ["bonus", "5=1,4=2"],
    ["name-en", ""],
    ["name-es", "x".repeat(101)],
    ["text-tr", "x".repeat(4001)],
  ])("but not with a wrong %s, and what was typed stays", async (name, value) => {
    const before = stored();
    const fields = { ...(await shown()), "name-ru": "Рубли", proof: PASSWORD, [name]: value };
    const reply = await panel.confirm(path, fields);
    expect([name, reply.status]).toEqual([name, 422]);
    expect(reply.text).toContain('value="Рубли"');
    expect(stored()).toEqual(before);
  });

  test("one that is removed or was never there is not found", async () => {
    for (const id of ["none", "a%2Fb", "x".repeat(60)]) {
      expect([id, (await panel.get(`/payment-methods/${id}`)).status]).toEqual([id, 404]);
    }
  });
});

test("the CSV has each payment once", async () => {
  const { text } = await panel.get("/payments.csv");
  const [{ n }] = panel.query<{ n: number }>("SELECT count(*) AS n FROM payments") as [
    { n: number },
  ];
  expect(text.trim().split("\n")).toHaveLength(Number(n) + 1);
  expect(await verifyStore(panel)).toEqual([]);
});

test("bounds and fees of a way to pay are in its currency", async () => {
  const terms = { minMicros: 5 * DOLLAR, maxMicros: 900 * DOLLAR, feePpm: 20_000 };
  seedMethod(panel, "euro", "manual", { ...terms, feeFixedMicros: DOLLAR / 4 }, "EUR");
  const { text } = await panel.get("/payment-methods");
  expect(text).toContain("5.00 EUR to 900.00 EUR");
  expect(text).toContain("2 % + 0.25 EUR");
});

// Payments in the panel: what waits is counted, decided on once, and a file of a customer is never shown as a page.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

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

// The worst that may be typed into the forms of ways to pay: refused, or stored so that nothing is credited for nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findMethod } from "../../../src/db/payments/payment-methods.ts";
import { quotePayment } from "../../../src/domain/payments/payment-amounts.ts";
import { BONUS_STEPS, termsOf } from "../../../src/domain/payments/payment-methods.ts";
import { pairsOf } from "../../support/runs.ts";
import { seedMethod } from "../../support/seeds/payments.ts";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";
import { NEW_METHOD } from "./new-method.ts";

const KINDS = ["manual", "callback", "stripe"];

let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  for (const name of ["alice", "bob"]) panel.user(name);
  panel.user("kid", "0", "alice");
});
afterAll(() => panel.stop());

const rowOf = (id: string) => panel.read((reader) => findMethod(reader, id));

describe("the worst inputs of every field", () => {
  const WORST = [
    "", " ", "0", "-1", "-0", "1000", "101", "100", "99.99999", "1e3", "1e999", "NaN", "Infinity", "0x10", "٣", "1,5",
    "0.0000001", "9007199254740993", "1000000000", "1000000001", "100=1000", "100=101", "100=100", "0=3", "-5=3", "5=-3",
    "5=3,5=4", "5=4,4=5", Array.from({ length: 11 }, (_, at) => `${at + 1}=1`).join(), "5=3=4", "=", ",", "USD", "XXX",
    "euro", "JPY", "KWD", "new", "NEW", "a/b", "../x", "a\u0000b", "a\nb", "\u202eevil", "<script>x</script>", "\"'", "\ud800",
    "x".repeat(5000), "javascript:alert(1)", "http://a b/", "https://pay.example/{payment}", "kid", "nobody", "alice",
    "alice alice", "alice,nobody", "{}", "null", "😀",
  ]; // prettier-ignore
  const FIELDS = [
    ...Object.keys(NEW_METHOD), "name-es", "text-en", "text-ru", "pay-url", "kind", "active", "version", "query",
  ]; // prettier-ignore
  let made = 0;

  test.each(FIELDS)(
    "%s: refused with what was typed, or stored so that no credit is made of nothing",
    async (name) => {
      for (const [value, kind] of pairsOf(WORST, KINDS)) {
        made += 1;
        const id = `worst-${made}`;
        const before = panel.query("SELECT count(*) AS n FROM payment_methods")[0]!["n"];
        const fields = { ...NEW_METHOD, kind, id, [name]: value };
        const reply = await panel.confirm("/payment-methods", fields);
        const where = [kind, name, value.slice(0, 40)];
        expect([...where, [200, 303, 422].includes(reply.status)]).toEqual([...where, true]);
        const after = panel.query("SELECT count(*) AS n FROM payment_methods")[0]!["n"];
        expect([...where, Number(after) - Number(before)]).toEqual([
          ...where,
          reply.status === 422 ? 0 : 1,
        ]);
        if (reply.status === 422) {
          // `id` is right unless it is what is wrong.
          if (name !== "id") expect(reply.text).toContain(`value="${id}"`);
          expect(reply.text).toContain('role="alert"');
          continue;
        }
        const stored = name === "id" ? value.trim() : id;
        expectHarmless(stored);
        expect((await panel.get(`/payment-methods/${stored}`)).status).toBe(200);
        panel.run("removePaymentMethod", { methodId: stored, unread: false });
      }
      expect((await panel.get("/payment-methods")).status).toBe(200);
    },
    120_000,
  );

  test("in the form that changes one, too", async () => {
    seedMethod(panel, "changed", "callback", { settings: JSON.stringify({ secret: "s" }) });
    const terms = "/payment-methods/changed/terms";
    for (const name of FIELDS) {
      for (const value of WORST) {
        const before = rowOf("changed");
        const { status, text } = await panel.confirm(terms, { ...NEW_METHOD, [name]: value });
        expect([name, value, [303, 422].includes(status)]).toEqual([name, value, true]);
        expectHarmless("changed");
        if (status === 303) continue;
        expect(rowOf("changed")).toEqual(before);
        expect(text).toContain('role="alert"');
      }
    }
  }, 120_000);

  test("in the forms of secrets and of the switch none is taken", async () => {
    seedMethod(panel, "card", "stripe", { active: false });
    const before = rowOf("card");
    for (const value of WORST) {
      for (const [path, name] of [
        ["/secrets", "secret-key"],
        ["/secrets", "webhook-secret"],
        ["", "active"],
      ]) {
        const fields = {
          "secret-key": "sk_live_0123456789",
          "webhook-secret": "whsec_0123456789",
          [name!]: value,
        };
        const { status, text } = await panel.post(`/payment-methods/card${path}`, fields);
        expect([name, value, status, text.includes("sk_live")]).toEqual([name, value, 422, false]);
      }
    }
    expect(rowOf("card")).toEqual(before);
  }, 120_000);

  /** Whatever is stored: a customer gets at most twice what it pays, and never without paying. */
  function expectHarmless(id: string): void {
    const row = rowOf(id)!;
    const terms = termsOf(row);
    for (const asked of [row.minMicros, row.maxMicros]) {
      const { dueMicros, creditMicros, bonusMicros } = quotePayment(terms, asked);
      expect(dueMicros).toBeGreaterThanOrEqual(asked);
      expect(dueMicros).toBeGreaterThan(0);
      expect(bonusMicros).toBeLessThanOrEqual(creditMicros);
      const worth = row.currency === "USD" ? asked : asked * Number(row.rateToUsd);
      expect(creditMicros).toBeLessThanOrEqual(worth);
    }
  }

  test("a bonus is at most 100 %, and one above 20 % is shown in the colour of danger", async () => {
    expect(BONUS_STEPS.read("1=100.0001")).toHaveProperty("must");
    const ask = (bonus: string) =>
      panel.post("/payment-methods", { ...NEW_METHOD, kind: "manual", id: "bonus", bonus });
    const [usual, large] = [await ask("100=20"), await ask("100=50")];
    expect([usual.text.includes("danger"), large.text.includes("danger")]).toEqual([false, true]);
    expect(large.text).toContain("50.00");
    expect(rowOf("bonus")).toBeUndefined();
  });
});

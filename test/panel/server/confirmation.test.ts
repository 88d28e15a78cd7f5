// The step before money moves: it shows the amounts, counts once, and asks for a proof again where they are large.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { codeOf, stepAt } from "../../../src/domain/sign-ins/second-factor.ts";
import {
  CONFIRMATION_MS,
  PROOF_MS,
  SESSION_IDLE_MS,
} from "../../../src/domain/sign-ins/sign-ins.ts";
import { MINUTE_MS } from "../../../src/domain/values/spans.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
  panel.user("alice", "10");
});
afterEach(() => panel.stop());

const PATH = "/users/alice/balance";
const credit = (amount: string) => ({ direction: "credit", amount, note: "n" });
const dollars = () => panel.balance("alice") / 1e6;

/** The hidden fields of the page that asks. */
async function asked(fields: Record<string, string>) {
  const { status, text } = await panel.post(PATH, fields);
  expect(status).toBe(200);
  const hidden = [...text.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return { text, fields: Object.fromEntries(hidden.map(([, name, value]) => [name!, value!])) };
}

test("nothing moves before the amount that will move was shown and confirmed", async () => {
  const { text, fields } = await asked(credit("25"));
  expect(text).toMatch(/<th scope="row">alice<\/th><td class="number">\+25\.00 USD/);
  expect(dollars()).toBe(10);
  expect((await panel.post(PATH, fields)).status).toBe(303);
  expect(dollars()).toBe(35);
});

test("a confirmation is for the amount that was shown: for another it asks again", async () => {
  const { fields } = await asked(credit("25"));
  const { text } = await asked({ ...fields, amount: "30" });
  expect(text).toContain("+30.00 USD");
  expect(dollars()).toBe(10);
});

test("a confirmation sent twice, together or later, counts once", async () => {
  const { fields } = await asked(credit("25"));
  const replies = await Promise.all([1, 2, 3].map(() => panel.post(PATH, fields)));
  expect(replies.map(({ status }) => status)).toEqual([303, 303, 303]);
  expect((await panel.post(PATH, fields)).status).toBe(303);
  expect(dollars()).toBe(35);
  const again = await asked(credit("25"));
  await panel.post(PATH, again.fields);
  expect(dollars()).toBe(60);
});

test("a confirmation that is an hour old, or was not shown here, is asked for again", async () => {
  const { fields } = await asked(credit("25"));
  for (const once of [`${panel.clock.now - CONFIRMATION_MS}-${"a".repeat(16)}`, "", "x"]) {
    await asked({ ...fields, once });
  }
  const { once: _, ...without } = fields;
  await asked(without);
  expect(dollars()).toBe(10);
});

test("above the limit a password is asked for again, unless one was given within ten minutes", async () => {
  const recent = await asked(credit("500"));
  expect(recent.text).not.toContain('name="proof"');
  await panel.post(PATH, recent.fields);
  expect(dollars()).toBe(510);

  panel.clock.now += PROOF_MS + 1000;
  expect(PROOF_MS + 1000).toBeLessThan(SESSION_IDLE_MS);
  const small = await asked(credit("100"));
  expect(small.text).not.toContain('name="proof"');
  const large = await asked(credit("100.01"));
  expect(large.text).toContain('name="proof"');
  // Without it, or with a wrong one, nothing happens.
  await asked(large.fields);
  const wrong = await panel.post(PATH, { ...large.fields, proof: "wrong" });
  expect(wrong.status).toBe(422);
  expect(wrong.text).toContain("Wrong password or code");
  expect(wrong.text).not.toContain('value="wrong"');
  expect(dollars()).toBe(510);
  expect(panel.logged.map(({ message }) => message)).toContain("panel: sign-in failed");
  expect((await panel.post(PATH, { ...large.fields, proof: PASSWORD })).status).toBe(303);
  expect(dollars()).toBe(610.01);
});

test("a code of the second factor counts as that proof, once", async () => {
  const secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP";
  panel.query("UPDATE administrators SET totp_secret = ?", secret);
  panel.clock.now += PROOF_MS + 1000;
  const code = codeOf(secret, stepAt(Date.now()));
  const first = await asked(credit("200"));
  expect((await panel.post(PATH, { ...first.fields, proof: code })).status).toBe(303);
  // The panel's clock is ahead of the database's, however long this took: the proof is old again.
  panel.clock.now = Date.now() + PROOF_MS + MINUTE_MS;
  const second = await asked(credit("300"));
  expect((await panel.post(PATH, { ...second.fields, proof: code })).status).toBe(422);
  expect(dollars()).toBe(210);
});

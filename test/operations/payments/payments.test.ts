// Payments beyond their states: amounts, readings that overtake each other, what the job ends, invoices and reports.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findPayment, readPaymentFacts } from "../../../src/db/payments/payments.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { toUsdMicros, unitMicrosOf } from "../../../src/domain/payments/currencies.ts";
import {
  creditForReceived,
  type PaymentTerms,
  quotePayment,
} from "../../../src/domain/payments/payment-amounts.ts";
import type { PaymentReading } from "../../../src/domain/payments/payment-reads.ts";
import { readMoney } from "../../../src/reports/money.ts";
import { lineText, moneyLines } from "../../../src/reports/money-lines.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { askPayment, DOLLAR, seedMember, seedMethod, TERMS } from "../../support/seeds/payments.ts";

const NOW = Date.parse("2026-11-28T10:00:00Z");
const DAY_MS = 86_400_000;

const opened: TestDatabase[] = [];
afterAll(() => opened.forEach((each) => each.close()));

let database: TestDatabase;
let actor: Actor;
beforeEach(() => {
  opened.push((database = freshDatabase()));
  actor = seedMember(database);
  const bonusSteps = JSON.stringify([{ fromMicros: 100 * DOLLAR, ppm: 30_000 }]);
  seedMethod(database, "card", "stripe", { bonusSteps });
});

const found = (id: string) => database.read((reader) => findPayment(reader, id))!;
const ask = (amount = 10, methodId = "card") =>
  askPayment(database, { methodId, actor, amount, now: NOW });
function read(id: string, reads: number, more: Partial<PaymentReading>, at = NOW) {
  const nothing = { refundedMicros: 0, disputedMicros: 0, cause: null };
  const all = { state: "paid" as const, paymentId: id, amountMicros: 10 * DOLLAR, currency: "USD" };
  const reading = { ...all, ...nothing, ...more };
  return database.execute("recordReading", { id, reference: `cs-${id}`, reads, reading }, at);
}

describe("amounts", () => {
  const terms = fc.record<PaymentTerms>({
    currency: fc.constantFrom("USD", "EUR", "JPY", "KWD"),
    rateToUsd: fc.constantFrom("1", "1.08", "0.0067", "3.25"),
    feePpm: fc.integer({ min: 0, max: 1_000_000 }),
    feeFixedMicros: fc.integer({ min: 0, max: 5 * DOLLAR }),
    feePayer: fc.constantFrom("customer", "operator"),
    bonusSteps: fc.constantFrom([], [{ fromMicros: 100 * DOLLAR, ppm: 30_000 }]),
  });
  const units = fc.integer({ min: 1, max: 1_000_000 });

  test("what is due credits what was quoted, and another amount never more than was received", () => {
    fc.assert(
      fc.property(terms, units, units, (given, asked, got) => {
        const unit = unitMicrosOf(given.currency);
        const [askedMicros, received] = [asked * unit, got * unit];
        const quote = quotePayment(given, askedMicros);
        expect(quote.dueMicros % unit).toBe(0);
        expect(quote.dueMicros).toBeGreaterThanOrEqual(askedMicros);
        const due = { askedMicros, dueMicros: quote.dueMicros };
        const { creditMicros, bonusMicros } = creditForReceived(given, due, quote.dueMicros);
        expect([creditMicros, bonusMicros]).toEqual([quote.creditMicros, quote.bonusMicros]);
        const other = creditForReceived(given, due, received);
        expect(other.creditMicros).toBeLessThanOrEqual(toUsdMicros(received, given.rateToUsd));
        expect(other.bonusMicros * 100).toBeLessThanOrEqual(other.creditMicros * 3);
        // As much as can be: one unit more would cost more than was received.
        if (received !== quote.dueMicros && given.feePayer === "customer") {
          const base = received - quotePayment(given, unit).feeMicros;
          if (base <= 0) return;
          let best = 0;
          for (let low = 0, high = got; low <= high;) {
            const middle = Math.floor((low + high) / 2);
            const fits = middle === 0 || quotePayment(given, middle * unit).dueMicros <= received;
            if (fits) best = middle;
            if (fits) low = middle + 1;
            else high = middle - 1;
          }
          expect(other.creditMicros).toBe(toUsdMicros(best * unit, given.rateToUsd));
        }
      }),
    );
  });

  test("a payment keeps the terms under which it was asked for", () => {
    const id = ask(100);
    database.run("updatePaymentMethod", {
      methodId: "card",
      changes: { bonusSteps: "[]", feePpm: 500_000 },
      known: [],
    });
    read(id, 1, { amountMicros: 100 * DOLLAR });
    expect(found(id)).toMatchObject({ creditMicros: 100 * DOLLAR, bonusMicros: 3 * DOLLAR });
  });
});

test("a reading that began before a newer one neither wins a dispute nor takes back a refund", () => {
  const id = ask();
  read(id, 1, {});
  database.execute("takePayment", { methodId: "card", id, reference: null }, NOW);
  database.execute("takePayment", { methodId: "card", id, reference: null }, NOW);
  read(id, 2, { disputedMicros: DOLLAR, refundedMicros: 2 * DOLLAR });
  read(id, 1, {});
  expect(found(id)).toMatchObject({
    state: "disputed",
    disputedMicros: DOLLAR,
    refundedMicros: 2 * DOLLAR,
  });
  read(id, 2, { refundedMicros: 2 * DOLLAR });
  expect(found(id)).toMatchObject({ state: "refunded", disputedMicros: 0 });
});

test("a reading that began before the money was given back or disputed credits nothing", () => {
  for (const newer of [{ refundedMicros: 10 * DOLLAR }, { disputedMicros: 10 * DOLLAR }]) {
    const id = ask();
    const take = { methodId: "card", id, reference: `cs-${id}` };
    database.execute("takePayment", take, NOW);
    database.execute("takePayment", take, NOW);
    read(id, 2, newer);
    const { state, awaits } = found(id);
    read(id, 1, {});
    expect(found(id)).toMatchObject({ state, awaits });
  }
  expect(database.balance("alice")).toBe(0);
});

test("a refund after a dispute that was decided on and won is for the operator to decide on", () => {
  const id = ask();
  read(id, 1, {});
  read(id, 2, { disputedMicros: 10 * DOLLAR });
  database.run("settleReversal", { id, amountMicros: 0, publicNote: null });
  const undecided = () => database.read(readPaymentFacts).reversed;
  expect(undecided()).toBe(0);
  read(id, 3, {});
  expect(undecided()).toBe(0);
  read(id, 4, { refundedMicros: 10 * DOLLAR });
  expect(undecided()).toBe(1);
});

test("once all of a payment's credit is debited in parts, nothing is left to decide on", () => {
  const id = ask(100);
  read(id, 1, { amountMicros: 100 * DOLLAR });
  for (const dollars of [60, 43]) {
    database.run("settleReversal", { id, amountMicros: dollars * DOLLAR, publicNote: null });
  }
  read(id, 2, { amountMicros: 100 * DOLLAR, refundedMicros: 100 * DOLLAR });
  expect(database.read(readPaymentFacts).reversed).toBe(0);
});

test("however often the customer repeats its claim, the operator gets one mail, and the events do not grow without end", () => {
  seedMethod(database, "bank", "manual");
  database.run("setMailSettings", { active: true, operator: "operator@nova.example" });
  const id = ask(10, "bank");
  const claim = { id, reference: "T", file: null, isClaimed: true, actor };
  for (let times = 0; times < 60; times += 1) {
    database.execute("claimPayment", { ...claim, reference: `T${times}` }, NOW);
  }
  expect(found(id)).toMatchObject({ awaits: "claim", customerReference: "T59" });
  const [claims] = database.query<{ events: number }>(
    "SELECT count(*) AS events FROM payment_events WHERE event = 'claimed'",
  );
  expect(Number(claims!.events)).toBe(20);
  expect(database.query("SELECT kind FROM mails")).toEqual([{ kind: "payment_to_approve" }]);
});

test("what was read about another payment changes nothing", () => {
  const [id, other] = [ask(), ask()];
  read(id, 1, {});
  expect(read(other, 1, { paymentId: id }).outcome).toBe("foreign");
  const reading = { ...found(id), reference: `cs-${id}` };
  const command = { id: other, reference: reading.reference, reads: 1 };
  const all = { state: "paid", paymentId: null, amountMicros: DOLLAR, currency: "USD" } as const;
  const more = { refundedMicros: 0, disputedMicros: 0, cause: null };
  const made = database.execute("recordReading", { ...command, reading: { ...all, ...more } }, NOW);
  expect(made.outcome).toBe("foreign");
  expect(found(other).state).toBe("created");
});

test("money that was refunded before it was credited is not credited", () => {
  const [part, whole] = [ask(), ask()];
  read(part, 1, { refundedMicros: 4 * DOLLAR });
  expect(found(part)).toMatchObject({
    state: "paid",
    creditMicros: 6 * DOLLAR,
    settledMicros: 4 * DOLLAR,
  });
  read(whole, 1, { refundedMicros: 10 * DOLLAR });
  expect(found(whole)).toMatchObject({ state: "failed", paidAt: null });
  expect(database.balance("alice")).toBe(6 * DOLLAR);
});

test("the job takes each payment to read once, and ends those that nobody can pay any more", () => {
  const [created, begun] = [ask(), ask()];
  const expiresAt = NOW + DAY_MS;
  const result = {
    outcome: "begun",
    reference: "cs-1",
    url: "https://p.example/",
    expiresAt,
  } as const;
  database.execute("recordBegun", { id: begun, isReadable: true, result }, NOW);
  const take = (at: number) =>
    database.execute("takeDuePayments", { limit: 10, readableKinds: ["stripe"] }, at);
  expect(take(NOW)).toEqual([]);
  expect(take(NOW + 120_000).map(({ id }) => id)).toEqual([begun]);
  expect(take(NOW + 120_000)).toEqual([]);
  expect(take(NOW + 3_600_001).map(({ id }) => id)).toEqual([begun]);
  expect(found(created).state).toBe("expired");
  expect(found(begun).state).toBe("pending");
});

test("after the clock was set back each payment is read within the longest pause, and none ends early", () => {
  seedMethod(database, "bank", "manual");
  const [open, byHand, paid] = [ask(), ask(10, "bank"), ask()];
  const expiresAt = NOW + 14 * DAY_MS;
  const begun = { outcome: "begun", url: null, expiresAt } as const;
  const begin = (id: string, isReadable: boolean, reference: string | null) =>
    database.execute("recordBegun", { id, isReadable, result: { ...begun, reference } }, NOW);
  begin(open, true, "cs-1");
  begin(byHand, false, null);
  begin(paid, true, `cs-${paid}`);
  read(paid, 1, {});
  const earlier = NOW - 400 * DAY_MS;
  database.execute("clampSchedules", { pollIntervalMs: 1, submitBackoffLimitMs: 1 }, earlier);
  const take = (at: number) =>
    database
      .execute("takeDuePayments", { limit: 10, readableKinds: ["stripe"] }, at)
      .map(({ id }) => id);
  expect(take(earlier + 60_000)).toEqual([open]);
  expect(take(earlier + 30 * DAY_MS)).toContain(paid);
  expect(found(byHand)).toMatchObject({ state: "pending", nextReadAt: expiresAt });
});

test("a payment that cannot be read any more ends, and money that is found after all is credited", () => {
  const id = ask();
  const page = { url: "https://p.example/", expiresAt: NOW + DAY_MS };
  const result = { outcome: "begun", reference: `cs-${id}`, ...page } as const;
  database.execute("recordBegun", { id, isReadable: true, result }, NOW);
  const take = (at: number) =>
    database.execute("takeDuePayments", { limit: 10, readableKinds: ["stripe"] }, at).length;
  let reads = 0;
  let at = NOW;
  // Each reading fails, as after the keys of another account were stored.
  for (; found(id).state === "pending" && at < NOW + 60 * DAY_MS; at += DAY_MS / 8)
    reads += take(at);
  expect(found(id).state).toBe("expired");
  expect(at - NOW).toBeGreaterThan(30 * DAY_MS);
  expect(at - NOW).toBeLessThan(32 * DAY_MS);
  expect(reads).toBeGreaterThan(200);
  // It is read for some days more, then never again.
  let more = 0;
  for (; at < NOW + 90 * DAY_MS; at += DAY_MS / 8) more += take(at);
  expect(more).toBeGreaterThan(2);
  expect(found(id).nextReadAt).toBeNull();
  read(id, found(id).reads, {}, at);
  expect(found(id)).toMatchObject({ state: "paid", creditMicros: 10 * DOLLAR });
});

test("credit above a limit of the balance waits for the operator, whom the limit refuses too", () => {
  database.run("createPaymentMethod", {
    methodId: "rich",
    kind: "stripe",
    currency: "USD",
    terms: { ...TERMS, maxMicros: 1_000_000_000 * DOLLAR },
    known: [],
    resellers: null,
    actor: OPERATOR,
  });
  for (let times = 0; times < 8; times += 1) {
    database.run("creditUser", {
      username: "alice",
      amountMicros: 1_000_000_000 * DOLLAR,
      note: null,
    });
  }
  database.run("creditUser", { username: "alice", amountMicros: 999_999_999 * DOLLAR, note: null });
  const id = ask(1000, "rich");
  read(id, 1, { amountMicros: 1000 * DOLLAR });
  expect(found(id)).toMatchObject({ state: "pending", awaits: "limit" });
  const approve = () =>
    database.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
  expect(refusalCode(approve)).toBe("balance_too_large");
  database.run("debitUser", { username: "alice", amountMicros: 5000 * DOLLAR, note: null });
  approve();
  expect(found(id).state).toBe("paid");
});

test("the paid amount gets an invoice, the bonus none", async () => {
  const changes = { mode: "credit", sellerName: "S", sellerAddress: "A" } as const;
  database.run("setInvoicing", { changes });
  read(ask(200), 1, { amountMicros: 200 * DOLLAR });
  expect(database.execute("issueInvoices", { limit: 10 }, NOW)).toBe(1);
  expect(
    database.query("SELECT total_micros AS total FROM invoices").map(({ total }) => Number(total)),
  ).toEqual([200 * DOLLAR]);
  expect(await verifyStore(database)).toEqual([]);
});

test("the money report has payments, bonuses and reversals by method, and leads to the balances", async () => {
  const id = ask(200);
  read(id, 1, { amountMicros: 200 * DOLLAR });
  database.run("settleReversal", { id, amountMicros: 6 * DOLLAR, publicNote: null });
  const report = await readMoney(database.store, { from: null, to: null });
  const lines = moneyLines(report).map((line) => [lineText(line), Number(line.micros) / DOLLAR]);
  expect(lines).toContainEqual(["payments: card", 200]);
  expect(lines).toContainEqual(["bonuses of payments: card", 6]);
  expect(lines).toContainEqual(["reversed payments: card", -6]);
  expect(lines).toContainEqual(["balances at the last moment", 200]);
});

test("the money report has what was received and is not credited, apart from the lines that add up", async () => {
  const [waits, twice, undone, expired] = [ask(), ask(), ask(), ask()];
  read(waits, 1, { currency: "EUR" });
  database.run("approvePayment", { id: twice, receivedMicros: null, creditMicros: null });
  read(twice, 1, { refundedMicros: 3 * DOLLAR });
  read(undone, 1, {});
  read(undone, 2, { disputedMicros: 10 * DOLLAR });
  database.run("settleReversal", { id: undone, amountMicros: null, publicNote: null });
  read(undone, 3, {});
  read(expired, 1, { state: "expired" });
  const linesOf = async (from: number) => {
    const lines = moneyLines(await readMoney(database.store, { from, to: null }));
    return lines
      .filter(({ line }) => line === "uncredited")
      .map((line) => [lineText(line), line.count, Number(line.micros) / DOLLAR]);
  };
  expect(await linesOf(NOW)).toEqual([
    ["received, not credited: card, in EUR", 1, 10],
    ["received, not credited: card, in USD", 2, 17],
  ]);
  expect(await linesOf(NOW + 1)).toEqual([]);
  database.run("settleSurplus", { id: undone, creditMicros: 10 * DOLLAR, publicNote: null });
  database.run("rejectPayment", { id: waits, reason: "no" });
  // A rejected payment's money is still there, until it is given back.
  expect(await linesOf(NOW)).toEqual([
    ["received, not credited: card, in EUR", 1, 10],
    ["received, not credited: card, in USD", 1, 7],
  ]);
  expect(database.balance("alice")).toBe(20 * DOLLAR);
});

test("a method with open payments is not removed; a removed one keeps no secret, and its id is not used again", () => {
  database.run("updatePaymentMethod", {
    methodId: "card",
    changes: { settings: JSON.stringify({ "secret-key": "sk_test_secret" }) },
    known: [],
  });
  const id = ask();
  const remove = (unread = false) =>
    database.run("removePaymentMethod", { methodId: "card", unread });
  expect(refusalCode(remove)).toBe("payment_method_in_use");
  database.run("rejectPayment", { id, reason: "no" });
  // Ended payments that are still read need its secrets, unless the operator does without.
  const paid = ask();
  read(paid, 1, {});
  expect(refusalCode(remove)).toBe("payment_method_followed");
  remove(true);
  const rest = JSON.stringify([
    database.query("SELECT settings FROM payment_methods"),
    database.query("SELECT before, after FROM audit"),
  ]);
  expect(rest).not.toContain("sk_test");
  expect(refusalCode(() => seedMethod(database, "card", "manual"))).toBe("payment_method_taken");
});

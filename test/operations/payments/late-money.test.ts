// Money that arrives late or once more, in every phase of a payment: what becomes of it, and that all of it is in exactly
// one place: credited, with the operator to decide, given back, or a surplus.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listSurplusFacts } from "../../../src/db/payments/payment-surpluses.ts";
import { findPayment, readPaymentFacts } from "../../../src/db/payments/payments.ts";
import type { Payment, PaymentSurplus } from "../../../src/db/tables/payments.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import type { PaymentReading } from "../../../src/domain/payments/payment-reads.ts";
import {
  isCredited,
  PAYMENT_PHASES,
  phaseOf,
} from "../../../src/domain/payments/payment-states.ts";
import { auditStore } from "../../support/databases/audit.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";

const NOW = Date.parse("2026-11-28T10:00:00Z");
const ASKED = 10 * DOLLAR;

let database: TestDatabase;
let actors: Actor[];
beforeAll(() => {
  database = freshDatabase();
  actors = Array.from({ length: 12 }, (_, index) => seedMember(database, `reseller${index}`));
  seedMethod(database, "card", "stripe");
  seedMethod(database, "program", "callback");
});
afterAll(() => database.close());

const found = (id: string) => database.read((reader) => findPayment(reader, id))!;
const surplusesOf = ({ paymentId }: Payment): Pick<PaymentSurplus, "leftMicros" | "settledAt">[] =>
  database
    .query<{ left: number; settled: number | null }>(
      `SELECT left_micros AS "left", settled_at AS settled FROM payment_surpluses WHERE payment_id = ${paymentId}`,
    )
    .map(({ left, settled }) => ({
      leftMicros: Number(left),
      settledAt: settled === null ? null : Number(settled),
    }));
const balanceOf = ({ account }: Payment) =>
  Number(
    database.query<{ micros: number }>(
      `SELECT balance_micros AS micros FROM users WHERE account = ${account}`,
    )[0]!.micros,
  );
const eventsOf = ({ paymentId }: Payment) =>
  database
    .query<{ event: string }>(
      `SELECT event FROM payment_events WHERE payment_id = ${paymentId} ORDER BY seq`,
    )
    .map(({ event }) => event);

/** A kind of method, and how its money is reported. `again`: under another id, which only programs can do. */
interface Source {
  methodId: string;
  report(payment: Payment, more?: Partial<PaymentReading>): void;
}

const STRIPE: Source = {
  methodId: "card",
  report({ id, methodReference, reads, disputedMicros }, more = {}) {
    const nothing = { refundedMicros: 0, disputedMicros, cause: null };
    const all = { state: "paid" as const, paymentId: id, amountMicros: ASKED, currency: "USD" };
    const reading = { ...all, ...nothing, ...more };
    const reference = methodReference ?? `cs-${id}`;
    database.execute("recordReading", { id, reference, reads, reading }, NOW);
  },
};
const programAs = (name: string): Source => ({
  methodId: "program",
  report({ id }, { amountMicros = ASKED, currency = "USD" } = {}) {
    const programId = `${name}-${id}`;
    const paid = { methodId: "program", id, programId, amountMicros, currency };
    database.execute("recordPaid", paid, NOW);
  },
});
const PROGRAM = programAs("first");
const OTHER_ID = programAs("second");

const begun = (id: string, isReadable: boolean) => {
  const page = { url: "https://pay.example/", expiresAt: NOW + 1 };
  const reference = isReadable ? `cs-${id}` : null;
  const result = { outcome: "begun" as const, reference, ...page };
  database.execute("recordBegun", { id, isReadable, result }, NOW);
};
const reject = (id: string) =>
  database.execute("rejectPayment", { id, reason: "no", actor: OPERATOR }, NOW);
const approve = (id: string) =>
  database.execute(
    "approvePayment",
    { id, receivedMicros: ASKED, creditMicros: null, actor: OPERATOR },
    NOW,
  );
const settle = (id: string, amountMicros: number | null = null) =>
  database.execute("settleReversal", { id, amountMicros, publicNote: null, actor: OPERATOR }, NOW);
const expire = (payment: Payment) =>
  database.query(`UPDATE payments SET next_read_at = 0 WHERE payment_id = ${payment.paymentId}`) &&
  database.execute("takeDuePayments", { limit: 50, readableKinds: [] }, NOW);

/**
 * How a payment gets to each phase, with the money that its method has reported by then. Credited phases are reached
 * twice: by a report, and by the operator who approves without one.
 */
const WAYS: [name: string, reach: (payment: Payment, source: Source) => void, reported: number][] =
  [
    ["created", () => {}, 0],
    ["pending", ({ id }, { methodId }) => begun(id, methodId === "card"), 0],
    ["waiting", (payment, source) => source.report(payment, { currency: "EUR" }), 1],
    ["failed", ({ id }) => {
      const result = { outcome: "refused" as const, cause: "no" };
      database.execute("recordBegun", { id, isReadable: true, result }, NOW);
    }, 0],
    ["expired", (payment) => expire(payment), 0],
    ["rejected", ({ id }) => reject(id), 0],
    ["rejected with money", (payment, source) => {
      source.report(payment, { currency: "EUR" });
      reject(payment.id);
    }, 1],
    ["paid", (payment, source) => source.report(payment), 1],
    ["paid by hand", ({ id }) => approve(id), 0],
    ["refunded", (payment, source) => {
      source.report(payment);
      settle(payment.id);
    }, 1],
    ["refunded by hand", ({ id }) => {
      approve(id);
      settle(id);
    }, 0],
    ["disputed", (payment) => {
      STRIPE.report(payment);
      STRIPE.report(found(payment.id), { disputedMicros: ASKED });
    }, 1],
  ]; // prettier-ignore

/** What becomes of late money: the phase after it, and the number of surpluses. */
type Fate = [phase: string, surpluses: number];
const CREDITED: Fate = ["paid", 0];
const NOTHING = (phase: string): Fate => [phase, 0];
const SURPLUS = (phase: string): Fate => [phase, 1];

const FATES: Record<string, { own: Fate; other: Fate }> = {
  created: { own: CREDITED, other: CREDITED },
  pending: { own: CREDITED, other: CREDITED },
  // The same money in the right currency is credited; money under another id is beyond what waits.
  waiting: { own: CREDITED, other: SURPLUS("waiting") },
  failed: { own: CREDITED, other: CREDITED },
  expired: { own: CREDITED, other: CREDITED },
  rejected: { own: ["waiting", 0], other: ["waiting", 0] },
  "rejected with money": { own: ["waiting", 0], other: SURPLUS("rejected") },
  paid: { own: NOTHING("paid"), other: SURPLUS("paid") },
  "paid by hand": { own: SURPLUS("paid"), other: SURPLUS("paid") },
  refunded: { own: NOTHING("refunded"), other: SURPLUS("refunded") },
  "refunded by hand": { own: SURPLUS("refunded"), other: SURPLUS("refunded") },
  disputed: { own: NOTHING("disputed"), other: SURPLUS("disputed") },
};

const CELLS = WAYS.flatMap(([name, reach]) =>
  ([
    ["its own session at Stripe", STRIPE, STRIPE, "own"],
    ["its program", PROGRAM, PROGRAM, "own"],
    ["its program under another id", PROGRAM, OTHER_ID, "other"],
  ] as const)
    // Only what is read can be disputed.
    .filter(([, first]) => name !== "disputed" || first === STRIPE)
    .map(([from, first, late, kind]) => [name, from, { reach, first, late, kind }] as const),
); // prettier-ignore

test("the table has every phase", () => {
  const phases = new Set(WAYS.map(([name]) => name.split(" ")[0]!));
  expect([...phases].toSorted()).toEqual([...PAYMENT_PHASES].toSorted());
  expect(WAYS.map(([name]) => name)).toEqual(Object.keys(FATES));
});

let count = 0;
describe("money that arrives for a payment that is", () => {
  test.each(CELLS)("%s, from %s", (name, _, { reach, first, late, kind }) => {
    const actor = actors[count % actors.length]!;
    count += 1;
    const id = askPayment(database, { methodId: first.methodId, actor, now: NOW });
    reach(found(id), first);
    const before = found(id);
    const expected = FATES[name]![kind];
    const held = balanceOf(before);
    late.report(found(id));
    const after = found(id);
    expect([phaseOf(after) as string, surplusesOf(after).length]).toEqual(expected);
    const isCreditedNow = isCredited(after.state) && !isCredited(before.state);
    expect(balanceOf(after) - held).toBe(isCreditedNow ? ASKED : 0);
    const events = eventsOf(after);
    // However often it is reported, it counts once.
    for (let times = 0; times < 3; times += 1) late.report(found(id));
    expect(found(id)).toMatchObject({ state: after.state, receivedMicros: after.receivedMicros });
    expect(surplusesOf(after)).toHaveLength(expected[1]);
    expect(eventsOf(after)).toEqual(events);
    expect(balanceOf(after) - held).toBe(isCreditedNow ? ASKED : 0);
    const [surplus] = surplusesOf(after);
    if (surplus) {
      expect(surplus).toEqual({ leftMicros: ASKED, settledAt: null });
      const told = () => database.read(listSurplusFacts).filter((each) => each.id === id);
      expect(told()).toHaveLength(1);
      // The operator decides once, by crediting it.
      const decide = () =>
        database.execute(
          "settleSurplus",
          { id, creditMicros: 7 * DOLLAR, publicNote: null, actor: OPERATOR },
          NOW,
        );
      const balance = balanceOf(after);
      decide();
      expect(balanceOf(after) - balance).toBe(7 * DOLLAR);
      expect(refusalCode(decide)).toBe("payment_without_surplus");
      late.report(found(id));
      expect(balanceOf(after) - balance).toBe(7 * DOLLAR);
      expect(told()).toEqual([]);
      expect(found(id).state).toBe(after.state);
    }
  });

  test("any phase, is in exactly one place each, by verify and by an auditor of its own", async () => {
    expect(count).toBe(CELLS.length);
    expect(await verifyStore(database)).toEqual([]);
    const query = (text: string) => Promise.resolve(database.query(text));
    expect(await auditStore({ query })).toEqual({});
  });
});

test("money that a program reports for two payments under one id is of the first", () => {
  const [one, other] = [0, 1].map(() =>
    askPayment(database, { methodId: "program", actor: actors[0]!, now: NOW }),
  ) as [string, string];
  PROGRAM.report(found(one));
  const again = (id: string, programId: string) =>
    database.execute(
      "recordPaid",
      { methodId: "program", id, programId, amountMicros: ASKED, currency: "USD" },
      NOW,
    ).outcome;
  expect(again(one, `second-${one}`)).toBe("conflict");
  expect(again(other, `second-${one}`)).toBe("conflict");
  expect(found(other)).toMatchObject({ state: "created", methodReference: null });
});

test("a second payment that is given back at its provider needs no decision, unless that fails", () => {
  const id = askPayment(database, { methodId: "card", actor: actors[0]!, now: NOW });
  begun(id, true);
  approve(id);
  const undecided = () => database.read(readPaymentFacts).surplus;
  const before = undecided();
  const read = (refundedMicros: number) => STRIPE.report(found(id), { refundedMicros });
  const told = [];
  for (const refunded of [0, 4 * DOLLAR, ASKED, 0, ASKED]) {
    read(refunded);
    told.push(undecided() - before);
    // It was never credited, so nothing is reversed.
    expect(found(id)).toMatchObject({ state: "paid", refundedMicros: 0, disputedMicros: 0 });
  }
  expect(told).toEqual([1, 1, 0, 1, 0]);
});

test("once a second payment was decided on, what is given back of it later is for the operator to decide on", () => {
  const id = askPayment(database, { methodId: "card", actor: actors[0]!, now: NOW });
  begun(id, true);
  approve(id);
  const reversed = () => database.read(readPaymentFacts).reversed;
  const before = reversed();
  STRIPE.report(found(id), { refundedMicros: 4 * DOLLAR });
  database.execute(
    "settleSurplus",
    { id, creditMicros: 6 * DOLLAR, publicNote: null, actor: OPERATOR },
    NOW,
  );
  STRIPE.report(found(id), { refundedMicros: 4 * DOLLAR });
  expect([found(id).state, reversed() - before]).toEqual(["paid", 0]);
  STRIPE.report(found(id), { refundedMicros: 5 * DOLLAR });
  expect([found(id).state, found(id).refundedMicros, reversed() - before]).toEqual([
    "refunded",
    DOLLAR,
    1,
  ]);
});

test("verify finds a state that is not what was reversed, and money that two payments have", async () => {
  const own = freshDatabase();
  try {
    const actor = seedMember(own);
    seedMethod(own, "program", "callback");
    const ids = [0, 1].map(() => askPayment(own, { methodId: "program", actor, now: NOW }));
    for (const [index, id] of ids.entries()) {
      const paid = { methodId: "program", id, amountMicros: ASKED, currency: "USD" };
      own.execute("recordPaid", { ...paid, programId: `t${index}` }, NOW);
      own.execute("recordPaid", { ...paid, programId: `again-${index}` }, NOW);
    }
    expect(await verifyStore(own)).toEqual([]);
    own.query(`UPDATE payments SET disputed_micros = 1 WHERE id = '${ids[0]}'`);
    own.query(`UPDATE payments SET method_reference = 'again-0' WHERE id = '${ids[1]}'`);
    const problems = JSON.stringify(await verifyStore(own));
    expect(problems).toContain(`payment ${ids[0]}`);
    expect(problems).toContain("disputed are 1");
    expect(problems).toContain("it has the money again-0 of another payment");
  } finally {
    own.close();
  }
});

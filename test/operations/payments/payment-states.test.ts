// Every state of a payment against every event: as the table says, credited once, and nothing changed by what is refused.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findPayment } from "../../../src/db/payments/payments.ts";
import type { Payment } from "../../../src/db/tables/payments.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import {
  effectOf,
  isCredited,
  PAYMENT_EVENTS,
  PAYMENT_PHASES,
  PAYMENT_STATES,
  type PaymentEvent,
  type PaymentPhase,
  paymentTransitionsFrom,
  phaseOf,
  stateOf,
} from "../../../src/domain/payments/payment-states.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { PaymentReading } from "../../../src/domain/payments/payment-reads.ts";
import { auditStore } from "../../support/databases/audit.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";

const NOW = Date.parse("2026-11-28T10:00:00Z");
const ASKED = 10 * DOLLAR;

let database: TestDatabase;
const actors = new Map<PaymentPhase, Actor>();
beforeAll(() => {
  database = freshDatabase();
  for (const [index, phase] of PAYMENT_PHASES.entries()) {
    actors.set(phase, seedMember(database, `reseller${index}`));
  }
  seedMethod(database, "card", "stripe");
});
afterAll(() => database.close());

let count = 0;
const found = (id: string) => database.read((reader) => findPayment(reader, id))!;
const reading = (id: string, more: Partial<PaymentReading>): PaymentReading => ({
  state: "paid",
  paymentId: id,
  amountMicros: ASKED,
  currency: "USD",
  refundedMicros: 0,
  disputedMicros: 0,
  cause: null,
  ...more,
});

function read(payment: Payment, more: Partial<PaymentReading>): void {
  const { id } = payment;
  const reference = payment.methodReference ?? `ref-${id}`;
  const reads = found(id).reads;
  const command = { id, reference, reads, reading: reading(id, more) };
  database.execute("recordReading", command, NOW);
}

/** What a reading says of a payment whose reversals have not changed. */
const reversed = ({ refundedMicros, disputedMicros }: Payment) => ({
  refundedMicros,
  disputedMicros,
});

/** What makes each event happen, as the server's parts do it. */
const EVENTS: Record<PaymentEvent, (payment: Payment, actor: Actor) => unknown> = {
  begun: ({ id, methodReference }) =>
    database.execute(
      "recordBegun",
      {
        id,
        isReadable: true,
        result: {
          outcome: "begun",
          reference: methodReference ?? `ref-${id}`,
          url: "https://pay.example/",
          expiresAt: NOW + 1,
        },
      },
      NOW,
    ),
  begin_refused: ({ id }) =>
    database.execute(
      "recordBegun",
      { id, isReadable: true, result: { outcome: "refused", cause: "no" } },
      NOW,
    ),
  paid: (payment) => read(payment, reversed(payment)),
  paid_unclear: (payment) => read(payment, { ...reversed(payment), currency: "EUR" }),
  failed: (payment) => read(payment, { state: "failed" }),
  expired: (payment) => read(payment, { state: "expired" }),
  refunded: (payment) => read(payment, { refundedMicros: payment.refundedMicros + DOLLAR, disputedMicros: payment.disputedMicros }),
  disputed: (payment) => read(payment, { disputedMicros: payment.disputedMicros + DOLLAR, refundedMicros: payment.refundedMicros }),
  dispute_won: (payment) => read(payment, { refundedMicros: payment.refundedMicros }),
  refund_failed: (payment) =>
    read(payment, {
      refundedMicros: Math.max(0, payment.reportedRefundMicros - DOLLAR),
      disputedMicros: payment.disputedMicros,
    }),
  paid_again: ({ id }) =>
    database.execute(
      "recordPaid",
      { methodId: "card", id, programId: `other-${id}`, amountMicros: ASKED, currency: "USD" },
      NOW,
    ),
  surplus_settled: ({ id }) =>
    database.execute(
      "settleSurplus",
      { id, creditMicros: 0, publicNote: null, actor: OPERATOR },
      NOW,
    ),
  claimed: ({ id }, actor) =>
    database.execute(
      "claimPayment",
      { id, reference: "my transfer", file: null, isClaimed: true, actor },
      NOW,
    ),
  approved: ({ id }) =>
    database.execute(
      "approvePayment",
      { id, receivedMicros: ASKED, creditMicros: null, actor: OPERATOR },
      NOW,
    ),
  rejected: ({ id }) =>
    database.execute("rejectPayment", { id, reason: "not received", actor: OPERATOR }, NOW),
  settled: ({ id }) =>
    database.execute(
      "settleReversal",
      { id, amountMicros: 1, publicNote: null, actor: OPERATOR },
      NOW,
    ),
}; // prettier-ignore

/** The events that lead to each phase. */
const WAYS: Record<PaymentPhase, readonly PaymentEvent[]> = {
  created: [],
  pending: ["begun"],
  waiting: ["begun", "claimed"],
  paid: ["begun", "paid"],
  refunded: ["begun", "paid", "refunded"],
  disputed: ["begun", "paid", "disputed"],
  failed: ["begun", "failed"],
  expired: ["begun", "expired"],
  rejected: ["begun", "rejected"],
};

function reach(phase: PaymentPhase): Payment {
  const actor = actors.get(phase)!;
  count += 1;
  const id = askPayment(database, { methodId: "card", actor, now: NOW });
  for (const event of WAYS[phase]) EVENTS[event](found(id), actor);
  expect(phaseOf(found(id))).toBe(phase);
  return found(id);
}

/** What a payment has moved, and how many rows there are of what it writes. */
function moved({ paymentId }: Payment) {
  const [sums] = database.query<{ credits: number; debits: number; rows: number }>(
    `SELECT count(*) FILTER (WHERE kind = 'payment') AS credits,
      count(*) FILTER (WHERE kind = 'payment_reversal') AS debits, count(*) AS rows
    FROM payment_transfers WHERE payment_id = ${paymentId}`,
  );
  return { credits: Number(sums!.credits), debits: Number(sums!.debits) };
}

const CELLS = PAYMENT_PHASES.flatMap((phase) =>
  PAYMENT_EVENTS.map((event) => [phase, event, effectOf(phase, event)] as const),
);

/** Events that no report makes in these phases: money that is not credited is not reversed but reported as less, or as disputed. */
const FOLDED: Partial<Record<PaymentEvent, PaymentEvent>> = {
  refunded: "paid",
  disputed: "paid_unclear",
  dispute_won: "paid",
  refund_failed: "paid",
};
/** The first money that is reported for a payment without an id at its method is no surplus. */
const foldedOf = (phase: PaymentPhase, event: PaymentEvent): PaymentEvent | undefined => {
  if (phase === "created" && event === "paid_again") return "paid";
  return isCredited(stateOf(phase)) ? undefined : FOLDED[event];
};

describe("a payment that is", () => {
  test.each(CELLS)("%s, and then %s: %s", (phase, event, effect) => {
    const payment = reach(phase);
    const before = moved(payment);
    const folded = foldedOf(phase, event);
    // No payment here has a surplus; late-money.test.ts has those that do.
    const isNone = event === "surplus_settled";
    const expected = isNone ? "refuse" : folded === undefined ? effect : effectOf(phase, folded);
    let thrown: unknown = null;
    try {
      EVENTS[event](payment, actors.get(phase)!);
    } catch (error) {
      thrown = error;
    }
    if (expected === "refuse") {
      expect(thrown).toBeInstanceOf(Refusal);
      expect((thrown as Refusal).code).toBe(isNone ? "payment_without_surplus" : "payment_closed");
      expect(found(payment.id)).toEqual(payment);
      expect(moved(payment)).toEqual(before);
      return;
    }
    expect(thrown).toBeNull();
    const after = found(payment.id);
    expect(phaseOf(after)).toBe(expected === "stay" ? phase : expected);
    expect(moved(after).credits).toBe(isCredited(after.state) ? 1 : 0);
    // Once more: whatever it was, it is credited once.
    if (event !== "settled") {
      try {
        EVENTS[event](after, actors.get(phase)!);
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal);
      }
    }
    const again = found(payment.id);
    expect(moved(again).credits).toBe(isCredited(again.state) ? 1 : 0);
    expect(moved(again).debits).toBe(moved(after).debits);
  });

  test("credited in all those cells adds up, by verify and by an auditor of its own", async () => {
    expect(count).toBe(CELLS.length);
    expect(await verifyStore(database)).toEqual([]);
    const query = (text: string) => Promise.resolve(database.query(text));
    expect(await auditStore({ query })).toEqual({});
    const [sums] = database.query<{ balances: number; expected: number }>(
      `SELECT (SELECT sum(balance_micros) FROM users) AS balances,
        (SELECT sum(credit_micros - reversed_micros) FROM payments WHERE paid_at IS NOT NULL) AS expected`,
    );
    expect(Number(sums!.balances)).toBe(Number(sums!.expected));
  });
});

test("the schema lets a payment change exactly as the table says, from every state to every other", () => {
  const actor = seedMember(database, "schema");
  for (const from of PAYMENT_STATES) {
    for (const to of PAYMENT_STATES.filter((state) => state !== from)) {
      const { paymentId } = reachBy(actor, from);
      const isCredit = isCredited(to);
      // What the other checks of the row need.
      const more = isCredit
        ? ", paid_at = coalesce(paid_at, 1), received_micros = 10000000, received_currency = 'USD'"
        : ", paid_at = NULL";
      const change = () =>
        raw(
          `UPDATE payments SET state = '${to}', awaits = NULL${more} WHERE payment_id = ${paymentId}`,
        );
      const may = paymentTransitionsFrom(from).includes(to);
      let wasRefused = false;
      try {
        change();
      } catch {
        wasRefused = true;
      }
      expect([from, to, !wasRefused]).toEqual([from, to, may]);
    }
  }
});

/** A statement that is undone, whether it was refused or not. */
function raw(text: string): void {
  if (ENGINE === "sqlite") {
    database.query("SAVEPOINT s");
    try {
      database.query(text);
    } finally {
      database.query("ROLLBACK TO s");
      database.query("RELEASE s");
    }
    return;
  }
  database.query("BEGIN");
  try {
    database.query(text);
  } finally {
    database.query("ROLLBACK");
  }
}

const reached = new Map<string, Payment>();
function reachBy(actor: Actor, state: Payment["state"]): Payment {
  const known = reached.get(state);
  if (known) return known;
  const id = askPayment(database, { methodId: "card", actor, now: NOW });
  for (const event of WAYS[state]) EVENTS[event](found(id), actor);
  const payment = found(id);
  expect(payment.state).toBe(stateOf(state));
  reached.set(state, payment);
  return payment;
}

// Recomputes from what the provider and the program know what each payment must have credited. Shares no code with the
// service: fee, bonus and credit are worked out here by search.

import type { MarketDatabase } from "./databases.ts";
import type { Report } from "./payment-program.ts";
import type { Session } from "./payment-provider.ts";

const CENT = 10_000;

/** The terms of all methods of the simulation: 2.9 % and 0.30 on top, and 3 % from 100 on. */
export const SIMULATED_TERMS = {
  feePpm: 29_000,
  feeFixedMicros: 300_000,
  feePayer: "customer" as const,
  bonusSteps: JSON.stringify([{ fromMicros: 100_000_000, ppm: 30_000 }]),
};

function feeCents(cents: number): number {
  return Math.ceil((cents * 29) / 1000 + 30 - 1e-9);
}

/** Credit and bonus in micros for an amount received in USD. */
function expectedFor(asked: number, receivedMicros: number): [credit: number, bonus: number] {
  const askedCents = asked / CENT;
  const received = Math.floor(receivedMicros / CENT);
  let cents = askedCents;
  if (received * CENT !== receivedMicros || received !== askedCents + feeCents(askedCents)) {
    let [low, high] = [0, received];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (middle === 0 || middle + feeCents(middle) <= received) low = middle;
      else high = middle - 1;
    }
    cents = low;
  }
  const credit = cents * CENT;
  return [credit, credit >= 100_000_000 ? Math.floor((credit * 3) / 100) : 0];
}

interface Row {
  id: string;
  kind: string;
  state: string;
  awaits: string | null;
  asked: number;
  credit: number;
  bonus: number;
  received: number | null;
  currency: string | null;
  refunded: number;
  disputed: number;
  reversed: number;
  reference: string | null;
  /** Refunds before the credit; also later ones, once the operator has settled them. */
  netted: number;
  paid: number;
  paidSum: number;
  bonusSum: number;
  reversedSum: number;
  approved: number;
  rejected: number;
  settled: number;
}

const transfersOf = (kind: string, what: string) =>
  `(SELECT ${what} FROM payment_transfers t JOIN transfers ON transfers.seq = t.seq
    WHERE t.payment_id = p.payment_id AND transfers.kind = '${kind}')`;
const eventsOf = (event: string) =>
  `(SELECT count(*) FROM payment_events e WHERE e.payment_id = p.payment_id AND event = '${event}')`;

const ROWS = `SELECT p.id AS id, m.kind AS kind, p.state AS state, p.awaits AS awaits, p.asked_micros AS asked,
    p.credit_micros AS credit, p.bonus_micros AS bonus, p.received_micros AS received,
    p.received_currency AS currency, p.refunded_micros AS refunded, p.disputed_micros AS disputed,
    p.reversed_micros AS reversed, p.method_reference AS reference, p.settled_micros AS netted,
    ${transfersOf("payment", "count(*)")} AS paid,
    ${transfersOf("payment", "coalesce(sum(amount_micros), 0)")} AS "paidSum",
    ${transfersOf("payment_bonus", "coalesce(sum(amount_micros), 0)")} AS "bonusSum",
    ${transfersOf("payment_reversal", "coalesce(sum(amount_micros), 0)")} AS "reversedSum",
    ${eventsOf("approved")} AS approved, ${eventsOf("rejected")} AS rejected, ${eventsOf("settled")} AS settled
  FROM payments p JOIN payment_methods m ON m.method_id = p.method_id ORDER BY p.payment_id`;

const NUMBERS =
  "asked credit bonus received netted refunded disputed reversed paid paidSum bonusSum reversedSum approved rejected settled".split(
    " ",
  );

export interface PaymentCounts {
  payments: number;
  credited: number;
  reversed: number;
}

/** Returns what is wrong, one sentence each, and how much there was. */
export function auditPayments(
  database: Pick<MarketDatabase, "query">,
  sessions: ReadonlyMap<string, Session>,
  reports: readonly Report[],
): { findings: string[]; counts: PaymentCounts } {
  const rows = database.query<Row>(ROWS).map((row) => {
    const numbers = NUMBERS.map((name) => {
      const value = row[name as keyof Row];
      return [name, value === null ? null : Number(value)];
    });
    return { ...row, ...Object.fromEntries(numbers) } as Row;
  });
  const bySession = new Map([...sessions.values()].map((session) => [session.paymentId, session]));
  const findings = rows.flatMap((row) => {
    const wrong = wrongWith(row, bySession.get(row.id), reports);
    return wrong.map((each) => `${row.kind} ${row.id} (${row.state} ${row.awaits}): ${each}`);
  });
  const [sums] = database.query<{ balances: number; moved: number; spent: number }>(
    `SELECT (SELECT sum(balance_micros) FROM users) AS balances,
      (SELECT coalesce(sum(CASE WHEN kind = 'payment_reversal' THEN -amount_micros ELSE amount_micros END), 0)
        FROM transfers WHERE kind IN ('payment', 'payment_bonus', 'payment_reversal')) AS moved,
      (SELECT coalesce(sum(amount_micros), 0) FROM transfers WHERE kind = 'adjustment') AS spent`,
  );
  const expected = Number(sums!.moved) - Number(sums!.spent);
  if (Number(sums!.balances) !== expected) {
    findings.push(`balances are ${sums!.balances}, payments less spending ${expected}`);
  }
  const counts = {
    payments: rows.length,
    credited: rows.filter(({ paid }) => paid > 0).length,
    reversed: rows.filter(({ refunded, disputed }) => refunded + disputed > 0).length,
  };
  return { findings, counts };
}

function wrongWith(row: Row, session: Session | undefined, reports: readonly Report[]): string[] {
  const isCredited = ["paid", "refunded", "disputed"].includes(row.state);
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string) => void (holds || wrong.push(what));
  expect(row.paid === (isCredited ? 1 : 0), `it was credited ${row.paid} times`);
  if (isCredited) {
    expect(row.paidSum === row.credit, `credited ${row.paidSum}, its row says ${row.credit}`);
    expect(row.bonusSum === row.bonus, `bonus ${row.bonusSum}, its row says ${row.bonus}`);
  } else expect(row.bonusSum === 0, "a bonus without a credit");
  expect(row.reversedSum === row.reversed, `debited ${row.reversedSum}, not ${row.reversed}`);
  expect(row.reversed <= row.credit + row.bonus, "more was debited than credited");
  const isDecided = row.approved > 0 || row.rejected > 0;
  const isRight = (receivedMicros: number) => {
    const [credit, bonus] = expectedFor(row.asked, receivedMicros);
    return row.credit === credit && row.bonus === bonus;
  };
  if (row.kind === "manual") {
    expect(
      isCredited === row.approved > 0,
      "it was credited without an approval, or approved without a credit",
    );
  }
  if (row.kind === "callback") {
    const own = reports.filter(({ payment }) => payment === row.id);
    const taken = own.filter((each) => each.isAcknowledged && each.programId === row.reference);
    if (isCredited && row.approved === 0) {
      const isReported = own.some(
        (each) =>
          each.programId === row.reference && each.currency === "USD" && isRight(each.amountMicros),
      );
      expect(isReported, `${row.credit} + ${row.bonus} was never reported`);
    }
    if (!isCredited && !isDecided && taken.length > 0) {
      expect(
        row.awaits !== null,
        "what was acknowledged is neither credited nor waiting for a decision",
      );
    }
  }
  if (row.kind === "stripe") {
    const received = session?.received ?? null;
    if (isCredited && row.approved === 0) {
      const mayBe = received?.currency === "USD" ? received.amountMicros : null;
      // Once the operator has settled refunds, the row no longer shows which of them came before the credit.
      const refunds = row.settled > 0 ? (session?.refunds ?? []) : [row.netted];
      const isKnown = refunds.some(
        (each) => mayBe !== null && session!.refunds.includes(each) && isRight(mayBe - each),
      );
      expect(isKnown === true, `${row.credit} + ${row.bonus} is not what was received`);
    }
    const left = received === null ? 0 : received.amountMicros - session!.refundedMicros;
    if (!isCredited && !isDecided && left > 0) {
      expect(
        row.awaits !== null,
        `${left} was received, but is neither credited nor waiting for a decision`,
      );
    }
    if (isCredited && row.settled === 0 && received !== null && row.approved === 0) {
      expect(row.refunded === session!.refundedMicros, `${session!.refundedMicros} was refunded`);
      expect(row.disputed === session!.disputedMicros, `${session!.disputedMicros} is disputed`);
    }
    if (isCredited && row.approved === 0 && row.settled === 0) {
      expect((row.state === "disputed") === row.disputed > 0, `${row.disputed} is disputed`);
    }
  }
  return wrong;
}

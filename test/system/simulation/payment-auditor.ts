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
  /** Refunds before the credit. */
  netted: number;
  paid: number;
  paidSum: number;
  bonusSum: number;
  reversedSum: number;
  approved: number;
  rejected: number;
  settled: number;
  unclear: number;
  surplusSettled: number;
  /** What came back and is not decided on. */
  back: number;
}

/** Money that was paid once more. */
interface Again {
  payment: string;
  reference: string;
  amount: number;
  left: number;
  currency: string;
  isSettled: boolean;
}

const AGAIN = `SELECT p.id AS payment, s.reference, s.amount_micros AS amount, s.left_micros AS "left", s.currency AS currency,
    CASE WHEN s.settled_at IS NULL THEN 0 ELSE 1 END AS "isSettled"
  FROM payment_surpluses s JOIN payments p ON p.payment_id = s.payment_id WHERE s.cause = 'paid_again'`;

const transfersOf = (kind: string, what: string) =>
  `(SELECT ${what} FROM payment_transfers t JOIN transfers ON transfers.seq = t.seq
    WHERE t.payment_id = p.payment_id AND transfers.kind = '${kind}')`;
const eventsOf = (event: string) =>
  `(SELECT count(*) FROM payment_events e WHERE e.payment_id = p.payment_id AND event = '${event}')`;

/** Reports of money that is not credited by itself. */
const REPORTED = `(SELECT count(*) FROM payment_events e WHERE e.payment_id = p.payment_id
  AND (event = 'paid_unclear' OR (event = 'failed' AND detail LIKE '%given back')))`;

const ROWS = `SELECT p.id AS id, m.kind AS kind, p.state AS state, p.awaits AS awaits, p.asked_micros AS asked,
    p.credit_micros AS credit, p.bonus_micros AS bonus, p.received_micros AS received,
    p.received_currency AS currency, p.refunded_micros AS refunded, p.disputed_micros AS disputed,
    p.reversed_micros AS reversed, p.method_reference AS reference, p.netted_micros AS netted,
    ${transfersOf("payment", "count(*)")} AS paid,
    ${transfersOf("payment", "coalesce(sum(amount_micros), 0)")} AS "paidSum",
    ${transfersOf("payment_bonus", "coalesce(sum(amount_micros), 0)")} AS "bonusSum",
    ${transfersOf("payment_reversal", "coalesce(sum(amount_micros), 0)")} AS "reversedSum",
    ${eventsOf("approved")} AS approved, ${eventsOf("rejected")} AS rejected, ${eventsOf("settled")} AS settled,
    ${REPORTED} AS unclear, ${eventsOf("surplus_settled")} AS "surplusSettled",
    (SELECT coalesce(sum(left_micros), 0) FROM payment_surpluses s WHERE s.payment_id = p.payment_id
      AND s.cause <> 'paid_again' AND s.settled_at IS NULL) AS back
  FROM payments p JOIN payment_methods m ON m.method_id = p.method_id ORDER BY p.payment_id`;

const NUMBERS =
  "asked credit bonus received netted refunded disputed reversed paid paidSum bonusSum reversedSum approved rejected settled unclear surplusSettled back".split(
    " ",
  );

export interface PaymentCounts {
  payments: number;
  credited: number;
  reversed: number;
  surpluses: number;
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
  const again = database.query<Again>(AGAIN).map((each) => ({
    ...each,
    amount: Number(each.amount),
    left: Number(each.left),
    isSettled: Number(each.isSettled) === 1,
  }));
  const findings = rows.flatMap((row) => {
    const own = again.filter(({ payment }) => payment === row.id);
    const wrong = [
      ...wrongWith(row, bySession.get(row.id), reports),
      ...wrongAgain(row, own, bySession.get(row.id), reports, (programId) =>
        rows.some(({ id, reference }) => id !== row.id && reference === programId) ||
        again.some(({ payment, reference }) => payment !== row.id && reference === programId),
      ),
    ]; // prettier-ignore
    return wrong.map((each) => `${row.kind} ${row.id} (${row.state} ${row.awaits}): ${each}`);
  });
  const [sums] = database.query<{ balances: number; moved: number; spent: number }>(
    `SELECT (SELECT sum(balance_micros) FROM users) AS balances,
      (SELECT coalesce(sum(CASE WHEN kind = 'payment_reversal' THEN -amount_micros ELSE amount_micros END), 0)
        FROM transfers WHERE kind IN ('payment', 'payment_bonus', 'payment_reversal')) AS moved,
      (SELECT coalesce(sum(CASE WHEN debit_account = 1 THEN -amount_micros ELSE amount_micros END), 0)
        FROM transfers WHERE kind = 'adjustment') AS spent`,
  );
  const expected = Number(sums!.moved) - Number(sums!.spent);
  if (Number(sums!.balances) !== expected) {
    findings.push(`balances are ${sums!.balances}, payments less spending ${expected}`);
  }
  const counts = {
    payments: rows.length,
    credited: rows.filter(({ paid }) => paid > 0).length,
    reversed: rows.filter(({ refunded, disputed }) => refunded + disputed > 0).length,
    surpluses: again.length + rows.filter(({ back }) => back > 0).length,
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
      // Once a surplus is decided on, the row no longer shows all refunds that came before the credit.
      const refunds = row.surplusSettled > 0 ? (session?.refunds ?? []) : [row.netted];
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
    if (isCredited && row.approved === 0 && row.settled + row.surplusSettled === 0) {
      const isRefunded = row.refunded > row.netted;
      const state = row.disputed > 0 ? "disputed" : isRefunded ? "refunded" : "paid";
      expect(row.state === state, `${row.refunded} is refunded, ${row.disputed} disputed`);
    }
    if (isCredited && row.approved === 0 && received !== null) {
      const goneMicros = session!.refundedMicros + session!.disputedMicros;
      const heldMicros = received.amountMicros - goneMicros;
      expect(row.back <= heldMicros, `${row.back} came back, but only ${heldMicros} is there`);
      if (row.reversed === 0 && row.surplusSettled === 0) {
        const missing = Math.max(0, row.netted - goneMicros);
        expect(row.back === missing, `${missing} came back, and ${row.back} is told`);
      }
    } else if (row.approved === 0) expect(row.back === 0, `${row.back} came back of nothing`);
  }
  return wrong;
}

/** Returns what is wrong with the money that was paid once more. */
function wrongAgain(
  row: Row,
  again: readonly Again[],
  session: Session | undefined,
  reports: readonly Report[],
  isOfAnother: (programId: string) => boolean,
): string[] {
  const wrong: string[] = [];
  const expect = (holds: boolean, what: string) => void (holds || wrong.push(what));
  if (row.kind === "manual") expect(again.length === 0, "paid again by hand");
  if (row.kind === "stripe") {
    const received = session?.received ?? null;
    // Approved before anything was reported: what was received then is other money.
    const isSecond = row.approved > 0 && row.unclear === 0 && received !== null;
    expect(again.length === (isSecond ? 1 : 0), `${again.length} times paid again`);
    for (const { amount, left, currency, isSettled } of again) {
      const { refundedMicros, disputedMicros } = session!;
      expect(amount === received?.amountMicros && currency === received.currency, "another amount");
      const leftMicros = Math.max(0, amount - refundedMicros - disputedMicros);
      expect(isSettled || left === leftMicros, `${leftMicros} is left, told is ${left}`);
    }
  }
  if (row.kind === "callback") {
    const own = reports.filter(({ payment }) => payment === row.id);
    for (const { reference, amount, left, currency } of again) {
      const isReported = own.some(
        (each) =>
          each.programId === reference &&
          each.amountMicros === amount &&
          each.currency === currency,
      );
      expect(isReported && left === amount, `${reference} was never reported`);
      const isFirst = reference === row.reference;
      expect(!isFirst || (row.approved > 0 && row.unclear === 0), `${reference} is credited`);
    }
    for (const { programId } of own.filter(({ isConflict }) => isConflict)) {
      const isTold = again.some(({ reference }) => reference === programId);
      expect(isTold || isOfAnother(programId), `${programId} was refused and not told`);
    }
  }
  return wrong;
}

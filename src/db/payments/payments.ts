// Payments, their events and their transfers. Operations write them under the lock of their account.

import type { PaymentFacts } from "../../domain/alerts/payment-conditions.ts";
import { ENDED_READ_LIMIT_MS, OPEN_READ_PAUSE_MS } from "../../domain/payments/payment-reads.ts";
import type { PaymentEvent, PaymentState } from "../../domain/payments/payment-states.ts";
import { givenNames, listByFilters } from "../port/filtered-lists.ts";
import type { Page } from "../port/pages.ts";
import type { Reader, TimeWindow, Tx } from "../port/port.ts";
import { fields, query, select, selectAs, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import {
  type Payment,
  type PaymentAttachment,
  paymentAttachments,
  paymentEvents,
  payments,
  paymentTransfers,
} from "../tables/payments.ts";
import { OPEN_SURPLUS } from "./payment-surpluses.ts";

/** A payment as lists show it. */
export interface ListedPayment extends Payment {
  username: string;
  /** The address of the member who asked for it; null: erased. */
  email: string | null;
}

/** What needs the operator: a payment to approve or reject, a reversal, or a surplus. */
export const PAYMENT_NEEDS = ["waiting", "reversed", "surplus"] as const;
export type PaymentNeed = (typeof PAYMENT_NEEDS)[number];

export interface PaymentFilter {
  account: number | null;
  methodId: string | null;
  /** A state, or a need. */
  state: PaymentState | PaymentNeed | null;
  window: TimeWindow;
}

/** SQL for payments whose reversals the operator has not decided on. It is the condition of their index. */
const REVERSED = "paid_at IS NOT NULL AND refunded_micros + disputed_micros > settled_micros";

const LIST = listByFilters({
  columns: { ...fields(payments), username: text, email: nullable(text) },
  parameters: {
    below: number,
    account: number,
    methodId: text,
    state: text,
    from: number,
    to: number,
    limit: number,
  },
  conditions: {
    account: "payments.account = :account",
    methodId: "payments.method_id = :methodId",
    state: "payments.state = :state",
    waiting: "payments.awaits IS NOT NULL",
    reversed: REVERSED,
    surplus: `payments.payment_id IN (SELECT payment_id FROM payment_surpluses WHERE ${OPEN_SURPLUS})`,
    from: "payments.created_at >= :from",
    to: "payments.created_at <= :to",
  },
  text: (
    and,
  ) => `SELECT ${selectAs(payments, "payments")}, users.username AS "username", members.email AS "email"
    FROM payments JOIN users ON users.account = payments.account LEFT JOIN members ON members.id = payments.member_id
    WHERE payments.payment_id < :below${and} ORDER BY payments.payment_id DESC LIMIT :limit`,
});

/** Lists the newest payments with numbers lower than `below`. */
export function listPaymentsBelow(
  reader: Reader,
  { account, methodId, state, window: { from, to } }: PaymentFilter,
  below: number,
  limit: number,
): Page<ListedPayment> {
  const need = PAYMENT_NEEDS.find((each) => each === state);
  const filter = { account, methodId, from, to, state: need ? null : state };
  const given = [
    ...givenNames(filter, ["account", "methodId", "state", "from", "to"]),
    ...(need ? [need] : []),
  ];
  const rows = reader.all(LIST(given), { ...filter, below, limit: limit + 1 } as never);
  if (rows.length <= limit) return { rows, next: null };
  return { rows: rows.slice(0, limit), next: rows[limit - 1]!.paymentId };
}

export function findPayment(reader: Reader, id: string): Payment | undefined {
  return reader.row(payments.byId, id);
}

/** Finds a payment with its user. */
export function findListedPayment(reader: Reader, id: string): ListedPayment | undefined {
  const found = findPayment(reader, id);
  if (!found) return undefined;
  const all = { account: null, methodId: null, state: null, window: { from: null, to: null } };
  return listPaymentsBelow(reader, all, found.paymentId + 1, 1).rows[0];
}

export function findPaymentByReference(
  reader: Reader,
  methodId: string,
  reference: string,
): Payment | undefined {
  return reader.row(payments.byReference, methodId, reference);
}

const EVENTS = query({
  parameters: { paymentId: number },
  columns: fields(paymentEvents),
  text: `SELECT ${select(paymentEvents)} FROM payment_events WHERE payment_id = :paymentId ORDER BY seq`,
});

/** The events of a payment, the oldest first. */
export function listPaymentEvents(reader: Reader, paymentId: number) {
  return reader.all(EVENTS, { paymentId });
}

const EVENT_COUNT = query({
  parameters: { paymentId: number, event: text },
  columns: { events: number },
  restrictedBy: ["paymentId"],
  text: `SELECT count(*) AS "events" FROM payment_events WHERE payment_id = :paymentId AND event = :event`,
});

/** Counts the events of a payment of one kind. */
export function countPaymentEvents(reader: Reader, paymentId: number, event: PaymentEvent): number {
  return reader.one(EVENT_COUNT, { paymentId, event })!.events;
}

const TRANSFERS = query({
  parameters: { paymentId: number },
  columns: { ...fields(paymentTransfers, "seq", "kind"), amountMicros: number, createdAt: number },
  text: `SELECT ${selectAs(paymentTransfers, "payment_transfers", "seq", "kind")},
      transfers.amount_micros AS "amountMicros", transfers.created_at AS "createdAt"
    FROM payment_transfers JOIN transfers ON transfers.seq = payment_transfers.seq
    WHERE payment_id = :paymentId ORDER BY payment_transfers.seq`,
});

export function listTransfersOfPayment(reader: Reader, paymentId: number) {
  return reader.all(TRANSFERS, { paymentId });
}

const DUE = query({
  parameters: { now: number, limit: number },
  columns: fields(payments),
  text: `SELECT ${select(payments)} FROM payments
    WHERE next_read_at IS NOT NULL AND next_read_at <= :now ORDER BY next_read_at, payment_id LIMIT :limit`,
});

/** Payments to look at now, the longest due first. */
export function listDuePayments(reader: Reader, now: number, limit: number): Payment[] {
  return reader.all(DUE, { now, limit });
}

// After the clock was set back, no time to read a payment may be later than this, which is what nextReadAt gives an open
// one now. The end of one that is not read stays.
const QUARTER_OF_AGE = "(:now - created_at) / 4";
const LATEST_READ = `CASE WHEN state NOT IN ('created', 'pending') THEN :ended
    WHEN state = 'created' OR ${QUARTER_OF_AGE} > :most THEN :now + :most
    WHEN ${QUARTER_OF_AGE} < :least THEN :now + :least ELSE :now + ${QUARTER_OF_AGE} END`;
const CLAMP = statement({
  parameters: { now: number, least: number, most: number, ended: number },
  writes: [payments],
  text: `UPDATE payments SET next_read_at = ${LATEST_READ}
    WHERE next_read_at > :now + :least AND next_read_at > ${LATEST_READ}
      AND (expires_at IS NULL OR next_read_at <> expires_at)`,
});

/** Corrects the schedule after the clock was set back: no payment is read later than after its normal pause. */
export function clampPaymentSchedule(tx: Tx, now: number): void {
  const [least, most] = OPEN_READ_PAUSE_MS;
  tx.run(CLAMP, { now, least, most, ended: now + ENDED_READ_LIMIT_MS });
}

const OPEN = query({
  parameters: { account: number },
  columns: { open: number },
  text: `SELECT count(*) AS "open" FROM payments WHERE account = :account AND state IN ('created', 'pending')`,
});

/** Counts the payments of an account that are not ended. */
export function countOpenPayments(reader: Reader, account: number): number {
  return reader.one(OPEN, { account })!.open;
}

const FACTS = query({
  columns: { waiting: number, reversed: number, surplus: number },
  text: `SELECT (SELECT count(*) FROM payments WHERE awaits IS NOT NULL) AS "waiting",
    (SELECT count(*) FROM payments WHERE ${REVERSED}) AS "reversed",
    (SELECT count(DISTINCT payment_id) FROM payment_surpluses WHERE ${OPEN_SURPLUS}) AS "surplus"`,
});

/** Counts what needs the operator. */
export function readPaymentFacts(reader: Reader): PaymentFacts {
  return reader.one(FACTS)!;
}

export function findAttachment(reader: Reader, paymentId: number): PaymentAttachment | undefined {
  return reader.row(paymentAttachments.byKey, paymentId);
}

const HAS_FILE = query({
  parameters: { paymentId: number },
  columns: fields(paymentAttachments, "type", "bytes"),
  text: `SELECT ${select(paymentAttachments, "type", "bytes")} FROM payment_attachments WHERE payment_id = :paymentId`,
});

/** The file of a payment without its content. */
export function findAttachmentFacts(reader: Reader, paymentId: number) {
  return reader.one(HAS_FILE, { paymentId });
}

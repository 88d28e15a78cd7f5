// Surpluses of payments. Operations write them under the lock of their account.

import type { SurplusFacts } from "../../domain/alerts/payment-conditions.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select, selectAs } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { type PaymentSurplus, paymentSurpluses } from "../tables/payments.ts";

/** SQL for surpluses that the operator has not decided on. It is the condition of their index. */
export const OPEN_SURPLUS = "left_micros > 0 AND settled_at IS NULL";
/** Limit for the surpluses that are reported one by one, those of the oldest payments first. */
const REPORTED_LIMIT = 100;

const OF_PAYMENT = query({
  parameters: { paymentId: number },
  columns: fields(paymentSurpluses),
  restrictedBy: ["paymentId"],
  text: `SELECT ${select(paymentSurpluses)} FROM payment_surpluses WHERE payment_id = :paymentId ORDER BY surplus_id`,
});

/** The surpluses of a payment, the oldest first. */
export function listSurpluses(reader: Reader, paymentId: number): PaymentSurplus[] {
  return reader.all(OF_PAYMENT, { paymentId });
}

export function findSurplus(
  reader: Reader,
  methodId: string,
  reference: string,
): PaymentSurplus | undefined {
  return reader.row(paymentSurpluses.byReference, methodId, reference);
}

const OPEN = query({
  columns: { ...fields(paymentSurpluses), payment: text },
  text: `SELECT ${selectAs(paymentSurpluses, "payment_surpluses")}, payments.id AS "payment"
    FROM payment_surpluses JOIN payments ON payments.payment_id = payment_surpluses.payment_id
    WHERE ${OPEN_SURPLUS} ORDER BY payment_surpluses.payment_id, surplus_id LIMIT ${REPORTED_LIMIT}`,
});

/** The payments with surpluses to decide on. */
export function listSurplusFacts(reader: Reader): SurplusFacts[] {
  const byPayment = Map.groupBy(reader.all(OPEN), ({ payment }) => payment);
  return [...byPayment].map(([id, surpluses]) => ({ id, surpluses }));
}

/** Money of a method that was received and is not credited, in one currency. */
export interface Uncredited {
  methodId: string;
  currency: string;
  /** Number of payments and surpluses. */
  count: number;
  micros: number;
}

// Disputed money is not there, so it is left out.
const UNCREDITED = query({
  parameters: { from: number, to: number },
  columns: { methodId: text, currency: text, count: number, micros: number },
  text: `SELECT method_id AS "methodId", currency AS "currency", count(*) AS "count",
      CAST(sum(micros) AS BIGINT) AS "micros"
    FROM (
      SELECT method_id, received_currency AS currency,
        received_micros - refunded_micros - disputed_micros AS micros, created_at
      FROM payments WHERE paid_at IS NULL AND received_micros IS NOT NULL
      UNION ALL
      SELECT method_id, currency, left_micros, created_at FROM payment_surpluses WHERE ${OPEN_SURPLUS}
    ) AS received
    WHERE micros > 0 AND created_at BETWEEN :from AND :to
    GROUP BY method_id, currency ORDER BY method_id, currency`,
});

/** Returns what is not credited now, of the payments and surpluses of a period. */
export function listUncredited(reader: Reader, times: { from: number; to: number }): Uncredited[] {
  return reader.all(UNCREDITED, times);
}

// Checks the invariants of payments: what was credited and debited for each, once, and what its events say.

import { CREDITED_STATES, PAYMENT_STATES } from "../../domain/payments/payment-states.ts";

const quoted = (states: readonly string[]) => states.map((state) => `'${state}'`).join();

/** The sum and the number of the transfers of a payment of one kind, on the given accounts. */
const sums = (kind: string, from: string, to: string) => `
  (SELECT coalesce(sum(amount_micros), 0) FROM payment_transfers JOIN transfers ON transfers.seq = payment_transfers.seq
    WHERE payment_transfers.payment_id = payments.payment_id AND payment_transfers.kind = '${kind}'
      AND transfers.kind = '${kind}' AND debit_account = ${from} AND credit_account = ${to})`;

/**
 * Each query returns a row (subject, problem) for each violation of its rule. Older versions left a payment `refunded` by
 * a won dispute if it had been refunded only before its credit.
 */
export const PAYMENT_QUERIES: Record<string, string> = {
  "a payment is credited once, and only if it was paid": `
    SELECT 'payment ' || id AS subject,
      'it is ' || state || ', to credit are ' || credited || ' and ' || bonus || ' micros, credited were '
        || payment || ' and ' || payment_bonus || ', debited ' || reversal || ' instead of ' || reversed_micros AS problem
    FROM (
      SELECT id, state, reversed_micros,
        CASE WHEN state IN (${quoted(CREDITED_STATES)}) THEN credit_micros ELSE 0 END AS credited,
        CASE WHEN state IN (${quoted(CREDITED_STATES)}) THEN bonus_micros ELSE 0 END AS bonus,
        ${sums("payment", "1", "account")} AS payment,
        ${sums("payment_bonus", "1", "account")} AS payment_bonus,
        ${sums("payment_reversal", "account", "1")} AS reversal
      FROM payments
    ) AS summed WHERE credited <> payment OR bonus <> payment_bonus OR reversed_micros <> reversal`,
  "every transfer of a payment belongs to one": `
    SELECT 'transfer ' || seq AS subject, kind || ' of no payment' AS problem FROM transfers
    WHERE kind IN ('payment', 'payment_bonus', 'payment_reversal')
      AND NOT EXISTS (SELECT 1 FROM payment_transfers WHERE payment_transfers.seq = transfers.seq
        AND payment_transfers.kind = transfers.kind)`,
  "the events of a payment lead to its state": `
    SELECT 'payment ' || id AS subject, 'it is ' || state || ', its last event led to ' || coalesce(last, 'nothing') AS problem
    FROM (
      SELECT id, state, (SELECT to_state FROM payment_events WHERE payment_events.payment_id = payments.payment_id
        ORDER BY seq DESC LIMIT 1) AS last FROM payments
    ) AS ended WHERE coalesce(last, '') <> state OR state NOT IN (${quoted(PAYMENT_STATES)})`,
  "the state of a payment is what is reversed of it, unless the operator approved it": `
    SELECT 'payment ' || id AS subject,
      'it is ' || state || ', refunded are ' || refunded_micros || ' micros, ' || netted_micros
        || ' before the credit, disputed are ' || disputed_micros AS problem
    FROM payments WHERE state IN (${quoted(CREDITED_STATES)})
      AND NOT EXISTS (SELECT 1 FROM payment_events WHERE payment_events.payment_id = payments.payment_id
        AND event IN ('approved', 'settled', 'surplus_settled'))
      AND NOT (state = 'refunded' AND refunded_micros > 0 AND disputed_micros = 0)
      AND state <> CASE WHEN disputed_micros > 0 THEN 'disputed'
        WHEN refunded_micros > netted_micros THEN 'refunded' ELSE 'paid' END`,
  "money that was paid again is of one payment": `
    SELECT 'payment ' || payments.id AS subject, 'it has the money ' || reference || ' of another payment' AS problem
    FROM payment_surpluses JOIN payments ON payments.method_id = payment_surpluses.method_id
      AND payments.method_reference = payment_surpluses.reference
      AND payments.payment_id <> payment_surpluses.payment_id`,
  "what a payment credits is at most what was received": `
    SELECT 'payment ' || id AS subject, 'credited ' || credit_micros || ' of ' || received_micros || ' micros received' AS problem
    FROM payments WHERE state IN (${quoted(CREDITED_STATES)}) AND currency = 'USD' AND received_currency = 'USD'
      AND credit_micros > received_micros
      AND NOT EXISTS (SELECT 1 FROM payment_events WHERE payment_events.payment_id = payments.payment_id AND event = 'approved')`,
};

// An auditor that shares no code with the service: SQL on the tables alone.

import type { TestDatabase } from "./test-database.ts";
import type { TestStore } from "./stores.ts";

/** Each query lists what is off; a database in order gives no row to any of them. */
const FINDINGS = {
  "balances that are not the sum of the ledger": `
    SELECT username, balance_micros FROM users WHERE balance_micros <>
      coalesce((SELECT sum(amount_micros) FROM transfers WHERE credit_account = account), 0) -
      coalesce((SELECT sum(amount_micros) FROM transfers WHERE debit_account = account), 0)`,
  "orders whose charge is not in the ledger": `
    SELECT order_id, charge_micros FROM orders WHERE charge_micros <>
      coalesce((SELECT sum(amount_micros) FROM transfers t WHERE t.order_id = orders.order_id
        AND kind = 'order' AND debit_account = reseller_account AND credit_account = 2), 0)`,
  "orders whose refunds are not in the ledger": `
    SELECT order_id, refunded_micros FROM orders WHERE refunded_micros <>
      coalesce((SELECT sum(amount_micros) FROM transfers t WHERE t.order_id = orders.order_id
        AND kind IN ('refund', 'partial_refund')
        AND credit_account = reseller_account AND debit_account = 2), 0)`,
  "orders refunded above their charge": `
    SELECT order_id FROM orders WHERE refunded_micros > charge_micros`,
  "final orders that kept some of the charge": `
    SELECT order_id FROM orders
    WHERE status IN ('FAILED', 'CANCELLED', 'REFUNDED') AND refunded_micros <> charge_micros`,
  "orders whose events do not lead to their status": `
    SELECT order_id, status FROM orders WHERE status <> coalesce((SELECT to_status FROM order_events e
      WHERE e.order_id = orders.order_id ORDER BY seq DESC LIMIT 1),
      CASE WHEN provider_id IS NULL THEN 'PROCESSING' ELSE 'PENDING' END)`,
  "balances below 0": `SELECT username FROM users WHERE balance_micros < 0`,
};

/** What is off in a database, by name; empty when it is in order. */
export function audit(database: Pick<TestDatabase, "query">): Record<string, unknown[]> {
  const found = Object.entries(FINDINGS)
    .map(([name, sql]) => [name, database.query(sql)] as const)
    .filter(([, rows]) => rows.length > 0);
  return Object.fromEntries(found);
}

/** The same of a store on either engine. */
export async function auditStore({
  query,
}: Pick<TestStore, "query">): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [name, sql] of Object.entries(FINDINGS)) {
    const rows = await query(sql);
    if (rows.length > 0) found[name] = rows;
  }
  return found;
}

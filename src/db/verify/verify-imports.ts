// Checks what was imported from another panel: every opening transfer, and the numbers of orders.

import { OPENING_REFERENCE, openingReferenceSql } from "../../domain/imports/opening.ts";
import { ORDERS_THROUGH } from "../imports/imports.ts";

/** SQL for the user of an imported order, whose references an erasure removes. */
const IS_ERASED = "users.erased_at IS NOT NULL";

/** Each query returns a row (subject, problem) for each violation of its rule. */
export const IMPORT_QUERIES: Record<string, string> = {
  "every imported balance is one credit": `
    SELECT 'user ' || username AS subject,
      'brought along ' || imported_users.balance_micros || ' micros, credited as its opening balance were '
        || coalesce(amount_micros, 0) AS problem
    FROM imported_users JOIN users ON users.account = imported_users.account
    LEFT JOIN transfer_details AS details
      ON details.account = users.account AND details.reference = '${OPENING_REFERENCE}'
    LEFT JOIN transfers ON transfers.seq = details.seq AND kind = 'adjustment' AND debit_account = 1
    WHERE imported_users.balance_micros <> coalesce(amount_micros, 0) AND NOT ${IS_ERASED}`,
  "every imported order is paid by one credit": `
    SELECT 'order ' || orders.order_id AS subject,
      'was charged ' || charge_micros || ' micros in another panel, credited for it were '
        || coalesce(amount_micros, 0) AS problem
    FROM orders JOIN users ON users.account = orders.reseller_account
    LEFT JOIN transfer_details AS details
      ON details.account = orders.reseller_account AND details.reference = ${openingReferenceSql("orders.order_id")}
    LEFT JOIN transfers ON transfers.seq = details.seq AND kind = 'adjustment' AND debit_account = 1
    WHERE orders.order_id <= ${ORDERS_THROUGH} AND charge_micros <> coalesce(amount_micros, 0) AND NOT ${IS_ERASED}`,
  "past orders and orders have different numbers": `
    SELECT 'order ' || order_id AS subject, 'is also a past order of another panel' AS problem
    FROM orders JOIN past_orders USING (order_id)`,
  "past orders have numbers of the import": `
    SELECT 'past order ' || order_id AS subject, 'its number is above the imported ones' AS problem
    FROM past_orders WHERE order_id > ${ORDERS_THROUGH}`,
  "past orders belong to imported users": `
    SELECT 'past order ' || order_id AS subject, 'belongs to account ' || reseller_account || ', which was not imported' AS problem
    FROM past_orders LEFT JOIN imported_users ON account = reseller_account WHERE account IS NULL`,
};

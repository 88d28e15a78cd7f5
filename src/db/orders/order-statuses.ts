// Statuses of orders in SQL, as literals, so that the partial indexes of these statuses can be used.

import { OPEN_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";

/** SQL for a list of statuses: `('PENDING', 'PROCESSING')`. */
export function statusList(statuses: readonly OrderStatus[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(", ")})`;
}

/**
 * SQL condition for orders that have not ended. It repeats the condition of their partial index, so that it is used.
 */
export const OPEN_ORDER_CONDITION = `status IN ${statusList(OPEN_STATUSES)}`;

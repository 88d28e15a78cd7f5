// Orders: the limits of their fields, and their charge. Statuses: order-statuses.ts.

import { refusal } from "../values/refusals.ts";
import { TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";

export const QUANTITY_LIMIT = 1_000_000_000;
export const LINK_LENGTH_LIMIT = 2048;
export const LINK_FORM = `1 to ${LINK_LENGTH_LIMIT} characters without control characters`;
/** Limit for a caller's own name of an order. */
export const REFERENCE_LENGTH_LIMIT = 64;
/** The number of an order. */
export const ORDER_NUMBER_PATTERN = "^[1-9][0-9]{0,15}$";
/** The id of an order, a cuid2. */
export const ORDER_ID_PATTERN = "^[a-z0-9]{24}$";

/** Refuses: charge_too_large. Only a balance that refunds raised above 2^53 could pay for such an order. */
export function refuseChargeAboveLimit(chargeMicros: number): void {
  if (chargeMicros > TRANSFER_LIMIT_MICROS) throw refusal("charge_too_large");
}

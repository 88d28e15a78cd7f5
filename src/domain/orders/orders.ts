// Orders: the limits of their fields, and their charge. Statuses: order-statuses.ts.

import { refusal } from "../values/refusals.ts";
import { TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";
import { isLabel } from "../values/text.ts";

export const QUANTITY_LIMIT = 1_000_000_000;
export const LINK_LENGTH_LIMIT = 2048;
export const LINK_FORM = `1 to ${LINK_LENGTH_LIMIT} characters without control characters`;
export const REFERENCE_LENGTH_LIMIT = 64;
export const REFERENCE_FORM = `1 to ${REFERENCE_LENGTH_LIMIT} characters without control characters, leading or trailing spaces`;
/** The id of an order, a cuid2. */
export const ORDER_ID_PATTERN = "^[a-z0-9]{24}$";

/** A caller's own name for an order: 1 to 64 UTF-16 units, no control characters, no white space at its ends. */
export function isReference(text: string): boolean {
  return isLabel(text, REFERENCE_LENGTH_LIMIT);
}

/** Refuses: charge_too_large. Only a balance that refunds raised above 2^53 could pay for such an order. */
export function refuseChargeAboveLimit(chargeMicros: number): void {
  if (chargeMicros > TRANSFER_LIMIT_MICROS) throw refusal("charge_too_large");
}

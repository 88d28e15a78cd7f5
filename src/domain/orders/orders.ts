// Orders: the limits of their fields, their states, and their charge. Transitions: order-transitions.ts.

import { refusal } from "../values/refusals.ts";
import { multiplyDivideUp, TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";
import type { PriceUnit } from "../catalogue/services.ts";
import { isLabel } from "../values/text.ts";

export const QUANTITY_LIMIT = 1_000_000_000;
export const LINK_LENGTH_LIMIT = 2048;
export const LINK_FORM = `1 to ${LINK_LENGTH_LIMIT} characters without control characters`;
export const REFERENCE_LENGTH_LIMIT = 64;
export const REFERENCE_FORM = `1 to ${REFERENCE_LENGTH_LIMIT} characters without control characters or blanks round them`;
/** The id of an order, a cuid2. */
export const ORDER_ID_PATTERN = "^[a-z0-9]{24}$";

export const ORDER_STATUSES = [
  "PENDING",
  "PROCESSING",
  "COMPLETED",
  "PARTIAL",
  "FAILED",
  "CANCELLED",
  "REFUNDED",
] as const;
export type OrderStatus = (typeof ORDER_STATUSES)[number];

/** A caller's own name for an order: 1 to 64 UTF-16 units, no control characters, no white space at its ends. */
export function isReference(text: string): boolean {
  return isLabel(text, REFERENCE_LENGTH_LIMIT);
}

/**
 * The charge of an order in micros, rounded up to a whole micro; exact up to TRANSFER_LIMIT_MICROS.
 * docs/specification/ledger.md#amounts-charge.
 */
export function chargeMicros(priceMicros: number, per: PriceUnit, quantity: number): number {
  if (per === "order") return priceMicros;
  return multiplyDivideUp(priceMicros, quantity, per === "1000" ? 1000 : 1);
}

/** Refuses: charge_too_large. Only a balance that refunds raised above 2^53 could pay for such an order. */
export function refuseChargeAboveLimit(chargeMicros: number): void {
  if (chargeMicros > TRANSFER_LIMIT_MICROS) throw refusal("charge_too_large");
}

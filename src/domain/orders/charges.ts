// The charge of an order: its price times its quantity, rounded up. docs/specification/ledger.md#amounts-charge.

import { refusal } from "../values/error-table.ts";
import type { PriceUnit } from "../catalogue/services.ts";
import { multiplyDivideUp, TRANSFER_LIMIT_MICROS } from "../ledger/money.ts";

/** Returns the charge of an order, rounded up to a whole micro, exact up to TRANSFER_LIMIT_MICROS. */
export function chargeMicros(priceMicros: number, per: PriceUnit, quantity: number): number {
  if (per === "order") return priceMicros;
  return multiplyDivideUp(priceMicros, quantity, per === "1000" ? 1000 : 1);
}

/**
 * Refuses a charge above TRANSFER_LIMIT_MICROS. Only a balance that refunds raised above 2^53 could pay it. Refuses:
 * charge_too_large.
 */
export function refuseChargeAboveLimit(chargeMicros: number): void {
  if (chargeMicros > TRANSFER_LIMIT_MICROS) throw refusal("charge_too_large");
}

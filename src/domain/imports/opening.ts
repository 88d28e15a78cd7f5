// The references of the transfers that an import makes. `verify` finds them by these.
// docs/specification/imports.md#opening-transfers.

/** The reference of the credit of the balance that a user brought along. */
export const OPENING_REFERENCE = "opening balance";

const ORDER_PREFIX = "charge of imported order ";

/** Returns the reference of the credit that pays for an imported open order: what the other panel charged for it. */
export function openingReferenceOf(orderId: number): string {
  return ORDER_PREFIX + orderId;
}

/** SQL for openingReferenceOf. */
export function openingReferenceSql(orderId: string): string {
  return `'${ORDER_PREFIX}' || ${orderId}`;
}

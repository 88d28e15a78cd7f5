// The references of the transfers that an import makes. `verify` finds them by these.
// docs/specification/imports.md#opening-transfers.

/** The credit of the balance that a user brought along. */
export const OPENING_REFERENCE = "opening balance";

const ORDER_PREFIX = "charge of imported order ";

/** The credit of what an open order was charged in the other panel, which pays for the order here. */
export function openingReferenceOf(orderId: number): string {
  return ORDER_PREFIX + orderId;
}

/** SQL for openingReferenceOf. */
export function openingReferenceSql(orderId: string): string {
  return `'${ORDER_PREFIX}' || ${orderId}`;
}

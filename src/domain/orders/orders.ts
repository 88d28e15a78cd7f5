// Orders: the limits of their fields. Statuses: order-statuses.ts. Charges: charges.ts.

export const QUANTITY_LIMIT = 1_000_000_000;
export const LINK_LENGTH_LIMIT = 2048;
export const LINK_FORM = `1 to ${LINK_LENGTH_LIMIT} characters without control characters`;
/** Length limit for a caller's own reference of an order. */
export const REFERENCE_LENGTH_LIMIT = 64;
const ORDER_NUMBER = /^[1-9][0-9]{0,15}$/;

/** Returns whether the text has the form of an order's number. An order's id is a cuid2: isCuid. */
export function isOrderNumber(text: string): boolean {
  return ORDER_NUMBER.test(text);
}

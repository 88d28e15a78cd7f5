// Limits of whole requests and responses, and of the number of things that one owner may have. The limits of single
// fields are in the files of their subjects.

const BODY_LIMIT_KIB = 64;
export const BODY_LIMIT_BYTES = BODY_LIMIT_KIB * 1024;
export const BODY_LIMIT_TEXT = `${BODY_LIMIT_KIB} KiB`;

export const PAGE_DEFAULT = 50;
export const PAGE_LIMIT = 100;

/** Limit for ids in one GET /orders?ids=. */
export const IDS_LIMIT = 100;
export const IDS_FORM = `1 to ${IDS_LIMIT} order ids separated by commas`;

export const BATCH_LIMIT = 100;
export const BATCH_FORM = `a list of 1 to ${BATCH_LIMIT} orders`;

export const WEBHOOKS_LIMIT = 10;
/** Limit for earlier secrets of a webhook that still sign. */
export const EARLIER_SECRETS_LIMIT = 5;
/** Limit for the operator's alert endpoints. */
export const ALERT_ENDPOINTS_LIMIT = 10;
export const ROUTES_LIMIT = 20;

/** Matches an X-Request-Id that is accepted from the caller. */
export const REQUEST_ID_PATTERN = "^[A-Za-z0-9._-]{1,128}$";

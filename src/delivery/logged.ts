// Messages of the log that several files write. docs/operations.md explains those that need the operator.

export const SUBMISSION_UNKNOWN = "submission outcome unknown: settle it by hand";
export const NOT_SENT = "not sent; trying again later";
export const REQUEST_UNKNOWN = "request unknown: decide it by hand";
export const REQUEST_NOT_SENT = "a request was not sent; trying again later";

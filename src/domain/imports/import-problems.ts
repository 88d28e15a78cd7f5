// Why a row of another panel cannot be imported, in words for the operator. Each says what to do.
// docs/specification/imports.md#import-problems.

export const IMPORT_PROBLEMS = {
  user_is_another:
    "this user id was imported under another username: it belongs to another panel, or the user was renamed here",
  balance_differs:
    "the user was imported with another balance, which stays: something was ordered or paid in the other panel since. Import into a new database",
  username_taken:
    "a user that was not imported has this username, whatever its case: rename that user, or map this one to another username",
  service_number_taken:
    "a service that was not imported has this number: import into a new database, or give the service another number",
  service_id_taken:
    "a service that was not imported has this number as its id: give that service another id",
  provider_unknown:
    "no provider here has this name: create it first (`reseller admin provider create`), or map it to another",
  provider_inactive: "the provider is inactive: activate it first",
  key_taken: "another user has this key: give one of them a new key",
  order_number_taken: "an order that was placed here has this number: import into a new database",
  order_number_late:
    "orders were placed here since the first import, so this number may have been given: import into a new database",
  order_differs:
    "the order was imported with other values, which stay: settle it here, or import into a new database",
  service_missing:
    "no service here has this number: import the service too (inactive, if it is not sold any more)",
  provider_service_missing:
    "the provider's service is missing: give providerService, or link the service to the provider",
} as const;

export type ImportProblem = keyof typeof IMPORT_PROBLEMS;

/** What an import does with a row: writes it, or finds it written already, or refuses it. */
export type RowOutcome = "new" | "same" | ImportProblem;

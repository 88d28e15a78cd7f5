// Refusals about users and API keys.

import { entry, see } from "../values/refusal-entry.ts";
import { counted, countedWrong } from "../values/text.ts";

/** The text under /api/v2 for every refusal of a key. */
const INVALID_KEY = "Invalid API key";

/** A row of a list of users or keys that was refused. */
export interface ImportProblem {
  index: number;
  code:
    | "parent_not_found"
    | "parent_is_child"
    | "reference_of_another_amount"
    | "balance_too_large"
    | "deposits_too_large"
    | "user_not_found"
    | "child_cannot_hold_key"
    | "user_inactive";
}

export const USER_REFUSALS = {
  user_rows_invalid: entry<{ rows: ImportProblem[] }>({
    message: ({ rows }) => countedWrong(rows.length),
  }),
  reference_of_another_amount: entry({
    message: "The reference was used for another amount, or for a debit",
    hint: "choose another reference",
    fields: ["reference"],
  }),
  /** The details add the member `exists` to the response to GET /user. */
  user_not_found: entry<{ exists: false } | null>({
    status: 404,
    message: "User not found",
    commandLine: see("admin user list"),
    members: (lookup) => ({ ...lookup }),
    fields: ["username", "user", "reseller"],
    isAbsence: true,
  }),
  username_taken: entry({
    message: "A user has that name already",
    hint: "case does not count, choose another",
    fields: ["username", "name"],
  }),
  parent_not_found: entry({
    message: "Parent not found",
    hint: "create the reseller first",
    fields: ["parent"],
  }),
  parent_is_child: entry({
    message: "parent must be a reseller, not a child user",
    fields: ["parent"],
  }),
  child_cannot_hold_key: entry({
    message: "A child user cannot hold a key",
    hint: "create it for the parent",
    fields: ["username"],
  }),
  child_has_no_keys: entry({
    message: "A child user has no keys",
    hint: "deactivate its parent",
    fields: ["username"],
  }),
  child_cannot_hold_discount: entry({
    message: "A child user places no orders",
    hint: "give the discount to the parent",
  }),
  child_cannot_hold_limits: entry({
    message: "A child user places no orders",
    hint: "limit the parent",
    fields: ["username"],
  }),
  child_places_no_orders: entry({
    message: "A child user places no orders",
    hint: "place it for the parent",
    fields: ["username"],
  }),
  user_inactive: entry({
    message: "User is inactive",
    hint: "activate it first",
    commandLine: see("admin user activate"),
    fields: ["username"],
  }),
  user_erased: entry({
    message: "The personal data of the user was erased",
    hint: "it stays inactive",
    fields: ["username"],
  }),
  /** A main user must be deactivated before it is erased. */
  user_active: entry({
    message: "The user is active",
    hint: "deactivate it first",
    commandLine: see("admin user deactivate"),
    fields: ["username"],
  }),
  /** The history of a user can only be erased after the user itself. */
  user_not_erased: entry({
    message: "The user is not erased",
    hint: "erase it first",
    commandLine: see("admin user erase"),
    fields: ["username"],
  }),
  user_has_open_orders: entry<{ orders: number }>({
    message: ({ orders }) => `The user has ${counted(orders, "open order")}`,
    hint: "end them first",
    commandLine: see("admin order list --user"),
    fields: ["username"],
  }),
  user_has_open_requests: entry<{ requests: number }>({
    message: ({ requests }) =>
      `The user has ${counted(requests, "open request")} to cancel or refill an order`,
    hint: "end them first",
    commandLine: see("admin request list"),
    fields: ["username"],
  }),
  user_out_of_reach: entry({
    status: 403,
    message: "This API key may not access this user",
  }),
  api_key_missing: entry({
    status: 401,
    message: "X-API-Key header is required",
    smmApi: INVALID_KEY,
  }),
  api_key_invalid: entry({ status: 401, message: "Invalid API key", smmApi: INVALID_KEY }),
  api_key_inactive: entry({
    status: 403,
    message: "API key is inactive",
    commandLine: "activate it first, or create another with `reseller admin key create`",
    fields: ["key"],
    smmApi: INVALID_KEY,
  }),
  api_key_expired: entry({
    status: 403,
    message: "API key has expired",
    commandLine: "create another with `reseller admin key create`",
    fields: ["key"],
    smmApi: INVALID_KEY,
  }),
  api_key_address_refused: entry({
    status: 403,
    message: "This API key may not be used from this address",
    smmApi: INVALID_KEY,
  }),
  permission_denied: entry<{ permission: "order" | "recharge" | "user lookup" | "webhook" }>({
    status: 403,
    message: ({ permission }) => `This API key does not have ${permission} permission`,
    smmApi: INVALID_KEY,
  }),
  key_not_found: entry({
    message: "Key not found",
    commandLine: see("admin key list"),
    fields: ["key"],
    isAbsence: true,
  }),
  key_replaced: entry({
    message: "The key was rotated already",
    hint: "rotate the key that replaced it",
    commandLine: see("admin key list"),
    fields: ["key"],
  }),
  key_cannot_recharge: entry({
    message: "An order key cannot recharge",
    hint: "leave its limits empty",
    commandLine: "leave out --recharge-limit and --recharge-daily",
    fields: ["recharge-limit"],
  }),
};

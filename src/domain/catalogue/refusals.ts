// Refusals about services, their routes and grants, and about imports of services and grants.

import { AMOUNT_LIMIT_MICROS, formatMicros } from "../ledger/money.ts";
import { ROUTES_LIMIT } from "../values/limits.ts";
import { entry, see } from "../values/refusal-entry.ts";
import { countedWrong } from "../values/text.ts";

/** A refused row in an import of grants. `index`: the row's position. */
export interface GrantProblem {
  index: number;
  code: "service_not_found" | "user_not_found" | "child_cannot_hold_grant";
}

const IMPORT_FIELDS = ["csv", "file"];

export const CATALOGUE_REFUSALS = {
  service_not_found: entry({
    status: 400,
    message: "Service not found",
    commandLine: see("admin service list"),
    fields: ["service", "id"],
    isAbsence: true,
    smmApi: "error.incorrect_service_id",
  }),
  service_id_taken: entry({
    message: "A service has that id already",
    commandLine: "choose another, or use `reseller admin service update`",
    fields: ["id"],
  }),
  service_bounds_crossed: entry<{ min: number; max: number }>({
    message: ({ min, max }) => `min would be ${min} and max ${max}`,
    hint: "min must not be above max",
    fields: ["min", "max"],
  }),
  /** `per`: the price units that the type allows. */
  service_unit_unfit: entry<{ type: string; per: string }>({
    message: ({ type, per }) => `per must be ${per} for type ${type}`,
    fields: ["per"],
  }),
  service_dripfeed_unfit: entry({
    message: "dripfeed must be no unless the type is Default and the price per 1000 or 1",
    commandLine: "give --no-dripfeed",
    fields: ["dripfeed"],
  }),
  service_in_use: entry<{ orders: boolean; grants: number }>({
    message: ({ orders }) =>
      orders
        ? "The service has orders, which refer to it"
        : "Resellers have grants for the service",
    hint: ({ orders }) => (orders ? "deactivate it" : "revoke them first"),
    commandLine: ({ orders }) => see(`admin service ${orders ? "deactivate" : "revoke"}`),
  }),
  service_has_no_provider: entry({
    message: "The service has no provider",
    commandLine: "name one with --provider",
    fields: ["provider"],
  }),
  route_not_found: entry({
    message: "The service has no such route",
    commandLine: see("admin service route ID list"),
    fields: ["provider-service"],
  }),
  routes_too_many: entry({
    message: `A service has at most ${ROUTES_LIMIT} routes`,
    hint: "remove one first",
    fields: ["provider-service"],
  }),
  catalogue_changed: entry({
    message: "The catalogue changed at the same time",
    hint: "nothing was changed, try again",
  }),
  price_too_large: entry<{ id: string }>({
    message: ({ id }) =>
      `The price of service ${id} would pass ${formatMicros(AMOUNT_LIMIT_MICROS)} USD`,
    hint: "nothing was changed, choose a smaller percentage",
    fields: ["percent"],
  }),
  import_id_taken: entry<{ index: number }>({
    message: "id is taken by another service or an earlier row",
    fields: IMPORT_FIELDS,
  }),
  import_provider_unknown: entry<{ index: number }>({
    message: "no provider has that name",
    fields: IMPORT_FIELDS,
  }),
  import_provider_inactive: entry<{ index: number }>({
    message: "the provider is inactive",
    fields: IMPORT_FIELDS,
  }),
  import_field_missing: entry<{ index: number; field: string }>({
    message: ({ field }) => `${field} is missing, and no service has the id`,
    fields: IMPORT_FIELDS,
  }),
  import_bounds_crossed: entry<{ index: number }>({
    message: "min must not be above max",
    fields: IMPORT_FIELDS,
  }),
  import_type_unfit: entry<{ index: number }>({
    message: "per and dripfeed do not fit the service's type",
    fields: IMPORT_FIELDS,
  }),
  child_cannot_hold_grant: entry({
    message: "A child user cannot hold a grant",
    hint: "give it to the parent",
    fields: ["username"],
  }),
  grant_not_found: entry({
    message: "The user has no grant for the service",
    fields: ["username"],
  }),
  grants_invalid: entry<{ rows: GrantProblem[] }>({
    message: ({ rows }) => countedWrong(rows.length),
    fields: ["csv"],
  }),
};

// The filters of the catalogue, as its address has them.

import type { ServiceFilter } from "../../db/catalogue/service-lists.ts";
import { listProviders } from "../../db/providers/providers.ts";
import type { Reader } from "../../db/port/port.ts";
import { findUser, type User } from "../../db/users/users.ts";
import type { Form as Values } from "../../web/server/form.ts";
import { BY_HAND, KINDS } from "./service-terms.tsx";

export const STATES = ["active", "inactive"] as const;

/** Name of the box for prices below cost. */
export const BELOW_COST = "below-cost";

/** Reads the filters. `payer`: the reseller whose price list is shown. */
export function filterOf(filters: Values, reader: Reader): ServiceFilter & { payer: User | null } {
  const providers = listProviders(reader);
  const username = filters.optionalUsername("user");
  const payer = username === null ? null : findUser(reader, username);
  if (payer === undefined) filters.addError("user", "User not found");
  const state = filters.optionalChoice("state", STATES);
  const kind = filters.optionalChoice("kind", KINDS);
  const names = providers.map(({ name }) => name);
  const provider = filters.optionalChoice("provider", [BY_HAND, ...names]);
  const found = providers.find(({ name }) => name === provider);
  return {
    search: filters.optionalText("search"),
    active: state && state === "active",
    private: kind && kind === "private",
    manual: provider === BY_HAND ? true : null,
    providerId: found?.providerId ?? null,
    resellerAccount: payer?.account,
    belowCost: filters.isChecked(BELOW_COST),
    payer: payer ?? null,
  };
}

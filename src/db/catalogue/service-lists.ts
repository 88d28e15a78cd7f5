// The catalogue for the operator, by name then id, in pages: the whole catalogue, or as one reseller sees it.

import { contains, givenNames, listByFilters, lowerAscii } from "../port/filtered-lists.ts";
import type { Reader } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { findService, type Service } from "./services.ts";
import { boolean, nullable, number, text } from "../port/table-definition.ts";
import { grants, services } from "../tables/catalogue.ts";
import { users } from "../tables/users.ts";

/** Filters of the list. Absent or null means any value. */
export interface ServiceFilter {
  /** A part of the name, ignoring the case of ASCII letters, or an id. */
  search?: string | null | undefined;
  providerId?: number | null | undefined;
  /** True: only manual services. False: only services with a provider. */
  manual?: boolean | null | undefined;
  active?: boolean | null | undefined;
  private?: boolean | null | undefined;
  /** Only the services that this reseller may order, at its prices. */
  resellerAccount?: number | null | undefined;
}

export interface ListedService extends Service {
  /** The price of the reseller's grant; null: it pays the service's own price. */
  ownPriceMicros: number | null;
}

export interface ServicePage {
  rows: ListedService[];
  /** The id of the last service of this page, after which the next begins; null at the end. */
  next: string | null;
}

const FILTERS = [
  "search",
  "providerId",
  "manual",
  "active",
  "private",
  "resellerAccount",
  "after",
] as const;

const PARAMETERS = {
  search: text,
  id: text,
  providerId: number,
  manual: boolean,
  active: boolean,
  private: boolean,
  resellerAccount: number,
  afterName: text,
  after: text,
  limit: number,
};

const LIST = listByFilters({
  columns: { ...fields(services), ownPriceMicros: nullable(number) },
  parameters: { ...PARAMETERS, resellerAccount: nullable(number) },
  conditions: {
    search: (dialect) => `(${contains("services.name", ":search")(dialect)} OR services.id = :id)`,
    providerId: "services.provider_id = :providerId",
    manual: "CASE WHEN services.provider_id IS NULL THEN 1 ELSE 0 END = :manual",
    active: "services.active = :active",
    private: "services.private = :private",
    resellerAccount:
      "services.active = 1 AND (services.private = 0 OR grants.service_id IS NOT NULL)",
    after: "(services.name, services.id) > (:afterName, :after)",
  },
  text: (and) => `SELECT ${select(services)}, grants.price_micros AS "ownPriceMicros"
    FROM services
    LEFT JOIN grants ON grants.service_id = services.id AND grants.reseller_account = :resellerAccount
    WHERE TRUE${and} ORDER BY services.name, services.id LIMIT :limit`,
});

const GRANTS = query({
  parameters: { serviceId: text },
  columns: { ...fields(grants), ...fields(users, "username") },
  text: `SELECT ${select(grants)}, ${select(users, "username")}
    FROM grants JOIN users ON users.account = grants.reseller_account
    WHERE grants.service_id = :serviceId ORDER BY users.username, users.account`,
});

/**
 * Returns the services after the service `after`. Starts at the first service if `after` is null or no longer exists.
 */
export function listServicesAfter(
  reader: Reader,
  filter: ServiceFilter,
  after: string | null,
  limit: number,
): ServicePage {
  const last = after === null ? undefined : findService(reader, after);
  const given = givenNames({ ...filter, after: last?.id }, FILTERS);
  const rows = reader.all(LIST(given), {
    ...filter,
    search: lowerAscii(filter.search ?? ""),
    id: filter.search ?? "",
    resellerAccount: filter.resellerAccount ?? null,
    afterName: last?.name ?? "",
    after: last?.id ?? "",
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? shown.at(-1)!.id : null };
}

/** The grants of a service, by username: who may order it, or at what price. */
export function listGrants(reader: Reader, serviceId: string) {
  return reader.all(GRANTS, { serviceId });
}

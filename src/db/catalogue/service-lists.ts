// The catalogue for the operator in pages: the whole catalogue, or as one reseller sees it. Rates and margins are
// computed. So a list that is sorted by them, or shows only prices below cost, reads the terms of all services that
// match: at most some ten thousand.

import { type Margin, marginOf } from "../../domain/catalogue/margins.ts";
import { priceFor } from "../../domain/catalogue/prices.ts";
import type { RateUnit } from "../../domain/delivery/costs.ts";
import { contains, givenNames, listByFilters, lowerAscii } from "../port/filtered-lists.ts";
import type { Reader } from "../port/port.ts";
import { type Dialect, fields, query, select } from "../port/query.ts";
import type { User } from "../users/users.ts";
import { listProviders } from "../providers/providers.ts";
import { categoryPosition } from "./category-order.ts";
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
  /** Only services whose price, for that reseller or in the catalogue, is below the rate of their first provider. */
  belowCost?: boolean | null | undefined;
  /** With `belowCost`: as if the reseller had this discount. */
  discountPpm?: number | undefined;
}

export const SERVICE_SORTS = [
  "category",
  "name",
  "number",
  "price",
  "rate",
  "margin",
  "provider",
] as const;
export type ServiceSort = (typeof SERVICE_SORTS)[number];

export interface ServiceOrder {
  by: ServiceSort;
  descending: boolean;
}

/** By name (by code point), then id. */
export const BY_NAME: ServiceOrder = { by: "name", descending: false };

export interface ListedService extends Service {
  /** The price of the reseller's grant; null: it pays the service's own price. */
  ownPriceMicros: number | null;
}

export interface ServicePage {
  rows: ListedService[];
  /** The id of the last service of this page, after which the next begins; null at the end. */
  next: string | null;
}

const FILTERS = ["search", "providerId", "manual", "active", "private", "resellerAccount"] as const;

const PARAMETERS = {
  search: text,
  id: text,
  providerId: number,
  manual: boolean,
  active: boolean,
  private: boolean,
  resellerAccount: nullable(number),
  afterName: text,
  after: text,
  limit: number,
};

const CONDITIONS = {
  search: (dialect: Dialect) =>
    `(${contains("services.name", ":search")(dialect)} OR services.id = :id)`,
  providerId: "services.provider_id = :providerId",
  manual: "CASE WHEN services.provider_id IS NULL THEN 1 ELSE 0 END = :manual",
  active: "services.active = :active",
  private: "services.private = :private",
  resellerAccount:
    "services.active = 1 AND (services.private = 0 OR grants.service_id IS NOT NULL)",
};

const FROM = `FROM services
  LEFT JOIN grants ON grants.service_id = services.id AND grants.reseller_account = :resellerAccount`;

type StoredSort = Exclude<ServiceSort, "rate" | "margin">;

/** SQL for the values by which services are sorted; equal ones are sorted by id. `of`: the table or its alias. */
const KEYS: Record<StoredSort, (of: string) => string[]> = {
  category: (of) => [categoryPosition(of), `${of}.category`, `${of}.name`],
  name: (of) => [`${of}.name`],
  number: (of) => [`${of}.number`],
  price: (of) => [`${of}.price_micros`, `${of}.name`],
  provider: (of) => [
    `coalesce((SELECT providers.name COLLATE "binary" FROM providers WHERE providers.provider_id = ${of}.provider_id), '')`,
    `${of}.name`,
  ],
};

function orderBy(keys: readonly string[], descending: boolean): string {
  return keys.map((key) => (descending ? `${key} DESC` : key)).join(", ");
}

function listBy(by: StoredSort, descending: boolean) {
  const keys = [...KEYS[by]("services"), "services.id"];
  const last = [...KEYS[by]("last_service"), "last_service.id"];
  const isAfter = descending ? "<" : ">";
  const after =
    by === "name"
      ? "(:afterName, :after)"
      : `(SELECT ${last.join(", ")} FROM services AS last_service WHERE last_service.id = :after)`;
  return listByFilters({
    columns: { ...fields(services), ownPriceMicros: nullable(number) },
    parameters: PARAMETERS,
    conditions: { ...CONDITIONS, after: `(${keys.join(", ")}) ${isAfter} ${after}` },
    text: (and) => `SELECT ${select(services)}, grants.price_micros AS "ownPriceMicros" ${FROM}
      WHERE TRUE${and} ORDER BY ${orderBy(keys, descending)} LIMIT :limit`,
  });
}

const TERMS = ["id", "priceMicros", "per", "max", "providerId", "providerService"] as const;

/** Lists the terms of all services that match, with the last known rate of their first provider. */
function termsBy(by: StoredSort, descending: boolean) {
  return listByFilters({
    columns: {
      ...fields(services, ...TERMS),
      ownPriceMicros: nullable(number),
      rate: nullable(text),
    },
    parameters: PARAMETERS,
    conditions: CONDITIONS,
    text: (and) => `SELECT ${select(services, ...TERMS)}, grants.price_micros AS "ownPriceMicros",
        (SELECT unit || ' ' || rate FROM provider_rates WHERE provider_rates.provider_id = services.provider_id
          AND provider_rates.provider_service = services.provider_service ORDER BY after_order DESC LIMIT 1) AS "rate"
      ${FROM} WHERE TRUE${and} ORDER BY ${orderBy([...KEYS[by]("services"), "services.id"], descending)}`,
  });
}

/** The lists by each stored value, in both directions. */
const LISTS = new Map(
  (Object.keys(KEYS) as StoredSort[]).flatMap((by) =>
    [false, true].map((descending) => {
      const lists = { services: listBy(by, descending), terms: termsBy(by, descending) };
      return [nameOf({ by, descending }), lists] as const;
    }),
  ),
);

function nameOf({ by, descending }: ServiceOrder): string {
  return `${by} ${descending ? "descending" : "ascending"}`;
}

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
  order: ServiceOrder = BY_NAME,
): ServicePage {
  if (filter.belowCost || isComputed(order.by))
    return listComputed(reader, filter, after, limit, order);
  const last = after === null ? undefined : findService(reader, after);
  const given = givenNames({ ...filter, after: last?.id }, [...FILTERS, "after"]);
  const rows = reader.all(LISTS.get(nameOf(order))!.services(given), {
    ...valuesOf(filter),
    afterName: last?.name ?? "",
    after: last?.id ?? "",
    limit: limit + 1,
  });
  const shown = rows.slice(0, limit);
  return { rows: shown, next: rows.length > limit ? shown.at(-1)!.id : null };
}

function valuesOf(filter: ServiceFilter) {
  return {
    ...filter,
    search: lowerAscii(filter.search ?? ""),
    id: filter.search ?? "",
    resellerAccount: filter.resellerAccount ?? null,
  };
}

interface Computed {
  id: string;
  ownPriceMicros: number | null;
  margin: Margin | null;
}

function isComputed(by: ServiceSort): boolean {
  return by in MARGIN_VALUES;
}

/** Lists by rate or margin, or only prices below cost. */
function listComputed(
  reader: Reader,
  filter: ServiceFilter,
  after: string | null,
  limit: number,
  order: ServiceOrder,
): ServicePage {
  const stored = isComputed(order.by) ? BY_NAME : order;
  const terms = LISTS.get(nameOf(stored))!.terms(givenNames(filter, FILTERS));
  const providers = new Map(listProviders(reader).map((each) => [each.providerId, each]));
  const account = filter.resellerAccount ?? null;
  const payer = account === null ? undefined : reader.row(users.byKey, account);
  const priced = reader.all(terms, valuesOf(filter)).map((service): Computed => {
    const { id, priceMicros, ownPriceMicros, rate, providerId } = service;
    const provider = providers.get(providerId ?? 0);
    if (rate === null || !provider || provider.foreignCurrency !== null)
      return { id, ownPriceMicros, margin: null };
    const [unit, amount] = rate.split(" ") as [RateUnit, string];
    const discountPpm = filter.discountPpm ?? payer?.discountPpm ?? 0;
    const paid = priceFor(priceMicros, ownPriceMicros, discountPpm);
    const margin = marginOf(paid, service, { unit, rate: amount }, provider.rateToUsd);
    return { id, ownPriceMicros, margin };
  });
  const listed = sorted(
    filter.belowCost ? priced.filter(({ margin }) => margin?.isBelowCost) : priced,
    order,
  );
  const first = listed.findIndex(({ id }) => id === after) + 1;
  const page = listed.slice(first, first + limit);
  return {
    rows: reader.each(page, ({ id, ownPriceMicros }) => ({
      ...findService(reader, id)!,
      ownPriceMicros,
    })),
    next: first + limit < listed.length ? page.at(-1)!.id : null,
  };
}

const MARGIN_VALUES: { [By in ServiceSort]?: (margin: Margin) => number | null } = {
  rate: ({ costMicros }) => costMicros,
  margin: ({ percent }) => (percent === null ? null : Number(percent)),
};

/** Sorts by a computed value. Equal values stay in their sequence; services without a value come last. */
function sorted(services: Computed[], { by, descending }: ServiceOrder): Computed[] {
  const read = MARGIN_VALUES[by];
  if (!read) return services;
  const valueOf = ({ margin }: Computed) => margin && read(margin);
  return services.toSorted((a, b) => {
    const [left, right] = [valueOf(a), valueOf(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return descending ? right - left : left - right;
  });
}

/** Counts the services that would be sold to a reseller below cost only with the larger discount. */
export function countFallingBelowCost(
  reader: Reader,
  { account, discountPpm: before }: Pick<User, "account" | "discountPpm">,
  discountPpm: number,
): number {
  if (discountPpm <= before) return 0;
  const below = (discount: number) => {
    const filter = { resellerAccount: account, belowCost: true, discountPpm: discount };
    return listServicesAfter(reader, filter, null, Number.MAX_SAFE_INTEGER - 1).rows.length;
  };
  return below(discountPpm) - below(before);
}

/** The grants of a service, by username: who may order it, or at what price. */
export function listGrants(reader: Reader, serviceId: string) {
  return reader.all(GRANTS, { serviceId });
}

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
import type { PriceUnit } from "../../domain/catalogue/services.ts";
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

/** The terms of one service: id, price, unit of the price, maximum, provider, own price, unit of the rate, rate. */
const TERMS = `services.id || ' ' || services.price_micros || ' ' || services.per || ' ' || services.max || ' ' ||
  coalesce(CAST(services.provider_id AS TEXT), '') || ' ' || coalesce(CAST(grants.price_micros AS TEXT), '') || ' ' ||
  coalesce((SELECT unit || ' ' || rate FROM provider_rates WHERE provider_rates.provider_id = services.provider_id
    AND provider_rates.provider_service = services.provider_service ORDER BY after_order DESC LIMIT 1), '')`;

/**
 * Lists the terms of all services that match, with the last known rate of their first provider. They are one text,
 * because ten thousand rows take longer to transfer than their margins take to compute.
 */
function termsBy(by: StoredSort, descending: boolean) {
  return listByFilters({
    columns: { terms: nullable(text) },
    parameters: PARAMETERS,
    conditions: CONDITIONS,
    text: (
      and,
    ) => `SELECT string_agg(${TERMS}, ',' ORDER BY ${orderBy([...KEYS[by]("services"), "services.id"], descending)})
        AS "terms" ${FROM} WHERE TRUE${and}`,
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
  if (isComputed(filter, order))
    return readPage(reader, computePage(reader, filter, after, limit, order));
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

/** A page of a computed list, before its services are read. */
export type ComputedPage = Pick<ServicePage, "next"> & { listed: Computed[] };

/** Returns whether the list computes the margin of every service that matches. */
export function isComputed({ belowCost }: ServiceFilter, { by }: ServiceOrder): boolean {
  return belowCost === true || by in MARGIN_VALUES;
}

/** Lists by rate or margin, or only prices below cost. Otherwise like listServicesAfter. */
export function computePage(
  reader: Reader,
  filter: ServiceFilter,
  after: string | null,
  limit: number,
  order: ServiceOrder,
): ComputedPage {
  const computed = computeMargins(reader, filter, order.by in MARGIN_VALUES ? BY_NAME : order);
  const listed = sorted(
    filter.belowCost ? computed.filter(({ margin }) => margin?.isBelowCost) : computed,
    order,
  );
  const first = listed.findIndex(({ id }) => id === after) + 1;
  const page = listed.slice(first, first + limit);
  return { listed: page, next: first + limit < listed.length ? page.at(-1)!.id : null };
}

export function readPage(reader: Reader, { listed, next }: ComputedPage): ServicePage {
  const rows = reader.each(listed, ({ id, ownPriceMicros }) => {
    const service = findService(reader, id);
    return service && { ...service, ownPriceMicros };
  });
  return { rows: rows.filter((row) => row !== undefined), next };
}

/** Returns the margins of all services that match, in a stored order. */
function computeMargins(reader: Reader, filter: ServiceFilter, order: ServiceOrder): Computed[] {
  const list = LISTS.get(nameOf(order))!.terms(givenNames(filter, FILTERS));
  const providers = new Map(listProviders(reader).map((each) => [`${each.providerId}`, each]));
  const account = filter.resellerAccount ?? null;
  const payer = account === null ? undefined : reader.row(users.byKey, account);
  const discountPpm = filter.discountPpm ?? payer?.discountPpm ?? 0;
  const terms = reader.one(list, valuesOf(filter))?.terms;
  if (!terms) return [];
  return terms.split(",").map((text): Computed => {
    const [id, price, per, max, providerId, own, unit, rate] = text.split(" ") as string[];
    const ownPriceMicros = own ? Number(own) : null;
    const provider = providers.get(providerId!);
    const isKnown = rate !== undefined && provider?.foreignCurrency === null;
    const paid = priceFor(Number(price), ownPriceMicros, discountPpm);
    const sold = { per: per as PriceUnit, max: Number(max) };
    const margin = isKnown
      ? marginOf(paid, sold, { unit: unit as RateUnit, rate }, provider.rateToUsd)
      : null;
    return { id: id!, ownPriceMicros, margin };
  });
}

const MARGIN_VALUES: { [By in ServiceSort]?: (margin: Margin) => number | null } = {
  rate: ({ costMicros }) => costMicros,
  margin: ({ percent }) => (percent === null ? null : Number(percent)),
};

/** Sorts by a computed value. Equal values stay in their sequence; services without a value come last. */
function sorted(services: Computed[], { by, descending }: ServiceOrder): Computed[] {
  const read = MARGIN_VALUES[by];
  if (!read) return services;
  const direction = descending ? -1 : 1;
  const keyed = services.map((service) => {
    const value = service.margin && read(service.margin);
    return { service, key: value === null ? Infinity : direction * value };
  });
  keyed.sort((a, b) => (a.key === b.key ? 0 : a.key - b.key));
  return keyed.map(({ service }) => service);
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

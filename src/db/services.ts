// The catalogue: services, grants, and what a reseller may order at which price.

import { priceFor } from "../domain/prices.ts";
import type { ServiceType } from "../domain/service-types.ts";
import type { PriceUnit } from "../domain/services.ts";
import type { Reader, Tx } from "./port.ts";
import { fields, query, select } from "./query.ts";
import { boolean, nullable, number, text } from "./table-definition.ts";
import { catalogueVersion, grants, services, users } from "./tables.ts";

export interface Service {
  /** Given once, in the order of creation: what panels call it. */
  number: number;
  id: string;
  name: string;
  /** Under which panels list it. */
  category: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  active: boolean;
  private: boolean;
  createdAt: number;
  /** Null: a manual service. */
  providerId: number | null;
  /** Its id at the provider. */
  providerService: string | null;
  /** Of this provider among the service's routes (service-routes.ts). */
  providerPriority: number;
  /** Set by the operator: a catalogue sync does not change that field. */
  nameByHand: boolean;
  categoryByHand: boolean;
  priceByHand: boolean;
  minByHand: boolean;
  maxByHand: boolean;
  /** Deactivated by a sync because its provider no longer lists it, and none of its other routes is left. */
  delisted: boolean;
  /** Which fields its orders take. */
  type: ServiceType;
  /** Whether its orders may be drip-fed. */
  dripfeed: boolean;
  typeByHand: boolean;
  dripfeedByHand: boolean;
  /** Whether its orders can be cancelled, and refilled within `refillDays` of their end. */
  cancel: boolean;
  refill: boolean;
  refillDays: number;
  cancelByHand: boolean;
  refillByHand: boolean;
  /** Inactive because its provider is. */
  suspended: boolean;
  /** Its first route is not in the provider's list any more. */
  isRouteDelisted: boolean;
}

export type NewService = Omit<
  Service,
  "number" | "suspended" | "providerPriority" | "isRouteDelisted"
>;

/** An active service that a reseller may order, at the price that reseller pays. */
export type OpenService = Pick<
  Service,
  | "id"
  | "name"
  | "priceMicros"
  | "per"
  | "min"
  | "max"
  | "providerId"
  | "providerService"
  | "type"
  | "dripfeed"
  | "isRouteDelisted"
>;

/** One of a list, with what no order needs. */
export type ListedOpenService = Omit<OpenService, "isRouteDelisted"> &
  Pick<Service, "cancel" | "refill" | "refillDays">;

/** An open service as panels see it. */
export type NumberedService = Pick<
  Service,
  | "number"
  | "name"
  | "category"
  | "priceMicros"
  | "per"
  | "min"
  | "max"
  | "type"
  | "dripfeed"
  | "cancel"
  | "refill"
>;

export interface Grant {
  serviceId: string;
  resellerAccount: number;
  /** Null: the service's own price. */
  priceMicros: number | null;
  createdAt: number;
}

/** What a list of open services depends on: while both are unchanged, so is the list. */
export interface CatalogueState {
  /** Grows with every change of services and grants that affects such a list. */
  version: number;
  /** All resellers without grants and without a discount have the same list. */
  hasOwnPrices: boolean;
}

const STATE = query({
  takes: { account: number },
  gives: { ...fields(catalogueVersion, "version"), hasOwnPrices: boolean },
  text: `SELECT version, CASE WHEN EXISTS (SELECT 1 FROM grants WHERE reseller_account = :account)
      OR EXISTS (SELECT 1 FROM users WHERE account = :account AND discount_ppm > 0)
      THEN 1 ELSE 0 END AS "hasOwnPrices"
    FROM catalogue_version`,
});

const ALL = query({
  gives: fields(services),
  text: `SELECT ${select(services)} FROM services ORDER BY name, id`,
});

const OF_PROVIDER = query({
  takes: { providerId: number },
  gives: fields(services),
  text: `SELECT ${select(services)} FROM services
    WHERE provider_id = :providerId AND provider_id IS NOT NULL ORDER BY name, id`,
});

const OF_OPEN_SERVICES = `FROM services
    LEFT JOIN grants ON grants.service_id = services.id AND grants.reseller_account = :account
    WHERE services.active = 1 AND (services.private = 0 OR grants.service_id IS NOT NULL)`;
/** What priceFor makes a price of. */
const PRICES = { listPriceMicros: number, ownPriceMicros: nullable(number) };
const PRICE_PARTS = `services.price_micros AS "listPriceMicros", grants.price_micros AS "ownPriceMicros"`;

const OPEN = query({
  takes: { account: number },
  gives: {
    ...fields(
      services,
      "id",
      "name",
      "per",
      "min",
      "max",
      "providerId",
      "providerService",
      "type",
      "dripfeed",
      "cancel",
      "refill",
      "refillDays",
    ),
    ...PRICES,
  },
  text: `SELECT ${select(services, "id", "name", "per", "min", "max", "providerId", "providerService", "type", "dripfeed", "cancel", "refill", "refillDays")},
      ${PRICE_PARTS} ${OF_OPEN_SERVICES}
    ORDER BY services.name, services.id`,
});

const NUMBERED_FIELDS = [
  "number",
  "name",
  "category",
  "per",
  "min",
  "max",
  "type",
  "dripfeed",
  "cancel",
  "refill",
] as const;

const NUMBERED = query({
  takes: { account: number },
  gives: { ...fields(services, ...NUMBERED_FIELDS), ...PRICES },
  text: `SELECT ${select(services, ...NUMBERED_FIELDS)},
      ${PRICE_PARTS} ${OF_OPEN_SERVICES}
    ORDER BY services.category, services.number`,
});

const IDS = query({
  gives: fields(services, "id"),
  text: `SELECT ${select(services, "id")} FROM services`,
});

// No index has the services of orders: an order would pay for it, and a service is rarely deleted.
const USES = query({
  takes: { id: text },
  gives: { orders: boolean, grants: number },
  text: `SELECT CASE WHEN EXISTS (SELECT 1 FROM orders WHERE service_id = :id) THEN 1 ELSE 0 END AS "orders",
    (SELECT count(*) FROM grants WHERE service_id = :id) AS "grants"`,
});

export function listServiceIds(reader: Reader): Set<string> {
  return new Set(reader.all(IDS).map(({ id }) => id));
}

/** What refers to a service. Reads every order where none does. */
export function readServiceUses(reader: Reader, id: string): { orders: boolean; grants: number } {
  return reader.one(USES, { id })!;
}

export function findService(reader: Reader, id: string): Service | undefined {
  return reader.row(services.byKey, id);
}

/** The whole catalogue, by name then id, names by code point. */
export function listServices(reader: Reader): Service[] {
  return reader.all(ALL);
}

/** By name then id, inactive ones too. */
export function listServicesOfProvider(reader: Reader, providerId: number): Service[] {
  return reader.all(OF_PROVIDER, { providerId });
}

/** Whose prices: a reseller's own account. */
export interface Payer {
  account: number;
  discountPpm: number;
}

/**
 * Undefined when the service is unknown, inactive or not open to this reseller.
 * Two lookups, 1 µs: SQLite prepares a join of the two again at each run, because its plan depends on the bound values:
 * 7 to 15 µs.
 */
export function findOpenService(
  reader: Reader,
  { account, discountPpm }: Payer,
  id: string,
): OpenService | undefined {
  const service = reader.row(services.byKey, id);
  if (!service?.active) return undefined;
  const grant = reader.row(grants.byKey, id, account);
  if (service.private && !grant) return undefined;
  return {
    id,
    name: service.name,
    priceMicros: priceFor(service.priceMicros, grant?.priceMicros, discountPpm),
    per: service.per,
    min: service.min,
    max: service.max,
    providerId: service.providerId,
    providerService: service.providerService,
    type: service.type,
    dripfeed: service.dripfeed,
    isRouteDelisted: service.isRouteDelisted,
  };
}

/** By the service's number, and without the discount: no look-up by number charges anything. */
export function findOpenServiceByNumber(
  reader: Reader,
  account: number,
  serviceNumber: number,
): OpenService | undefined {
  const service = reader.row(services.byNumber, serviceNumber);
  return service && findOpenService(reader, { account, discountPpm: 0 }, service.id);
}

export function findCatalogueState(reader: Reader, account: number): CatalogueState {
  return reader.one(STATE, { account })!;
}

/** By name then id, names by code point. */
export function listOpenServices(reader: Reader, account: number): ListedOpenService[] {
  const { discountPpm } = payerOf(reader, account);
  return reader.all(OPEN, { account }).map((service) => priced(service, discountPpm));
}

/** By category, then in the order of creation. */
export function listNumberedServices(reader: Reader, account: number): NumberedService[] {
  const { discountPpm } = payerOf(reader, account);
  return reader.all(NUMBERED, { account }).map((service) => priced(service, discountPpm));
}

function payerOf(reader: Reader, account: number): Payer {
  return reader.row(users.byKey, account)!;
}

function priced<Row extends { listPriceMicros: number; ownPriceMicros: number | null }>(
  { listPriceMicros, ownPriceMicros, ...service }: Row,
  discountPpm: number,
) {
  return { ...service, priceMicros: priceFor(listPriceMicros, ownPriceMicros, discountPpm) };
}

/** Returns the service as it is in the table, with its number. */
export function insertService(tx: Tx, service: NewService): Service {
  return tx.insert(services, service);
}

/** Writes the fields that differ; returns the service as it is now. */
export function updateService(tx: Tx, service: Service): Service {
  return tx.update(services, service, service);
}

/** Only one that nothing refers to. */
export function deleteService(tx: Tx, service: Service): void {
  tx.delete(services, service);
}

/** `before`: the grant that there is. */
export function putGrant(tx: Tx, before: Grant | undefined, grant: Grant): Grant {
  return before ? tx.update(grants, before, grant) : tx.insert(grants, grant);
}

export function deleteGrant(tx: Tx, grant: Grant): void {
  tx.delete(grants, grant);
}

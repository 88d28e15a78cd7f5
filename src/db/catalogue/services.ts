// The catalogue: services, grants, and what a reseller may order at what price.

import { priceFor } from "../../domain/catalogue/prices.ts";
import type { ServiceType } from "../../domain/catalogue/service-types.ts";
import type { PriceUnit } from "../../domain/catalogue/services.ts";
import type { Reader, Tx } from "../port/port.ts";
import { categoryPosition } from "./category-order.ts";
import { fields, query, select } from "../port/query.ts";
import { boolean, nullable, number, text } from "../port/table-definition.ts";
import { catalogueVersion, grants, services } from "../tables/catalogue.ts";
import { users } from "../tables/users.ts";

export interface Service {
  /** Its number under /api/v2. Issued in the order of creation and never reused. */
  number: number;
  id: string;
  name: string;
  /** The category under which /api/v2 lists it. */
  category: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  active: boolean;
  private: boolean;
  createdAt: number;
  /** The provider of its first route; null: a manual service. */
  providerId: number | null;
  /** The service's id at that provider. */
  providerService: string | null;
  /** Priority of the first route among the service's routes (service-routes.ts). */
  providerPriority: number;
  /** `…ByHand`: the operator set that field, so a catalogue sync does not change it. */
  nameByHand: boolean;
  categoryByHand: boolean;
  priceByHand: boolean;
  minByHand: boolean;
  maxByHand: boolean;
  /** Deactivated by a sync because its provider no longer lists it and no other route is left. */
  delisted: boolean;
  /** Decides which fields its orders take. */
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
  /** Inactive because its provider is inactive. */
  suspended: boolean;
  /** The provider of its first route no longer lists it. */
  routeDelisted: boolean;
}

/** A new service. It gets the next number, unless an import gives it its number in another panel. */
export type NewService = Omit<
  Service,
  "number" | "suspended" | "providerPriority" | "routeDelisted"
> & { number?: number };

/** An active service that a reseller may order, at that reseller's price. */
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
  | "routeDelisted"
>;

/** An open service in a list, with fields that placing an order does not need. */
export type ListedOpenService = Omit<OpenService, "routeDelisted"> &
  Pick<Service, "cancel" | "refill" | "refillDays">;

/** An open service as /api/v2 lists it. */
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
  /** Null: the list price applies. */
  priceMicros: number | null;
  createdAt: number;
}

/** The state that a list of open services depends on. While both fields stay the same, so does the list. */
export interface CatalogueState {
  /** Grows with every change of services and grants that affects such a list. */
  version: number;
  /** Whether the reseller has grants or a discount. All resellers without them have the same list. */
  hasOwnPrices: boolean;
}

const STATE = query({
  parameters: { account: number },
  columns: { ...fields(catalogueVersion, "version"), hasOwnPrices: boolean },
  text: `SELECT version, CASE WHEN EXISTS (SELECT 1 FROM grants WHERE reseller_account = :account)
      OR EXISTS (SELECT 1 FROM users WHERE account = :account AND discount_ppm > 0)
      THEN 1 ELSE 0 END AS "hasOwnPrices"
    FROM catalogue_version`,
});

const ALL = query({
  columns: fields(services),
  text: `SELECT ${select(services)} FROM services ORDER BY name, id`,
});

const OF_PROVIDER = query({
  parameters: { providerId: number },
  columns: fields(services),
  text: `SELECT ${select(services)} FROM services
    WHERE provider_id = :providerId AND provider_id IS NOT NULL ORDER BY name, id`,
});

const OF_OPEN_SERVICES = `FROM services
    LEFT JOIN grants ON grants.service_id = services.id AND grants.reseller_account = :account
    WHERE services.active = 1 AND (services.private = 0 OR grants.service_id IS NOT NULL)`;
/** The input of priceFor. */
const PRICES = { listPriceMicros: number, ownPriceMicros: nullable(number) };
const PRICE_PARTS = `services.price_micros AS "listPriceMicros", grants.price_micros AS "ownPriceMicros"`;

const OPEN = query({
  parameters: { account: number },
  columns: {
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
  parameters: { account: number },
  columns: { ...fields(services, ...NUMBERED_FIELDS), ...PRICES },
  text: `SELECT ${select(services, ...NUMBERED_FIELDS)},
      ${PRICE_PARTS} ${OF_OPEN_SERVICES}
    ORDER BY ${categoryPosition("services")}, services.category, services.number`,
});

const IDS = query({
  columns: fields(services, "id"),
  text: `SELECT ${select(services, "id")} FROM services`,
});

// Reads all orders if none refers to the service. An index would slow down every new order, and services are rarely
// deleted.
const USES = query({
  parameters: { id: text },
  columns: { orders: boolean, grants: number },
  text: `SELECT CASE WHEN EXISTS (SELECT 1 FROM orders WHERE service_id = :id) THEN 1 ELSE 0 END AS "orders",
    (SELECT count(*) FROM grants WHERE service_id = :id) AS "grants"`,
});

export function listServiceIds(reader: Reader): Set<string> {
  return new Set(reader.all(IDS).map(({ id }) => id));
}

export function readServiceUses(reader: Reader, id: string): { orders: boolean; grants: number } {
  return reader.one(USES, { id })!;
}

export function findService(reader: Reader, id: string): Service | undefined {
  return reader.row(services.byKey, id);
}

/** Lists the whole catalogue by name (by code point), then id. */
export function listServices(reader: Reader): Service[] {
  return reader.all(ALL);
}

/** Lists services whose first route is to the provider, by name then id, including inactive ones. */
export function listServicesOfProvider(reader: Reader, providerId: number): Service[] {
  return reader.all(OF_PROVIDER, { providerId });
}

/** The reseller whose prices apply, never a test account. */
export interface Payer {
  account: number;
  discountPpm: number;
}

/**
 * Finds a service that a reseller may order. Returns undefined if it is unknown, inactive or not open to this reseller.
 * Makes two look-ups (1 µs) instead of a join (7 to 15 µs), which SQLite would prepare again at each run, because its
 * plan depends on the bound values.
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
    routeDelisted: service.routeDelisted,
  };
}

/** Finds an open service by its number. Ignores the discount, because no look-up by number charges anything. */
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

/** The services that a reseller may order, by name (by code point), then id. */
export function listOpenServices(reader: Reader, account: number): ListedOpenService[] {
  const { discountPpm } = requirePayer(reader, account);
  return reader.all(OPEN, { account }).map((service) => priced(service, discountPpm));
}

/** The services that a reseller may order, by category as the operator ordered them, then in the order of creation. */
export function listNumberedServices(reader: Reader, account: number): NumberedService[] {
  const { discountPpm } = requirePayer(reader, account);
  return reader.all(NUMBERED, { account }).map((service) => priced(service, discountPpm));
}

function requirePayer(reader: Reader, account: number): Payer {
  return reader.row(users.byKey, account)!;
}

function priced<Row extends { listPriceMicros: number; ownPriceMicros: number | null }>(
  { listPriceMicros, ownPriceMicros, ...service }: Row,
  discountPpm: number,
) {
  return { ...service, priceMicros: priceFor(listPriceMicros, ownPriceMicros, discountPpm) };
}

/** Inserts a service. Returns it with its number. */
export function insertService(tx: Tx, service: NewService): Service {
  return tx.insert(services, service);
}

/** Writes the fields that differ. Returns the updated service. */
export function updateService(tx: Tx, service: Service): Service {
  return tx.update(services, service, service);
}

/** Deletes a service that nothing refers to. */
export function deleteService(tx: Tx, service: Service): void {
  tx.delete(services, service);
}

/** Inserts a grant, or updates the existing grant `before`. */
export function putGrant(tx: Tx, before: Grant | undefined, grant: Grant): Grant {
  return before ? tx.update(grants, before, grant) : tx.insert(grants, grant);
}

export function deleteGrant(tx: Tx, grant: Grant): void {
  tx.delete(grants, grant);
}

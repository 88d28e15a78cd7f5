// The catalogue: services, grants, and what a reseller may order at which price.

import { and, asc, eq, isNotNull, or, sql } from "drizzle-orm";
import type { PriceUnit } from "../domain/services.ts";
import { type Connection, prepared, type Tx } from "./sqlite/connection.ts";
import { selectList } from "./raw-rows.ts";
import { grants, services } from "./schema.ts";

export interface Service {
  id: string;
  name: string;
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
  /** Set by the operator: a catalogue sync does not change that field. */
  nameByHand: boolean;
  priceByHand: boolean;
  minByHand: boolean;
  maxByHand: boolean;
  /** Deactivated by a sync because its provider no longer lists it. */
  delisted: boolean;
}

/** An active service that a reseller may order, at the price that reseller pays. */
export type OpenService = Pick<
  Service,
  "id" | "name" | "priceMicros" | "per" | "min" | "max" | "providerId" | "providerService"
>;

type Terms = Omit<OpenService, "id"> & { active: number; private: number };

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
  /** All resellers without grants have the same list. */
  hasGrants: boolean;
}

const queries = prepared((orm, sqlite) => {
  const isOpen = and(
    eq(services.active, true),
    or(eq(services.private, false), isNotNull(grants.serviceId)),
  );
  const isGrant = and(
    eq(grants.serviceId, sql.placeholder("serviceId")),
    eq(grants.resellerAccount, sql.placeholder("resellerAccount")),
  );
  const values = {
    name: sql.placeholder("name"),
    priceMicros: sql.placeholder("priceMicros"),
    per: sql.placeholder("per"),
    min: sql.placeholder("min"),
    max: sql.placeholder("max"),
    active: sql.placeholder("active"),
    private: sql.placeholder("private"),
    providerId: sql.placeholder("providerId"),
    providerService: sql.placeholder("providerService"),
    nameByHand: sql.placeholder("nameByHand"),
    priceByHand: sql.placeholder("priceByHand"),
    minByHand: sql.placeholder("minByHand"),
    maxByHand: sql.placeholder("maxByHand"),
    delisted: sql.placeholder("delisted"),
  };
  return {
    // Raw: drizzle's mapping would cost more than the lookup, which every GET /services makes.
    state: sqlite.query<{ version: number; hasGrants: number }, [number]>(
      `SELECT version, EXISTS (SELECT 1 FROM grants WHERE reseller_account = ?) AS hasGrants
       FROM catalogue_version`,
    ),
    byId: orm
      .select()
      .from(services)
      .where(eq(services.id, sql.placeholder("id")))
      .prepare(),
    // Raw: every order looks it up.
    orderTerms: sqlite.query<Terms, [string]>(
      `SELECT ${selectList({
        name: services.name,
        priceMicros: services.priceMicros,
        per: services.per,
        min: services.min,
        max: services.max,
        active: services.active,
        private: services.private,
        providerId: services.providerId,
        providerService: services.providerService,
      })} FROM services WHERE id = ?`,
    ),
    grantedPrice: sqlite.query<Pick<Grant, "priceMicros">, [string, number]>(
      `SELECT ${selectList({ priceMicros: grants.priceMicros })} FROM grants
       WHERE service_id = ? AND reseller_account = ?`,
    ),
    ofProvider: orm
      .select()
      .from(services)
      .where(
        sql`${services.providerId} = ${sql.placeholder("providerId")} AND ${services.providerId} IS NOT NULL`,
      )
      .orderBy(asc(services.name), asc(services.id))
      .prepare(),
    all: orm.select().from(services).orderBy(asc(services.name), asc(services.id)).prepare(),
    open: orm
      .select({
        id: services.id,
        name: services.name,
        priceMicros: sql<number>`coalesce(${grants.priceMicros}, ${services.priceMicros})`,
        per: services.per,
        min: services.min,
        max: services.max,
        providerId: services.providerId,
        providerService: services.providerService,
      })
      .from(services)
      .leftJoin(
        grants,
        and(
          eq(grants.serviceId, services.id),
          eq(grants.resellerAccount, sql.placeholder("account")),
        ),
      )
      .where(isOpen)
      .orderBy(asc(services.name), asc(services.id))
      .prepare(),
    insert: orm
      .insert(services)
      .values({
        ...values,
        id: sql.placeholder("id"),
        createdAt: sql.placeholder("createdAt"),
      })
      .prepare(),
    update: orm
      .update(services)
      .set(
        Object.fromEntries(Object.entries(values).map(([field, value]) => [field, sql`${value}`])),
      )
      .where(eq(services.id, sql.placeholder("id")))
      .prepare(),
    grant: orm.select().from(grants).where(isGrant).prepare(),
    putGrant: orm
      .insert(grants)
      .values({
        serviceId: sql.placeholder("serviceId"),
        resellerAccount: sql.placeholder("resellerAccount"),
        priceMicros: sql.placeholder("priceMicros"),
        createdAt: sql.placeholder("createdAt"),
      })
      .onConflictDoUpdate({
        target: [grants.serviceId, grants.resellerAccount],
        set: { priceMicros: sql`excluded.price_micros` },
      })
      .prepare(),
    deleteGrant: orm.delete(grants).where(isGrant).prepare(),
  };
});

export function findService(connection: Connection, id: string): Service | undefined {
  return queries(connection).byId.get({ id });
}

/** The whole catalogue, by name then id, names by code point. */
export function listServices(connection: Connection): Service[] {
  return queries(connection).all.all();
}

/** By name then id, inactive ones too. */
export function listServicesOfProvider(connection: Connection, providerId: number): Service[] {
  return queries(connection).ofProvider.all({ providerId });
}

/**
 * Undefined when the service is unknown, inactive or not open to this reseller.
 * Two lookups, 1 µs: SQLite prepares a join of the two again at each run, because its plan depends on the bound values:
 * 7 to 15 µs.
 */
export function findOpenService(
  connection: Connection,
  account: number,
  id: string,
): OpenService | undefined {
  const { orderTerms, grantedPrice } = queries(connection);
  const service = orderTerms.get(id);
  if (!service || service.active === 0) return undefined;
  const grant = grantedPrice.get(id, account);
  if (service.private === 1 && !grant) return undefined;
  const { name, per, min, max, providerId, providerService } = service;
  const priceMicros = grant?.priceMicros ?? service.priceMicros;
  return { id, name, priceMicros, per, min, max, providerId, providerService };
}

export function findCatalogueState(connection: Connection, account: number): CatalogueState {
  const { version, hasGrants } = queries(connection).state.get(account)!;
  return { version, hasGrants: hasGrants === 1 };
}

/** By name then id, names by code point. */
export function listOpenServices(connection: Connection, account: number): OpenService[] {
  return queries(connection).open.all({ account });
}

export function insertService(tx: Tx, service: Service): void {
  queries(tx).insert.run(row(service));
}

/** Writes every field of the service but its id and its creation time. */
export function updateService(tx: Tx, service: Service): void {
  queries(tx).update.run(row(service));
}

export function findGrant(
  connection: Connection,
  serviceId: string,
  resellerAccount: number,
): Grant | undefined {
  return queries(connection).grant.get({ serviceId, resellerAccount });
}

/** Inserts the grant, or replaces its price. */
export function putGrant(tx: Tx, grant: Grant): void {
  queries(tx).putGrant.run({ ...grant });
}

export function deleteGrant(tx: Tx, serviceId: string, resellerAccount: number): void {
  queries(tx).deleteGrant.run({ serviceId, resellerAccount });
}

/** Booleans as SQLite stores them. */
function row(service: Service): Record<string, string | number | null> {
  return Object.fromEntries(
    Object.entries(service).map(([field, value]) => [
      field,
      typeof value === "boolean" ? Number(value) : value,
    ]),
  );
}

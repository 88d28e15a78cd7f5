// The catalogue: creates, changes and deletes services, and grants them to resellers.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { REFILL_DAYS_DEFAULT } from "../../domain/orders/order-requests.ts";
import {
  DEFAULT_CATEGORY,
  type PriceChange,
  type PriceUnit,
} from "../../domain/catalogue/services.ts";
import {
  DEFAULT_SERVICE_TYPE,
  fitsUnit,
  mayDripFeed,
  refuseUnfitType,
  type ServiceType,
  standardUnit,
} from "../../domain/catalogue/service-types.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import {
  findService,
  type Grant,
  readServiceUses,
  type Service,
} from "../../db/catalogue/services.ts";
import { grants } from "../../db/tables/catalogue.ts";
import { deleteRoutes, listSupersededRoutes } from "../../db/catalogue/service-routes.ts";
import { audit, auditService } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireProvider } from "../providers/providers.ts";
import {
  addService,
  removeService,
  changeGrant,
  changeService,
  listServiceListeners,
  removeGrant,
  type ServiceListeners,
} from "./service-changes.ts";
import { requireUser } from "../users/users.ts";

/** The fields of a service, well formed: name, price and bounds have been checked, and min is not above max. */
export interface ServiceTerms {
  /** Null: a new service, which gets a generated id. */
  id: string | null;
  name: string;
  /** Absent for a new service: DEFAULT_CATEGORY, until a sync or the operator sets another. */
  category?: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  private: boolean;
  /** Absent for a new service: the default type, until a sync or the operator sets another. */
  type?: ServiceType;
  /** Absent for a new service: false, until a sync or the operator sets true. */
  dripfeed?: boolean;
  /** Absent for a new service: no cancellation, no refill, and REFILL_DAYS_DEFAULT. */
  cancel?: boolean;
  refill?: boolean;
  refillDays?: number;
  /** Absent: true. */
  active?: boolean;
  /** Null or absent: a manual service. */
  provider?: ServiceProvider | null;
}

export interface CreateService extends ServiceTerms {
  /** Its number in another panel, which must be free; absent: the next number. */
  number?: number;
  actor: Actor;
}

/** The provider of a service, and the service's id there. */
export interface ServiceProvider {
  name: string;
  service: string;
}

/**
 * Creates a service. Its fields count as set by hand: a catalogue sync does not change them.
 * Refuses: service_id_taken, provider_not_found, provider_inactive, service_unit_unfit, service_dripfeed_unfit.
 */
export function createService(tx: Tx, command: CreateService, context: Context): Service {
  return create(tx, command, listServiceListeners(tx, context), context);
}

/** Runs createService with listeners that were read once for many services. */
export function create(
  tx: Tx,
  command: CreateService,
  listeners: ServiceListeners,
  context: Context,
): Service {
  const { provider, actor, category, active, type = DEFAULT_SERVICE_TYPE, ...fields } = command;
  const { dripfeed = false, per } = command;
  const id = command.id ?? context.createId();
  if (findService(tx, id)) throw refusal("service_id_taken");
  const itsProvider = resolveProvider(tx, provider);
  refuseUnfitType({ type, per, dripfeed });
  const added = {
    ...fields,
    ...itsProvider,
    type,
    dripfeed,
    typeByHand: command.type !== undefined,
    dripfeedByHand: command.dripfeed !== undefined,
    id,
    category: category ?? DEFAULT_CATEGORY,
    active: active ?? true,
    createdAt: context.now,
    nameByHand: true,
    categoryByHand: category !== undefined,
    priceByHand: true,
    minByHand: true,
    maxByHand: true,
    delisted: false,
    cancel: command.cancel ?? false,
    refill: command.refill ?? false,
    refillDays: command.refillDays ?? REFILL_DAYS_DEFAULT,
    cancelByHand: command.cancel !== undefined,
    refillByHand: command.refill !== undefined,
  };
  const service = addService(tx, listeners, added, context);
  auditService(tx, context, actor, "service.create", null, service);
  return service;
}

export interface UpdateService {
  id: string;
  /** Absent fields stay as they are. */
  changes: Partial<Omit<ServiceTerms, "id" | "provider">>;
  /** Undefined: unchanged. Null: the service becomes manual. Without a name: another service of the same provider. */
  provider?: { name?: string; service: string } | null;
  actor: Actor;
}

/**
 * Changes a service. Existing orders keep the terms under which they were placed. The changed fields count as set by
 * hand. Refuses: service_not_found, service_bounds_crossed, service_has_no_provider, provider_not_found,
 * provider_inactive, service_unit_unfit, service_dripfeed_unfit.
 */
export function updateService(tx: Tx, command: UpdateService, context: Context): Service {
  const before = requireService(tx, command.id);
  const service = applyChanges(tx, before, command.changes, command.provider);
  const superseded = listSupersededRoutes(tx, before, service);
  changeService(tx, listServiceListeners(tx, context), before, service, context);
  deleteRoutes(tx, superseded);
  auditService(tx, context, command.actor, "service.update", before, service);
  return service;
}

/** Returns the service as it would be after the changes. Refuses what updateService refuses for an existing service. */
export function applyChanges(
  tx: Reader,
  before: Service,
  changes: UpdateService["changes"],
  provider: UpdateService["provider"],
): Service {
  const service = { ...before, ...changes, ...changeProvider(tx, before, provider) };
  const { min, max } = service;
  if (min > max) throw new Refusal("service_bounds_crossed", { min, max });
  followType(service, changes);
  refuseUnfitType(service);
  service.nameByHand ||= changes.name !== undefined;
  service.categoryByHand ||= changes.category !== undefined;
  service.priceByHand ||= changes.priceMicros !== undefined || changes.per !== undefined;
  service.priceByHand ||= service.per !== before.per;
  service.minByHand ||= changes.min !== undefined;
  service.maxByHand ||= changes.max !== undefined;
  service.typeByHand ||= changes.type !== undefined;
  service.dripfeedByHand ||= changes.dripfeed !== undefined;
  service.cancelByHand ||= changes.cancel !== undefined;
  service.refillByHand ||= changes.refill !== undefined;
  return service;
}

/** Applies what a new type requires: a price unit that fits it, and no drip-feed if the type cannot have one. */
function followType(service: Service, changes: UpdateService["changes"]): void {
  if (changes.per === undefined && !fitsUnit(service)) service.per = standardUnit(service.type);
  if (changes.dripfeed === undefined && !mayDripFeed(service)) service.dripfeed = false;
}

export interface DeleteService {
  id: string;
  actor: Actor;
}

/** Deletes a service. Its number is not given again. Refuses: service_not_found, service_in_use. */
export function deleteService(tx: Tx, command: DeleteService, context: Context): null {
  const service = requireService(tx, command.id);
  const uses = readServiceUses(tx, service.id);
  if (uses.orders || uses.grants > 0) throw new Refusal("service_in_use", uses);
  const listeners = listServiceListeners(tx, context);
  // Nothing is refused from here on.
  removeService(tx, listeners, service, context);
  auditService(tx, context, command.actor, "service.delete", service, null);
  return null;
}

export interface ChangePrices {
  /** The changes that the operator confirmed. They are made only if every price still equals its `before`. */
  prices: PriceChange[];
  actor: Actor;
}

/** Changes prices, which then count as set by hand. Refuses: service_not_found, catalogue_changed. */
export function changePrices(tx: Tx, command: ChangePrices, context: Context): { changed: number } {
  const found = tx.each(command.prices, ({ id }) => requireService(tx, id));
  const isSame = ({ before }: PriceChange, at: number) => found[at]!.priceMicros === before;
  if (!command.prices.every(isSame)) throw refusal("catalogue_changed");
  // Nothing is refused from here on.
  const listeners = listServiceListeners(tx, context);
  tx.each(command.prices, ({ after }, at) => {
    const before = found[at]!;
    const service = { ...before, priceMicros: after, priceByHand: true };
    changeService(tx, listeners, before, service, context);
    auditService(tx, context, command.actor, "service.update", before, service);
  });
  return { changed: command.prices.length };
}

export interface GrantService {
  id: string;
  username: string;
  /** Null: the list price applies. */
  priceMicros: number | null;
  actor: Actor;
}

/**
 * Grants a service to a reseller. Granting it again replaces the price.
 * Refuses: service_not_found, user_not_found, child_cannot_hold_grant.
 */
export function grantService(tx: Tx, command: GrantService, context: Context): Grant {
  const service = requireService(tx, command.id);
  const user = requireUser(tx, command.username);
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_grant");
  const before = tx.row(grants.byKey, service.id, user.account);
  const given = {
    serviceId: service.id,
    resellerAccount: user.account,
    priceMicros: command.priceMicros,
    createdAt: before?.createdAt ?? context.now,
  };
  const grant = changeGrant(tx, service, before, given, context);
  auditGrant(tx, context, command.actor, before ?? null, grant);
  return grant;
}

export interface RevokeService {
  id: string;
  username: string;
  actor: Actor;
}

/** Withdraws a grant. Refuses: service_not_found, user_not_found, grant_not_found. */
export function revokeService(tx: Tx, command: RevokeService, context: Context): Grant {
  const service = requireService(tx, command.id);
  const user = requireUser(tx, command.username);
  const grant = tx.row(grants.byKey, service.id, user.account);
  if (!grant) throw refusal("grant_not_found");
  removeGrant(tx, service, grant, context);
  auditGrant(tx, context, command.actor, grant, null);
  return grant;
}

function auditGrant(
  tx: Tx,
  context: Context,
  actor: Actor,
  before: Grant | null,
  after: Grant | null,
): void {
  const facts = ({ priceMicros }: Grant): AuditFacts => ({ priceMicros });
  const { serviceId, resellerAccount } = (after ?? before)!;
  audit(tx, context, {
    actor,
    action: after ? "grant.put" : "grant.revoke",
    subject: serviceId,
    account: resellerAccount,
    before: before && facts(before),
    after: after && facts(after),
  });
}

function resolveProvider(reader: Reader, provider: ServiceProvider | null | undefined) {
  if (!provider) return { providerId: null, providerService: null };
  const { providerId, active } = requireProvider(reader, provider.name);
  if (!active) throw refusal("provider_inactive");
  return { providerId, providerService: provider.service };
}

/**
 * Returns the fields that change when the service gets another provider. A service that leaves its provider is no longer
 * suspended or delisted by it.
 */
function changeProvider(reader: Reader, service: Service, provider: UpdateService["provider"]) {
  if (provider === undefined) return {};
  if (provider !== null && provider.name === undefined) {
    if (service.providerId === null) throw refusal("service_has_no_provider");
    return { providerService: provider.service, routeDelisted: false };
  }
  const changed = {
    ...resolveProvider(reader, provider as ServiceProvider | null),
    routeDelisted: false,
  };
  if (changed.providerId === service.providerId) return changed;
  const active = service.active || service.suspended;
  return { ...changed, active, suspended: false, delisted: false };
}

/** Returns the service. Refuses: service_not_found. */
export function requireService(tx: Tx, id: string): Service {
  const service = findService(tx, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

/** Counts the services that get a generated id. */
export function countWithoutId(services: readonly Pick<ServiceTerms, "id">[]): number {
  return services.filter(({ id }) => id === null).length;
}

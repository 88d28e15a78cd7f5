// The catalogue: services, imports, and grants to resellers.

import type { AuditFacts } from "../domain/audit.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import type { Actor } from "../domain/ledger.ts";
import { DEFAULT_CATEGORY, type PriceChange, type PriceUnit } from "../domain/services.ts";
import type { Tx } from "../db/port.ts";
import { findService, type Grant, type Service } from "../db/services.ts";
import { grants } from "../db/tables.ts";
import { findProvider } from "../db/providers.ts";
import { audit, auditService } from "./audit.ts";
import type { Context } from "./context.ts";
import { requireProvider } from "./providers.ts";
import {
  addService,
  changeGrant,
  changeService,
  listServiceListeners,
  removeGrant,
  type ServiceListeners,
} from "./service-changes.ts";
import { requireUser } from "./users.ts";

/** Well formed: name, price and bounds have been checked, and min is not above max. */
export interface ServiceTerms {
  /** Null for a new one. */
  id: string | null;
  name: string;
  /** Absent for a new one: DEFAULT_CATEGORY, until a sync or the operator says another. */
  category?: string;
  priceMicros: number;
  per: PriceUnit;
  min: number;
  max: number;
  private: boolean;
  /** None: a manual service. */
  provider?: ServiceProvider;
}

export interface CreateService extends ServiceTerms {
  actor: Actor;
}

/** The provider of a service, and the service's id there. */
export interface ServiceProvider {
  name: string;
  service: string;
}

/** Its fields count as set by hand: a catalogue sync does not change them. Refuses: service_id_taken, provider_not_found. */
export function createService(tx: Tx, command: CreateService, context: Context): Service {
  return create(tx, command, listServiceListeners(tx, context), context);
}

function create(
  tx: Tx,
  command: CreateService,
  listeners: ServiceListeners,
  context: Context,
): Service {
  const { provider, actor, category, ...fields } = command;
  const id = command.id ?? context.createId();
  if (findService(tx, id)) throw refusal("service_id_taken");
  const added = {
    ...fields,
    ...linkOf(tx, provider),
    id,
    category: category ?? DEFAULT_CATEGORY,
    active: true,
    createdAt: context.now,
    nameByHand: true,
    categoryByHand: category !== undefined,
    priceByHand: true,
    minByHand: true,
    maxByHand: true,
    delisted: false,
  };
  const service = addService(tx, listeners, added, context);
  auditService(tx, context, actor, "service.create", null, service);
  return service;
}

export interface UpdateService {
  id: string;
  /** Absent fields stay as they are. */
  changes: Partial<Omit<ServiceTerms, "id" | "provider">>;
  /** Undefined: unchanged. Without a name: another service of the same provider. */
  provider?: { name?: string; service: string };
  actor: Actor;
}

/**
 * Existing orders keep the terms at which they were placed. The changed fields count as set by hand from now on.
 * Refuses: service_not_found, service_bounds_crossed, service_has_no_provider, provider_not_found.
 */
export function updateService(tx: Tx, command: UpdateService, context: Context): Service {
  const before = requireService(tx, command.id);
  const { changes, provider } = command;
  const service = { ...before, ...changes, ...relink(tx, before, provider) };
  const { min, max } = service;
  if (min > max) throw new Refusal("service_bounds_crossed", { min, max });
  service.nameByHand ||= changes.name !== undefined;
  service.categoryByHand ||= changes.category !== undefined;
  service.priceByHand ||= changes.priceMicros !== undefined || changes.per !== undefined;
  service.minByHand ||= changes.min !== undefined;
  service.maxByHand ||= changes.max !== undefined;
  changeService(tx, listServiceListeners(tx, context), before, service, context);
  auditService(tx, context, command.actor, "service.update", before, service);
  return service;
}

export interface SetServiceActive {
  id: string;
  active: boolean;
  actor: Actor;
}

/** Clears `delisted`, so that a sync does not reactivate a service that the operator deactivated. Refuses: service_not_found. */
export function setServiceActive(tx: Tx, command: SetServiceActive, context: Context): Service {
  const { active } = command;
  const before = requireService(tx, command.id);
  const service = { ...before, active, delisted: false };
  changeService(tx, listServiceListeners(tx, context), before, service, context);
  const action = active ? "service.activate" : "service.deactivate";
  auditService(tx, context, command.actor, action, before, service);
  return service;
}

export interface ChangePrices {
  /** What the operator was shown: nothing is changed unless every price is still as it was then. */
  prices: PriceChange[];
  actor: Actor;
}

/** The prices count as set by hand from now on. Refuses: service_not_found, catalogue_changed. */
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

export interface ImportServices {
  services: ServiceTerms[];
  actor: Actor;
}

/** Creates all of them or none. Refuses: import_id_taken and import_provider_unknown, with the row's index. */
export function importServices(tx: Tx, command: ImportServices, context: Context): number {
  const listeners = listServiceListeners(tx, context);
  tx.each(command.services, (service, index) => {
    if (service.id !== null && findService(tx, service.id)) {
      throw new Refusal("import_id_taken", { index });
    }
    if (service.provider && !findProvider(tx, service.provider.name)) {
      throw new Refusal("import_provider_unknown", { index });
    }
    create(tx, { ...service, actor: command.actor }, listeners, context);
  });
  return command.services.length;
}

export interface GrantService {
  id: string;
  username: string;
  /** Null: the service's own price. */
  priceMicros: number | null;
  actor: Actor;
}

/** Granting again replaces the price. Refuses: service_not_found, user_not_found, child_cannot_hold_grant. */
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

/** Refuses: service_not_found, user_not_found, grant_not_found. */
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

function linkOf(tx: Tx, provider: ServiceProvider | undefined) {
  if (!provider) return { providerId: null, providerService: null };
  const { providerId } = requireProvider(tx, provider.name);
  return { providerId, providerService: provider.service };
}

function relink(tx: Tx, service: Service, provider: UpdateService["provider"]) {
  if (!provider) return {};
  const { name, service: providerService } = provider;
  if (name !== undefined) return linkOf(tx, { name, service: providerService });
  if (service.providerId === null) throw refusal("service_has_no_provider");
  return { providerService };
}

function requireService(tx: Tx, id: string): Service {
  const service = findService(tx, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

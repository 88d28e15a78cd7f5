// The catalogue: services, imports, and grants to resellers.

import { Refusal, refusal } from "../domain/errors.ts";
import type { Per } from "../domain/services.ts";
import type { Tx } from "../db/connection.ts";
import {
  deleteGrant,
  findGrant,
  findService,
  type Grant,
  insertService,
  putGrant,
  type Service,
  updateService as writeService,
} from "../db/services.ts";
import { findProvider } from "../db/providers.ts";
import type { Context } from "./context.ts";
import { requireProvider } from "./providers.ts";
import { requireUser } from "./users.ts";

/** Well formed: name, price and bounds have been checked, and min is not above max. */
export interface CreateService {
  /** Null for a new one. */
  id: string | null;
  name: string;
  priceMicros: number;
  per: Per;
  min: number;
  max: number;
  private: boolean;
  /** None: a manual service. */
  provider?: ServiceProvider;
}

/** Who delivers a service, and as what. */
export interface ServiceProvider {
  name: string;
  service: string;
}

/** Its fields count as set by hand: a sync of its provider leaves them alone. Refuses: service_id_taken, provider_not_found. */
export function createService(tx: Tx, command: CreateService, context: Context): Service {
  const { provider, ...fields } = command;
  const id = command.id ?? context.createId();
  if (findService(tx, id)) throw refusal("service_id_taken");
  const service = {
    ...fields,
    ...linkOf(tx, provider),
    id,
    active: true,
    createdAt: context.now,
    nameByHand: true,
    priceByHand: true,
    minByHand: true,
    maxByHand: true,
    vanished: false,
  };
  insertService(tx, service);
  return service;
}

export interface UpdateService {
  id: string;
  /** What is not named stays as it is. */
  changes: Partial<Omit<CreateService, "id" | "provider">>;
  /** Undefined: as it was. Without a name: another service of the same provider. */
  provider?: { name?: string; service: string };
}

/**
 * Past orders keep the terms they were placed on. What is named counts as set by hand from now on.
 * Refuses: service_not_found, service_bounds_crossed, service_has_no_provider, provider_not_found.
 */
export function updateService(tx: Tx, command: UpdateService): Service {
  const before = requireService(tx, command.id);
  const { changes, provider } = command;
  const service = { ...before, ...changes, ...relink(tx, before, provider) };
  const { min, max } = service;
  if (min > max) throw new Refusal("service_bounds_crossed", { min, max });
  service.nameByHand ||= changes.name !== undefined;
  service.priceByHand ||= changes.priceMicros !== undefined || changes.per !== undefined;
  service.minByHand ||= changes.min !== undefined;
  service.maxByHand ||= changes.max !== undefined;
  writeService(tx, service);
  return service;
}

export interface SetServiceActive {
  id: string;
  active: boolean;
}

/** The operator's word: a sync does not bring back what was deactivated here. Refuses: service_not_found. */
export function setServiceActive(tx: Tx, command: SetServiceActive): Service {
  const { active } = command;
  const service = { ...requireService(tx, command.id), active, vanished: false };
  writeService(tx, service);
  return service;
}

export interface ImportServices {
  services: CreateService[];
}

/** Creates all of them or none. Refuses: import_id_taken and import_provider_unknown, with the row's place from 0. */
export function importServices(tx: Tx, command: ImportServices, context: Context): number {
  for (const [index, service] of command.services.entries()) {
    if (service.id !== null && findService(tx, service.id)) {
      throw new Refusal("import_id_taken", { index });
    }
    if (service.provider && !findProvider(tx, service.provider.name)) {
      throw new Refusal("import_provider_unknown", { index });
    }
    createService(tx, service, context);
  }
  return command.services.length;
}

export interface GrantService {
  id: string;
  username: string;
  /** Null: the service's own price. */
  priceMicros: number | null;
}

/** A grant given again replaces the price. Refuses: service_not_found, user_not_found, child_cannot_hold_grant. */
export function grantService(tx: Tx, command: GrantService, context: Context): Grant {
  const service = requireService(tx, command.id);
  const user = requireUser(tx, command.username);
  if (user.parentAccount !== null) throw refusal("child_cannot_hold_grant");
  const grant = {
    serviceId: service.id,
    resellerAccount: user.account,
    priceMicros: command.priceMicros,
    createdAt: context.now,
  };
  putGrant(tx, grant);
  return grant;
}

export interface RevokeService {
  id: string;
  username: string;
}

/** Refuses: service_not_found, user_not_found, grant_not_found. */
export function revokeService(tx: Tx, command: RevokeService): Grant {
  const service = requireService(tx, command.id);
  const user = requireUser(tx, command.username);
  const grant = findGrant(tx, service.id, user.account);
  if (!grant) throw refusal("grant_not_found");
  deleteGrant(tx, service.id, user.account);
  return grant;
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

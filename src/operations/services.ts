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
import type { Context } from "./context.ts";
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
}

/** Refuses: service_id_taken. */
export function createService(tx: Tx, command: CreateService, context: Context): Service {
  const id = command.id ?? context.createId();
  if (findService(tx, id)) throw refusal("service_id_taken");
  const service = { ...command, id, active: true, createdAt: context.now };
  insertService(tx, service);
  return service;
}

export interface UpdateService {
  id: string;
  /** What is not named stays as it is. */
  changes: Partial<Omit<CreateService, "id">>;
}

/** Past orders keep the terms they were placed on. Refuses: service_not_found, service_bounds_crossed. */
export function updateService(tx: Tx, command: UpdateService): Service {
  const service = { ...requireService(tx, command.id), ...command.changes };
  const { min, max } = service;
  if (min > max) throw new Refusal("service_bounds_crossed", { min, max });
  writeService(tx, service);
  return service;
}

export interface SetServiceActive {
  id: string;
  active: boolean;
}

/** Refuses: service_not_found. */
export function setServiceActive(tx: Tx, command: SetServiceActive): Service {
  const service = { ...requireService(tx, command.id), active: command.active };
  writeService(tx, service);
  return service;
}

export interface ImportServices {
  services: CreateService[];
}

/** Creates all of them or none. Refuses: import_id_taken, with the row's place in the list from 0. */
export function importServices(tx: Tx, command: ImportServices, context: Context): number {
  for (const [index, service] of command.services.entries()) {
    if (service.id !== null && findService(tx, service.id)) {
      throw new Refusal("import_id_taken", { index });
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

function requireService(tx: Tx, id: string): Service {
  const service = findService(tx, id);
  if (!service) throw refusal("service_not_found");
  return service;
}

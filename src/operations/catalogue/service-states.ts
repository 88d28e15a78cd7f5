// Activates and deactivates services for the operator.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Tx } from "../../db/port/port.ts";
import { isDelivered } from "../../db/catalogue/service-routes.ts";
import type { Service } from "../../db/catalogue/services.ts";
import { auditService } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { changeService, listServiceListeners } from "./service-changes.ts";
import { requireService } from "./services.ts";

export interface SetServiceActive {
  id: string;
  active: boolean;
  actor: Actor;
}

/**
 * Activates or deactivates a service. Clears `delisted` and `suspended`, so that no sync or provider reactivates a
 * service that the operator deactivated. If a service is activated although no route is listed, its orders go to the
 * first route until the next sync finds that route missing. Refuses: service_not_found, provider_inactive.
 */
export function setServiceActive(tx: Tx, command: SetServiceActive, context: Context): Service {
  const { active } = command;
  const before = requireService(tx, command.id);
  const isTried = active && !isDelivered(tx, before);
  const unmarked = { ...before, routeDelisted: false };
  if (isTried && !isDelivered(tx, unmarked)) throw refusal("provider_inactive");
  const service = {
    ...(isTried ? unmarked : before),
    active,
    delisted: false,
    suspended: false,
  };
  changeService(tx, listServiceListeners(tx, context), before, service, context);
  const action = active ? "service.activate" : "service.deactivate";
  auditService(tx, context, command.actor, action, before, service);
  return service;
}

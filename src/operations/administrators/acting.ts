// Checks the administrator that a command is run for, in the transaction of the command: since the request arrived, it
// may have been disabled, or its role may have changed.

import { findAdministrator } from "../../db/administrators/administrators.ts";
import type { Reader } from "../../db/port/port.ts";
import { administratorOf, mayAct, type Role } from "../../domain/administrators/administrators.ts";
import { authorKindOf } from "../../domain/administrators/authors.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";

/**
 * Refuses every author but a person at the command line, who has all rights, and an administrator whose role is at least
 * `least`. `what`: completes "Only an owner may". Refuses: administrator_not_allowed, owner_required.
 */
export function requireRole(reader: Reader, actor: Actor, least: Role, what: string): void {
  const kind = authorKindOf(actor);
  if (kind === "person") return;
  const name = kind === "administrator" ? administratorOf(actor.operator) : null;
  const found = name === null ? undefined : findAdministrator(reader, name);
  if (!found?.active) throw refusal("administrator_not_allowed");
  if (mayAct(found.role, least)) return;
  if (least === "owner") throw new Refusal("owner_required", { what });
  throw refusal("administrator_not_allowed");
}

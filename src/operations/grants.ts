// Grants of many services at once. One by one: services.ts.

import { type GrantProblem, Refusal } from "../domain/refusals.ts";
import type { Actor } from "../domain/ledger.ts";
import { findService } from "../db/services.ts";
import { grants } from "../db/tables.ts";
import { findUser } from "../db/users.ts";
import type { Reader, Tx } from "../db/port.ts";
import type { Context } from "./context.ts";
import { grantService } from "./services.ts";

export interface GrantTerms {
  /** Of the service. */
  id: string;
  username: string;
  /** Null: the service's own price. */
  priceMicros: number | null;
}

export interface ImportGrants {
  grants: GrantTerms[];
  actor: Actor;
}

/** All of them or none: each replaces the one that is there. Refuses: grants_invalid, with every row that is refused. */
export function importGrants(
  tx: Tx,
  command: ImportGrants,
  context: Context,
): { imported: number; unchanged: number } {
  const found = tx.each(command.grants, (terms) => find(tx, terms));
  const rows = problemsOf(found);
  if (rows.length > 0) throw new Refusal("grants_invalid", { rows });
  const changed = command.grants.filter((terms, index) => {
    const { before } = found[index] as { before: number | null | undefined };
    return before !== terms.priceMicros;
  });
  // Nothing is refused from here on.
  tx.each(changed, (terms) => grantService(tx, { ...terms, actor: command.actor }, context));
  return { imported: changed.length, unchanged: command.grants.length - changed.length };
}

/** Which rows would be refused, for a list that has other rows that are wrong. */
export function refusedGrants(reader: Reader, list: readonly GrantTerms[]): GrantProblem[] {
  return problemsOf(reader.each(list, (terms) => find(reader, terms)));
}

type Found = GrantProblem["code"] | { before: number | null | undefined };

function problemsOf(found: readonly Found[]): GrantProblem[] {
  return found.flatMap((each, index) => (typeof each === "string" ? [{ index, code: each }] : []));
}

/** The price of the grant that is there; undefined: none is. */
function find(reader: Reader, { id, username }: GrantTerms): Found {
  if (!findService(reader, id)) return "service_not_found";
  const user = findUser(reader, username);
  if (!user) return "user_not_found";
  if (user.parentAccount !== null) return "child_cannot_hold_grant";
  return { before: reader.row(grants.byKey, id, user.account)?.priceMicros };
}

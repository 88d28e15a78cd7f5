// Imports many grants of services at once. services.ts grants a single one.

import { Refusal } from "../../domain/values/error-table.ts";
import type { GrantProblem } from "../../domain/catalogue/refusals.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { findService } from "../../db/catalogue/services.ts";
import { grants } from "../../db/tables/catalogue.ts";
import { findUser } from "../../db/users/users.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";
import { grantService } from "./services.ts";

export interface GrantTerms {
  /** The id of the service. */
  id: string;
  username: string;
  /** Null: the list price applies. */
  priceMicros: number | null;
}

export interface ImportGrants {
  grants: GrantTerms[];
  actor: Actor;
}

/** Imports all grants or none. Each replaces an existing one. Refuses: grants_invalid, with every refused row. */
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

/** Returns the rows that would be refused, for a list that also has malformed rows. */
export function refusedGrants(reader: Reader, list: readonly GrantTerms[]): GrantProblem[] {
  return problemsOf(reader.each(list, (terms) => find(reader, terms)));
}

type Found = GrantProblem["code"] | { before: number | null | undefined };

function problemsOf(found: readonly Found[]): GrantProblem[] {
  return found.flatMap((each, index) => (typeof each === "string" ? [{ index, code: each }] : []));
}

/** Returns the price of the existing grant, undefined without a grant, or why the row is refused. */
function find(reader: Reader, { id, username }: GrantTerms): Found {
  if (!findService(reader, id)) return "service_not_found";
  const user = findUser(reader, username);
  if (!user) return "user_not_found";
  if (user.parentAccount !== null) return "child_cannot_hold_grant";
  return { before: reader.row(grants.byKey, id, user.account)?.priceMicros };
}

// What the portal of a reseller allows: the operator switches it off, and decides which keys members may create.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { mayCreateCredit } from "../../domain/members/portal.ts";
import { findPortalSettings } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { portalSettings, type PortalSettings } from "../../db/tables/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { listWebhooks } from "../../db/webhooks/webhooks.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { openTestAccount } from "../users/test-accounts.ts";
import { requireUser } from "../users/users.ts";
import { noteWanted } from "../webhooks/webhooks.ts";
import { requireMember } from "./acting.ts";

export interface SetPortal {
  username: string;
  /** Absent: unchanged. */
  changes: Partial<Omit<PortalSettings, "account">>;
  actor: Actor;
}

/** Opens the test account of a member's reseller, once. Refuses what requireMember refuses. */
export function openOwnTestAccount(tx: Tx, { actor }: { actor: Actor }, context: Context): null {
  const { account } = requireMember(tx, actor, "keys");
  openTestAccount(tx, findUserByAccount(tx, account)!, actor, context);
  return null;
}

/**
 * Changes what the portal of a reseller allows. Only an owner among the administrators allows keys that create credit.
 * Refuses: user_not_found, child_has_no_members, what requireRole refuses.
 */
export function setPortal(tx: Tx, { username, changes, actor }: SetPortal, context: Context): null {
  const user = requireUser(tx, username);
  const { account } = user;
  if (user.parentAccount !== null) throw refusal("child_has_no_members");
  const { account: _, ...before } = findPortalSettings(tx, account);
  const after = { ...before, ...changes };
  const isCredit = after.keys !== before.keys && mayCreateCredit(after, "owner");
  const what = "let members make keys that create credit";
  requireRole(tx, actor, isCredit ? "owner" : "operator", what);
  writeSettings(tx, account, after);
  audit(tx, context, {
    actor,
    action: "user.portal",
    subject: user.username,
    account,
    before,
    after,
  });
  return null;
}

export interface SetLowBalance {
  /** Null: members get no mail about a low balance. */
  lowBalanceMicros: number | null;
  actor: Actor;
}

/** Sets the balance below which the members of the author's reseller get a mail. Refuses what requireMember refuses. */
export function setLowBalance(tx: Tx, command: SetLowBalance, context: Context): null {
  const { lowBalanceMicros, actor } = command;
  const { account } = requireMember(tx, actor, "members");
  const { account: _, ...before } = findPortalSettings(tx, account);
  const after = { ...before, lowBalanceMicros };
  writeSettings(tx, account, after);
  const { username } = findUserByAccount(tx, account)!;
  audit(tx, context, { actor, action: "user.portal", subject: username, account, before, after });
  return null;
}

/** Writes the settings, and the threshold into the user's row, which every charge reads anyway. */
function writeSettings(tx: Tx, account: number, after: Omit<PortalSettings, "account">): void {
  const row = tx.row(portalSettings.byKey, account);
  const isSame = row?.lowBalanceMicros === after.lowBalanceMicros;
  const endpoints = isSame ? [] : listWebhooks(tx, account);
  if (row) tx.update(portalSettings, row, after);
  else tx.insert(portalSettings, { account, ...after });
  if (!isSame) noteWanted(tx, account, endpoints);
}

// Inspections ("View as"): an administrator sees the portal as members of a reseller with some role see it. The panel
// offers one by a link, which the portal opens. Nothing is changed in the name of a member.

import type { AuditAction, AuditFacts } from "../../domain/administrators/audit.ts";
import { administratorOf, authorOf } from "../../domain/administrators/administrators.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import {
  INSPECTOR,
  inspectionEnd,
  type InspectionCause,
} from "../../domain/members/inspections.ts";
import type { MemberRole } from "../../domain/members/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  findInspection,
  findInspectionOf,
  findOfferedInspection,
  listInspections,
  whyInspectionEnds,
} from "../../db/members/inspections.ts";
import { findPortalSettings } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { type Inspection, inspections } from "../../db/tables/members.ts";
import { usernameOf } from "../../db/users/users.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireUser } from "../users/users.ts";

export interface OfferInspection {
  username: string;
  role: MemberRole;
  /** Its id, unless it takes the place of another. */
  id: string;
  /** SHA-256 of the token. */
  tokenHash: string;
  /** The session of the administrator in the panel. */
  session: string;
  /** The panel's address for browsers. */
  panelUrl: string;
  actor: Actor;
}

/**
 * Offers an inspection by a link, in place of any other of the same session. Refuses: user_not_found,
 * child_has_no_members, user_inactive, portal_off, administrator_not_allowed.
 */
export function offerInspection(tx: Tx, command: OfferInspection, context: Context): null {
  const { id, role, tokenHash, session, panelUrl, actor } = command;
  const { account, parentAccount, active } = requireUser(tx, command.username);
  const administrator = administratorOf(actor.operator);
  if (administrator === null) throw refusal("administrator_not_allowed");
  requireRole(tx, actor, INSPECTOR, "view the portal as a reseller");
  if (parentAccount !== null) throw refusal("child_has_no_members");
  if (!active) throw refusal("user_inactive");
  if (!findPortalSettings(tx, account).active) throw refusal("portal_off");
  const offered = { id, tokenHash, account, role, administrator, session, panelUrl };
  const row = { ...offered, hash: null, createdAt: context.now, openedAt: null };
  const ends = whyInspectionEnds(tx, row, context.now);
  if (ends !== null) throw refusal("administrator_not_allowed");
  // Nothing is refused from here on.
  const before = findInspectionOf(tx, session);
  if (before) {
    auditEnd(tx, before, "replaced by another", context);
    tx.update(inspections, before, { ...row, id: before.id });
  } else tx.insert(inspections, row);
  return null;
}

export interface OpenInspection {
  tokenHash: string;
  /** SHA-256 of the secret in the cookie. */
  hash: string;
}

/** Opens an offered inspection, once. Refuses: invitation_invalid. */
export function openInspection(
  tx: Tx,
  { tokenHash, hash }: OpenInspection,
  context: Context,
): null {
  const found = findOfferedInspection(tx, tokenHash);
  if (!found || whyInspectionEnds(tx, found, context.now) !== null) {
    throw refusal("invitation_invalid");
  }
  const openedAt = context.now;
  const opened = tx.update(inspections, found, { tokenHash: null, hash, openedAt });
  const after = { role: found.role, endsAt: inspectionEnd(opened) };
  auditInspection(tx, "inspection.begin", found, after, context);
  return null;
}

export interface CloseInspection {
  id: string;
}

/** Ends an inspection for the administrator. Does nothing if it has ended. */
export function closeInspection(tx: Tx, { id }: CloseInspection, context: Context): null {
  const found = findInspection(tx, id);
  if (found) end(tx, found, "closed", context);
  return null;
}

/** Records the end of inspections that may not go on. They show nothing from that moment, even before this runs. */
export function endInspections(tx: Tx, _command: null, context: Context): number {
  const ended = listInspections(tx).flatMap((each) => {
    const why = whyInspectionEnds(tx, each, context.now);
    return why === null ? [] : [{ each, why }];
  });
  for (const { each, why } of ended) end(tx, each, why, context);
  return ended.length;
}

function end(tx: Tx, inspection: Inspection, why: InspectionCause, context: Context): void {
  tx.delete(inspections, inspection);
  auditEnd(tx, inspection, why, context);
}

/** Records the end. A link that was never used showed nothing. */
function auditEnd(tx: Tx, inspection: Inspection, why: InspectionCause, context: Context): void {
  if (inspection.openedAt === null) return;
  auditInspection(tx, "inspection.end", inspection, { role: inspection.role, why }, context);
}

function auditInspection(
  tx: Tx,
  action: AuditAction,
  { administrator, account }: Inspection,
  after: AuditFacts,
  context: Context,
): void {
  const actor = { keyId: null, operator: authorOf(administrator) };
  const subject = usernameOf(tx, account);
  audit(tx, context, { actor, action, subject, account, before: null, after });
}

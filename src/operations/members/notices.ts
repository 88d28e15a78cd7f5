// Notices of the operator for all members: each is shown until its end, or until it is removed.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { isShown, type NoticeTexts, NOTICES_LIMIT } from "../../domain/members/notices.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { listNotices } from "../../db/members/notices.ts";
import type { Tx } from "../../db/port/port.ts";
import { portalNotices } from "../../db/tables/members.ts";
import { requireRole } from "../administrators/acting.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

export interface AddNotice {
  texts: NoticeTexts;
  /** Milliseconds since 1970; null: until it is removed. */
  untilAt: number | null;
  actor: Actor;
}

/**
 * Adds a notice, and deletes those that have ended. Returns its id. Refuses what requireRole refuses, notice_ended,
 * notices_limit.
 */
export function addNotice(tx: Tx, { texts, untilAt, actor }: AddNotice, context: Context): string {
  requireRole(tx, actor, "operator", "add notices");
  if (!isShown({ untilAt }, context.now)) throw refusal("notice_ended");
  const all = listNotices(tx);
  const ended = all.filter((notice) => !isShown(notice, context.now));
  if (all.length - ended.length >= NOTICES_LIMIT) {
    throw new Refusal("notices_limit", { limit: NOTICES_LIMIT });
  }
  // Nothing is refused from here on.
  for (const { id } of ended) tx.delete(portalNotices, { id });
  const id = context.createId();
  const notice = { id, texts: JSON.stringify(texts), untilAt, createdAt: context.now };
  tx.insert(portalNotices, notice);
  const after = { ...texts, untilAt };
  audit(tx, context, {
    actor,
    action: "notice.add",
    subject: id,
    account: null,
    before: null,
    after,
  });
  return id;
}

export interface RemoveNotice {
  id: string;
  actor: Actor;
}

/** Removes a notice. Refuses what requireRole refuses, notice_not_found. */
export function removeNotice(tx: Tx, { id, actor }: RemoveNotice, context: Context): null {
  requireRole(tx, actor, "operator", "remove notices");
  const found = tx.row(portalNotices.byKey, id);
  if (!found) throw refusal("notice_not_found");
  // Nothing is refused from here on.
  tx.delete(portalNotices, { id });
  const { texts, untilAt } = found;
  const before = { ...(JSON.parse(texts) as NoticeTexts), untilAt };
  audit(tx, context, {
    actor,
    action: "notice.remove",
    subject: id,
    account: null,
    before,
    after: null,
  });
  return null;
}

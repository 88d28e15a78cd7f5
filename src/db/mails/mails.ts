// E-mails: the queue, those that failed, and whether servers send any.

import type { MailFacts } from "../../domain/alerts/mail-conditions.ts";
import { isServerFailure, MAIL_FAILURES, MAIL_LEASE_MS } from "../../domain/mails/mails.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import type { MailKind } from "../../domain/mails/mails.ts";
import type { Reader, TimeWindow, Tx } from "../port/port.ts";
import { fields, query, select, statement } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { type Mail, mails, mailSettings, type MailSettings } from "../tables/mails.ts";

export const MAIL_SETTINGS_ID = 1;

/** Returns whether servers send mails, and the operator's address. */
export function findMailSettings(reader: Reader): MailSettings {
  return reader.row(mailSettings.byKey, MAIL_SETTINGS_ID)!;
}

/** Returns whether servers send e-mails. */
export function isMailOn(reader: Reader): boolean {
  return findMailSettings(reader).active;
}

const DUE = query({
  parameters: { now: number, since: number, limit: number },
  columns: { ...fields(mails), recent: number, oldestAt: nullable(number) },
  text: `SELECT ${select(mails)},
      (SELECT count(*) FROM mails AS other WHERE other.email = mails.email AND other.tried_at > :since
        AND other.mail_id <> mails.mail_id) AS "recent",
      (SELECT min(other.tried_at) FROM mails AS other WHERE other.email = mails.email AND other.tried_at > :since
        AND other.mail_id <> mails.mail_id) AS "oldestAt"
    FROM mails WHERE due_at IS NOT NULL AND due_at <= :now ORDER BY due_at, mail_id LIMIT :limit`,
});

/** Lists due mails, most overdue first, with the number of other mails that were sent to the address since `since`. */
export function listDueMails(reader: Reader, now: number, since: number, limit: number) {
  return reader.all(DUE, { now, since, limit });
}

const NEXT_DUE = query({
  columns: { dueAt: nullable(number) },
  text: `SELECT min(due_at) AS "dueAt" FROM mails WHERE due_at IS NOT NULL`,
});

/** Returns when the next mail is due; null if none waits. A mail that is being sent is due when its lease ends. */
export function nextMailDueAt(reader: Reader): number | null {
  return reader.one(NEXT_DUE)?.dueAt ?? null;
}

// After the clock was set back, a mail waits from now as long as it was to wait from its last attempt, or from when it was
// queued. The due time of a mail in flight is the end of its lease.
const BEGUN = "COALESCE(tried_at, created_at)";
const LATEST_DUE = `CASE WHEN state = 'sending' THEN :leaseEnd WHEN due_at > ${BEGUN} THEN :now + due_at - ${BEGUN} ELSE :now END`;
const CLAMP = statement({
  parameters: { now: number, leaseEnd: number },
  writes: [mails],
  text: `UPDATE mails SET due_at = ${LATEST_DUE}
    WHERE due_at IS NOT NULL AND due_at > ${LATEST_DUE} AND ${BEGUN} > :now`,
});

/** Corrects the schedule after the clock was set back: no pause or lease lasts longer than normal. */
export function clampMailSchedule(tx: Tx, now: number): void {
  tx.run(CLAMP, { now, leaseEnd: now + MAIL_LEASE_MS });
}

const INTERRUPTED = query({
  parameters: { server: text },
  columns: fields(mails, "mailId"),
  text: `SELECT ${select(mails, "mailId")} FROM mails
    WHERE due_at IS NOT NULL AND state = 'sending' AND server <> :server
      AND NOT EXISTS (SELECT 1 FROM servers WHERE servers.id = mails.server)
    ORDER BY mail_id`,
});

/** Lists mails in flight on servers that no longer exist. */
export function listInterruptedMails(reader: Reader, server: string): number[] {
  return reader.all(INTERRUPTED, { server }).map(({ mailId }) => mailId);
}

const LATEST = query({
  parameters: { member: text, kind: text, since: number },
  columns: { at: nullable(number), count: number, untried: number },
  text: `SELECT max(coalesce(tried_at, created_at)) AS "at", count(*) AS "count",
      count(CASE WHEN state = 'waiting' AND attempts = 0 THEN 1 END) AS "untried"
    FROM mails WHERE member = :member AND kind = :kind AND created_at > :since
      AND state NOT IN ('failed', 'dropped')`,
});

/**
 * `at`: when the latest of the member's mails of the kind that were queued after `since` was tried, or queued if it was
 * not tried yet; null: there is none. `count`: how many there are. `untried`: how many of them wait for their first
 * attempt.
 */
export function findLatestMail(reader: Reader, member: string, kind: MailKind, since: number) {
  return reader.one(LATEST, { member, kind, since })!;
}

const TAKES = { from: number, to: number, limit: number };
const IN_WINDOW = "created_at BETWEEN :from AND :to";

const NEWEST = query({
  parameters: TAKES,
  columns: fields(mails),
  text: `SELECT ${select(mails)} FROM mails WHERE ${IN_WINDOW} ORDER BY mail_id DESC LIMIT :limit`,
});

const NEWEST_FAILED = query({
  parameters: TAKES,
  columns: fields(mails),
  text: `SELECT ${select(mails)} FROM mails WHERE state = 'failed' AND ${IN_WINDOW}
    ORDER BY mail_id DESC LIMIT :limit`,
});

/** Lists at most `limit` mails that were queued in the window, newest first: those that failed, or all. */
export function listMails(
  reader: Reader,
  limit: number,
  failed: boolean,
  window: TimeWindow = { from: null, to: null },
): Mail[] {
  const from = window.from ?? 0;
  const to = window.to ?? Number.MAX_SAFE_INTEGER;
  return reader.all(failed ? NEWEST_FAILED : NEWEST, { from, to, limit });
}

/** Lists mails, newest first: those that failed, then others, together at most `limit`. */
export function listMailsFailedFirst(reader: Reader, limit: number, window?: TimeWindow): Mail[] {
  const failed = listMails(reader, limit, true, window);
  const others = listMails(reader, limit, false, window).filter(({ state }) => state !== "failed");
  return [...failed, ...others].slice(0, limit);
}

export function findMail(reader: Reader, mailId: number): Mail | undefined {
  return reader.row(mails.byKey, mailId);
}

export function findMailById(reader: Reader, id: string): Mail | undefined {
  return reader.row(mails.byId, id);
}

const WAITING = query({
  columns: { waiting: number },
  text: `SELECT count(*) AS "waiting" FROM mails WHERE due_at IS NOT NULL`,
});

/** Counts mails that wait or are being sent. */
export function countWaitingMails(reader: Reader): number {
  return reader.one(WAITING)!.waiting;
}

/** The failures of the mail server itself. */
const OF_SERVER = MAIL_FAILURES.filter(isServerFailure)
  .map((failure) => `'${failure}'`)
  .join(", ");

// Examines the next 200 waiting mails only: while the mail server is away, the others wait for the same reason.
const FACTS = query({
  parameters: { since: number },
  columns: { dueAt: nullable(number), troubledSince: nullable(number), failed: number },
  text: `SELECT (SELECT min(due_at) FROM mails WHERE due_at IS NOT NULL) AS "dueAt",
    (SELECT min(created_at) FROM (
      SELECT created_at, error FROM mails WHERE due_at IS NOT NULL ORDER BY due_at, mail_id LIMIT 200
    ) AS next WHERE error IN (${OF_SERVER})) AS "troubledSince",
    (SELECT count(*) FROM mails WHERE state = 'failed' AND ended_at >= :since) AS "failed"`,
});

/** Returns whether mails wait for too long, and how many failed in the last day. */
export function readMailFacts(reader: Reader, now: number): MailFacts {
  return reader.one(FACTS, { since: now - DAY_MS })!;
}

const RESUME = statement({
  parameters: { now: number },
  writes: [mails],
  text: `UPDATE mails SET due_at = :now WHERE state = 'waiting' AND due_at > :now AND error IN (${OF_SERVER})`,
});

/** Makes mails due that wait because of the mail server. Returns how many. */
export function resumeWaitingMails(tx: Tx, now: number): number {
  return tx.run(RESUME, { now });
}

const EXPIRE = statement({
  parameters: { before: number, limit: number },
  writes: [mails],
  text: `DELETE FROM mails WHERE mail_id IN (
    SELECT mail_id FROM mails WHERE ended_at < :before ORDER BY ended_at LIMIT :limit)`,
});

/** Deletes mails that ended before that time, at most `limit`. Returns how many. */
export function deleteOldMails(tx: Tx, before: number, limit: number): number {
  return tx.run(EXPIRE, { before, limit });
}

const ERASE = statement({
  parameters: { account: number, limit: number },
  writes: [mails],
  text: `DELETE FROM mails WHERE mail_id IN (
    SELECT mail_id FROM mails WHERE account = :account LIMIT :limit)`,
});

/** Deletes mails to a reseller's members, at most `limit`. Returns how many. */
export function deleteMailsOf(tx: Tx, account: number, limit: number): number {
  return tx.run(ERASE, { account, limit });
}

/** Deletes the mails that a reseller's members got as visitors. */
export const FORGET_VISITORS = statement({
  parameters: { account: number },
  writes: [mails],
  text: `DELETE FROM mails
    WHERE account IS NULL AND email IN (SELECT email FROM members WHERE account = :account)`,
});

const DROP_WAITING = statement({
  parameters: { now: number },
  writes: [mails],
  text: `UPDATE mails SET state = 'dropped', due_at = NULL, server = NULL, ended_at = :now WHERE due_at IS NOT NULL`,
});

/** Drops all mails that wait. Returns how many. */
export function dropWaitingMails(tx: Tx, now: number): number {
  return tx.run(DROP_WAITING, { now });
}

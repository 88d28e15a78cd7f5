// Reports a restore: what it did and what the operator must check, as JSON and for a person.

import type { KeyState } from "../../storage/backup/restore-changes.ts";
import type { CarriedInvoices } from "../../operations/ledger/invoice-restore.ts";
import type { CarriedOver } from "../../operations/batch/restore.ts";
import type { Numbers } from "../../db/ledger/number-floors.ts";
import type { Restored } from "../../storage/backup/restore.ts";
import type { Totals } from "../../storage/backup/totals.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { counted } from "../../domain/values/text.ts";
import { type Row, table } from "../output/text-table.ts";

/** Limit for printed changes, because a catalogue sync may have made thousands. --json has all. */
const CHANGES_SHOWN = 50;

export interface Outcome extends Restored, CarriedOver {
  /** The highest used numbers. New orders, transfers, audit entries and services get higher numbers. */
  floors: Numbers;
}

export function result(
  database: string,
  ok: boolean,
  { since, after, keptAside, floors, webhooksWaiting, mailsDropped, invoices, fault }: Outcome,
) {
  const { ended, revived, lost } = since.keys;
  return {
    ok,
    fault,
    database,
    keptAside,
    before: since.totals && totalsJson(since.totals),
    after: totalsJson(after),
    /** Null if everything that happened since the backup is known. */
    unknownBecause: since.unknownBecause,
    next: {
      orderId: floors.orders + 1,
      transaction: floors.transfers + 1,
      audit: floors.audit + 1,
      service: floors.services + 1,
    },
    keys: { ended: ended.map(keyJson), revived: revived.map(keyJson), lost: lost.map(keyJson) },
    webhooksWaiting,
    mailsDropped,
    invoices,
    changes: since.changes,
  };
}

export function report(path: string, file: string, outcome: Outcome): string {
  const { since, after, keptAside, fault } = outcome;
  const { ended, revived, lost } = since.keys;
  const totals = [
    ...(since.totals ? [{ "": "before", ...totalsJson(since.totals) }] : []),
    { "": "after", ...totalsJson(after) },
  ];
  const why = since.unknownBecause ?? "they were set to end since the backup";
  const changed = since.changes.length;
  const previous = keptAside
    ? `the replaced database is kept as ${keptAside}`
    : "there was no database before";
  return [
    table(totals, ""),
    numbers(outcome),
    webhooks(outcome),
    mailsText(outcome),
    ...invoicesText(outcome.invoices),
    section(
      `ended since the backup, and so deactivated now (${countedKeys(ended)}):`,
      ended.map(row),
    ),
    section(
      `usable again, because ${why} (${countedKeys(revived)}): refuse those that must stay refused with \`reseller admin key deactivate ID\``,
      revived.map(row),
    ),
    section(
      `created since the backup and lost (${countedKeys(lost)}): their callers need new ones`,
      lost.map(row),
    ),
    section(
      `changed since the backup and now as in the backup (${changed}${changed > CHANGES_SHOWN ? `, the first ${CHANGES_SHOWN}` : ""}):`,
      since.changes.slice(0, CHANGES_SHOWN).map((change) => ({ ...change })),
    ),
    fault === null
      ? `ok: ${path} is ${file} now, verified; ${previous}`
      : `${path} is ${file} now, NOT VERIFIED: it ${fault}; ${previous}`,
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function numbers({ since, floors }: Outcome): string {
  const next = `the next order is number ${floors.orders + 1}, the next transaction ${floors.transfers + 1}`;
  if (since.unknownBecause === null) return `${next}: above all issued numbers`;
  return `${next}: above any number that may have been issued, because ${since.unknownBecause}; --order-numbers-from sets the next order's number`;
}

function webhooks({ webhooksWaiting: waiting }: Outcome): string {
  if (waiting === 0) return "";
  return `webhook events waiting in the backup (${waiting}): all are sent, some for the second time, with their original ids`;
}

/** Says how many e-mails a restore dropped; empty if none. */
export function mailsText({ mailsDropped }: CarriedOver): string {
  if (mailsDropped === 0) return "";
  return `e-mails waiting in the backup (${mailsDropped}): dropped, because most were sent since; \`reseller admin mail retry\` sends one again`;
}

/** Says what a restore did to the numbers of invoices; nothing if there are none. */
export function invoicesText({ invoices, series }: CarriedInvoices): string[] {
  if (series !== null) {
    return [
      `it is not known which invoices were issued since: the next one begins the series ${series}; compare those that were sent with \`reseller admin invoice list\``,
    ];
  }
  if (invoices === 0) return [];
  return [
    `invoices issued since the backup (${invoices}): they are kept, so that no number is missing; correct those whose credits were taken back`,
  ];
}

function section(title: string, rows: readonly Row[]): string {
  return rows.length === 0 ? "" : `${title}\n${table(rows, "")}`;
}

function countedKeys({ length }: readonly KeyState[]): string {
  return counted(length, "key");
}

function row(key: KeyState): Row {
  const { id, start, username, type, label, expiresAt, lastUsedAt } = keyJson(key);
  const times = { expires: expiresAt, "last used": lastUsedAt };
  return { id, start, user: username, type, label, ...times };
}

function keyJson(key: KeyState) {
  const { id, start, username, type, label, expiresAt, lastUsedAt } = key;
  const times = { expiresAt: validTime(expiresAt), lastUsedAt: validTime(lastUsedAt) };
  return { id, start, username, type, label, ...times };
}

function totalsJson({ users, orders, transfers, balanceMicros, lastOrderAt }: Totals) {
  const balance = jsonAmount(balanceMicros);
  return { users, orders, transfers, balance, lastOrderAt: validTime(lastOrderAt) };
}

/** Returns the time in ISO 8601, or null for an invalid time, which the replaced database may contain. */
function validTime(milliseconds: number | null): string | null {
  if (milliseconds === null) return null;
  const time = new Date(milliseconds);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

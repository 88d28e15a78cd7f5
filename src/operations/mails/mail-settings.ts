// Turns e-mails on or off, sends failed ones again, and deletes old ones.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { MAIL_RETENTION_MS } from "../../domain/mails/mails.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  deleteOldMails,
  dropWaitingMails,
  findMail,
  findMailSettings,
  MAIL_SETTINGS_ID,
} from "../../db/mails/mails.ts";
import { deleteUnconfirmed } from "../../db/members/registrations.ts";
import type { Tx } from "../../db/port/port.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import { mails, mailSettings } from "../../db/tables/mails.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

export interface SetMailSettings {
  active: boolean;
  operator: string | null;
}

/** Stores whether servers send mails. Turning them off drops those that wait, which nobody would send. */
export function setMailSettings(
  tx: Tx,
  { active, operator }: SetMailSettings,
  { now }: Context,
): null {
  const before = findMailSettings(tx);
  if (before.active === active && before.operator === operator) return null;
  if (!active) dropWaitingMails(tx, now);
  tx.update(mailSettings, { id: MAIL_SETTINGS_ID }, { active, operator });
  return null;
}

export interface RetryMail {
  mailId: number;
  actor: Actor;
}

/** Sends a mail that failed or was dropped once more, with all its attempts. Refuses: mail_not_found, mail_not_failed. */
export function retryMail(tx: Tx, { mailId, actor }: RetryMail, context: Context): null {
  const mail = findMail(tx, mailId);
  if (!mail) throw refusal("mail_not_found");
  if (mail.state !== "failed" && mail.state !== "dropped") throw refusal("mail_not_failed");
  // Nothing is refused from here on.
  const again = { state: "waiting", dueAt: context.now, endedAt: null, attempts: 0 } as const;
  tx.update(mails, mail, again);
  const { kind, account } = mail;
  audit(tx, context, {
    actor,
    action: "mail.retry",
    subject: String(mailId),
    account,
    before: null,
    after: { kind },
  });
  return null;
}

export interface ExpireMails {
  /** Maximum number of rows, so that no order waits long for this command. */
  limit: number;
}

/** Deletes mails that ended long ago, and visitors who did not prove their address. Returns the larger number. */
export function expireMails(tx: Tx, { limit }: ExpireMails, { now }: Context): number {
  tx.lock(OUTBOX_LOCK);
  return Math.max(
    deleteOldMails(tx, now - MAIL_RETENTION_MS, limit),
    deleteUnconfirmed(tx, now, limit),
  );
}

// Queues an e-mail in the transaction of the change that it reports. docs/specification/email.md#email.

import { MAIL_KINDS, type MailData, type MailKind, wantsMail } from "../../domain/mails/mails.ts";
import { findMailSettings } from "../../db/mails/mails.ts";
import { listMembersOf } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import { mails } from "../../db/tables/mails.ts";
import type { Member } from "../../db/tables/members.ts";
import type { Context } from "../batch/context.ts";

/** Whom a mail is for. */
export type Recipient =
  | { member: Pick<Member, "id" | "account" | "email" | "mails"> }
  /** All members of the reseller who have accepted their invitation and have not turned the kind off. */
  | { account: number }
  | { visitor: string }
  | "operator";

export interface NewMail<K extends MailKind> {
  kind: K;
  to: Recipient;
  data: MailData[K];
  /** Absent: now. */
  dueAt?: number;
}

/**
 * Queues a mail to each recipient. Does nothing if no server sends mails. For the members of an account it reads
 * `members`, so it must come before the command's own writes to that table.
 */
export function queueMail<K extends MailKind>(
  tx: Tx,
  { kind, to, data, dueAt }: NewMail<K>,
  context: Context,
): void {
  const { active, operator } = findMailSettings(tx);
  if (!active) return;
  for (const recipient of recipientsOf(tx, kind, to, operator)) {
    tx.insert(mails, {
      ...recipient,
      id: context.createEventId(),
      kind,
      data: JSON.stringify(data),
      state: "waiting",
      dueAt: dueAt ?? context.now,
      createdAt: context.now,
    });
  }
}

interface Addressed {
  account: number | null;
  member: string | null;
  email: string;
}

function recipientsOf(tx: Tx, kind: MailKind, to: Recipient, operator: string | null): Addressed[] {
  if (to === "operator") {
    return operator === null ? [] : [{ account: null, member: null, email: operator }];
  }
  if ("visitor" in to) return [{ account: null, member: null, email: to.visitor }];
  const members =
    "member" in to
      ? [to.member]
      : listMembersOf(tx, to.account).filter((each) => each.active && each.passwordHash !== null);
  return members
    .filter((member) => wantsMail(member, kind))
    .map(({ id, account, email }) => ({ account, member: id, email }));
}

/** Returns the name of the choice by which the kind is turned off, or null. */
export function choiceOf(kind: MailKind) {
  return MAIL_KINDS[kind].choice;
}

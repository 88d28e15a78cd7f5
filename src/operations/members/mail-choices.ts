// Turns off a kind of e-mail: by the link in it, without signing in (the id of the mail is the permission), and again
// after a restore.

import type { Member } from "../../db/tables/members.ts";
import { findMailById } from "../../db/mails/mails.ts";
import { findMember } from "../../db/members/members.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { members } from "../../db/tables/members.ts";
import { MAIL_KINDS } from "../../domain/mails/mails.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { type MailChoice, memberAuthor } from "../../domain/members/members.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

/**
 * Returns the member and the choice that a mail belongs to, and the address that it went to; null if it can no longer be
 * turned off.
 */
export function choiceOfMail(
  reader: Reader,
  id: string,
): { member: Member; choice: MailChoice; email: string } | null {
  const mail = findMailById(reader, id);
  const choice = mail ? MAIL_KINDS[mail.kind].choice : null;
  const member = mail?.member ? findMember(reader, mail.member) : undefined;
  if (!mail || !member?.active || choice === null) return null;
  return { member, choice, email: mail.email };
}

export interface TurnOffMails {
  /** The public id of a mail. */
  mail: string;
}

/** Turns off mails like this one. Does nothing if they are off already. Refuses: mail_not_found. */
export function turnOffMails(tx: Tx, { mail }: TurnOffMails, context: Context): null {
  const found = choiceOfMail(tx, mail);
  if (found === null) throw refusal("mail_not_found");
  const { member, choice } = found;
  const author = { keyId: null, operator: memberAuthor(member.id) };
  turnOff(tx, member, (each) => each === choice, author, context);
  return null;
}

/**
 * After a restore, turns off again what the member had turned off since the backup. `later`: its choices in the replaced
 * database.
 */
export function keepMailsOff(
  tx: Tx,
  member: Member,
  later: string,
  actor: Actor,
  context: Context,
): void {
  const chosen = later.split(",");
  turnOff(tx, member, (each) => !chosen.includes(each), actor, context);
}

function turnOff(
  tx: Tx,
  member: Member,
  isOff: (choice: string) => boolean,
  actor: Actor,
  context: Context,
): void {
  const { id: subject, account, mails: before } = member;
  const after = before
    .split(",")
    .filter((each) => !isOff(each))
    .join(",");
  if (after === before) return;
  tx.update(members, member, { mails: after });
  audit(tx, context, {
    actor,
    action: "member.update",
    subject,
    account,
    before: { mails: before },
    after: { mails: after },
  });
}

// Turns off a kind of e-mail by the link in it, without signing in: the id of the mail is the permission.

import type { Member } from "../../db/tables/members.ts";
import { findMailById } from "../../db/mails/mails.ts";
import { findMember } from "../../db/members/members.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { members } from "../../db/tables/members.ts";
import { MAIL_KINDS } from "../../domain/mails/mails.ts";
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
  const { id, account, mails: before } = member;
  const chosen = before.split(",").filter((each) => each !== choice);
  // Nothing is refused from here on.
  const mails = chosen.join(",");
  tx.update(members, member, { mails });
  audit(tx, context, {
    actor: { keyId: null, operator: memberAuthor(id) },
    action: "member.update",
    subject: id,
    account,
    before: { mails: before },
    after: { mails },
  });
  return null;
}

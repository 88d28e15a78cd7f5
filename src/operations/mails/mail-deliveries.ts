// Takes due mails, and records the outcome of each attempt. In between a mail is leased: other servers do not take it
// until the lease ends. Whatever may have changed since it was queued is decided when it is taken: whether it is still
// wanted, its address, its language, and the secret of its link. docs/specification/email.md#mail-schedule.

import type { Language } from "../../domain/members/languages.ts";
import { DEFAULT_TIME_ZONE } from "../../domain/members/languages.ts";
import { MAIL_STEPS_MS, mailPauseMs } from "../../domain/mails/mail-schedule.ts";
import {
  MAIL_KINDS,
  MAIL_LEASE_MS,
  type MailData,
  type MailFailure,
  type MailKind,
  REPLY_LIMIT,
  wantsMail,
} from "../../domain/mails/mails.ts";
import { lifetimesOf } from "../../domain/sign-ins/sign-ins.ts";
import { spreadJitter } from "../../domain/values/jitter.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";
import {
  findMailSettings,
  listDueMails,
  listInterruptedMails,
  resumeWaitingMails,
} from "../../db/mails/mails.ts";
import { findMember, mayUsePortal } from "../../db/members/members.ts";
import { findRegistration } from "../../db/members/registrations.ts";
import type { Tx } from "../../db/port/port.ts";
import { OUTBOX_LOCK } from "../../db/tables/locks.ts";
import { type Mail, mails } from "../../db/tables/mails.ts";
import { type Member, members, registrations } from "../../db/tables/members.ts";
import type { Context } from "../batch/context.ts";

/** Number of mails that are examined for each that can be sent: some must wait, because their address got many. */
const EXAMINED = 5;

export interface TakeDueMails {
  /** The id of the server that sends them. */
  server: string;
  /** Number of mails that the server can start now. */
  limit: number;
  /** Limit for the mails to one address in an hour. */
  perHour: number;
  /** SHA-256 of new tokens for links, as many as `limit`. */
  hashes: readonly string[];
  /** SHA-256 of the tokens of earlier attempts, so that a mail that is sent twice has the same link. */
  known: readonly { mailId: number; hash: string }[];
}

export interface DueMail {
  mailId: number;
  /** The public id, from which the id of the message is made. */
  id: string;
  kind: MailKind;
  /** The number of this attempt, from 1. */
  attempt: number;
  email: string;
  language: Language;
  timeZone: string;
  /** What it tells, as JSON. */
  data: string;
  createdAt: number;
  /** SHA-256 of the token that its link holds; null: no link with a secret. */
  linkHash: string | null;
}

/** Takes due mails. No server takes them again until the attempt is recorded or the lease ends. */
export function takeDueMails(tx: Tx, command: TakeDueMails, { now }: Context): DueMail[] {
  const { limit, perHour } = command;
  tx.lock(OUTBOX_LOCK);
  const due = listDueMails(tx, now, now - HOUR_MS, limit * EXAMINED);
  const known = new Map(command.known.map(({ mailId, hash }) => [mailId, hash]));
  const unused = [...command.hashes];
  const sentTo = new Map<string, number>();
  const taken: DueMail[] = [];
  const found = tx.each(due, (mail) => addresseeOf(tx, mail, now));
  due.forEach(({ recent, oldestAt, ...mail }, index) => {
    const addressee = found[index]!;
    if (taken.length === limit) return;
    if (addressee === null || mail.attempts > MAIL_STEPS_MS.length) return end(tx, mail, now);
    const { email, link } = addressee;
    // An earlier attempt arrived although it failed, and its link was used or has ended.
    if (link !== null && link.hash === null && mail.attempts > 0) return end(tx, mail, now);
    if (email !== mail.email) {
      // The address was changed: the mails to the new one are counted in the next turn.
      tx.update(mails, mail, { ...WAITING, email, dueAt: now });
      return;
    }
    const sent = recent + (sentTo.get(email) ?? 0);
    // Links have a limit of their own: LINK_PAUSE_MS.
    if (sent >= perHour && link === null) {
      tx.update(mails, mail, { ...WAITING, dueAt: (oldestAt ?? now) + HOUR_MS });
      return;
    }
    sentTo.set(email, (sentTo.get(email) ?? 0) + 1);
    if (link === null) return void taken.push(take(tx, mail, addressee, null, command.server, now));
    const earlier = known.get(mail.mailId);
    // A link that another took the place of may have been used.
    const hash = earlier !== undefined && earlier === link.hash ? earlier : unused.pop()!;
    link.store(hash);
    taken.push(take(tx, mail, addressee, hash, command.server, now));
  });
  return taken;
}

function take(
  tx: Tx,
  mail: Mail,
  { email, language, timeZone }: Addressee,
  linkHash: string | null,
  server: string,
  now: number,
): DueMail {
  const { mailId, id, kind, data, createdAt } = mail;
  const { attempts: attempt } = tx.update(mails, mail, {
    state: "sending",
    dueAt: now + MAIL_LEASE_MS,
    server,
    attempts: mail.attempts + 1,
    triedAt: now,
  });
  return { mailId, id, kind, attempt, email, language, timeZone, data, createdAt, linkHash };
}

/** Ends a mail that is no longer wanted, or whose last attempt was never recorded. */
function end(tx: Tx, mail: Mail, now: number): void {
  const isGivenUp = mail.attempts > MAIL_STEPS_MS.length;
  const state = isGivenUp ? ("failed" as const) : ("dropped" as const);
  tx.update(mails, mail, { state, dueAt: null, server: null, endedAt: now });
}

const WAITING = { state: "waiting", server: null } as const;

interface Addressee {
  email: string;
  language: Language;
  timeZone: string;
  /** Null: the mail has no link with a secret. */
  link: {
    /** SHA-256 of the token that opens it now; null: none. */
    hash: string | null;
    store: (hash: string) => void;
  } | null;
}

/** Returns who receives the mail now; null if it is no longer wanted. */
function addresseeOf(tx: Tx, mail: Mail, now: number): Addressee | null {
  const { to, link } = MAIL_KINDS[mail.kind];
  if (to === "operator") return operatorOf(tx);
  if (link === "registration") return visitorOf(tx, mail, now);
  const member = findMember(tx, mail.member!);
  if (!member) return null;
  // The old address gets this e-mail even if the member was disabled meanwhile.
  if (to === "old_address") return { ...readerOf(member), email: mail.email, link: null };
  if (!mayUsePortal(tx, member) || !wantsMail(member, mail.kind)) return null;
  if (link === "new_address") return newAddressOf(tx, member, now);
  const reader = readerOf(member);
  if (link === null) return { ...reader, link };
  // An invitation that was accepted by another link, or a reset of a member who is invited again.
  const isReset = mail.kind === "password_reset";
  if (isReset !== (member.passwordHash !== null)) return null;
  const { invitationHash: hash } = member;
  const store = (made: string) => invite(tx, member, isReset, made, now);
  return { ...reader, link: { hash, store } };
}

function readerOf({ email, language, timeZone }: Member): Omit<Addressee, "link"> {
  return { email, language, timeZone };
}

/** The address that the member wants to prove; null if it wants none any more. */
function newAddressOf(tx: Tx, member: Member, now: number): Addressee | null {
  const { newEmail: email, newEmailHash: hash, newEmailUntil } = member;
  if (email === null || newEmailUntil! <= now) return null;
  const store = (newEmailHash: string) => {
    const until = now + lifetimesOf("portal").resetMs;
    tx.update(members, member, { newEmailHash, newEmailUntil: until });
  };
  return { ...readerOf(member), email, link: { hash, store } };
}

function invite(tx: Tx, member: Member, isReset: boolean, invitationHash: string, now: number) {
  const { resetMs, invitationMs } = lifetimesOf("portal");
  const invitedUntil = now + (isReset ? resetMs : invitationMs);
  tx.update(members, member, { invitationHash, invitedUntil });
}

function operatorOf(tx: Tx): Addressee | null {
  const { operator: email } = findMailSettings(tx);
  return email === null ? null : { email, language: "en", timeZone: DEFAULT_TIME_ZONE, link: null };
}

function visitorOf(tx: Tx, { data }: Mail, now: number): Addressee | null {
  const { registration, language } = JSON.parse(data) as MailData["registration"];
  const found = findRegistration(tx, registration);
  if (!found || found.confirmUntil === null) return null;
  const { email } = found;
  return {
    email,
    language,
    timeZone: DEFAULT_TIME_ZONE,
    link: {
      hash: found.confirmHash,
      store(confirmHash) {
        const confirmUntil = now + lifetimesOf("portal").resetMs;
        tx.update(registrations, found, { confirmHash, confirmUntil });
      },
    },
  };
}

export interface RecordMailAttempts {
  attempts: readonly FinishedMailAttempt[];
  /** 0 to 1. */
  jitter: number;
}

export interface FinishedMailAttempt {
  mailId: number;
  attempt: number;
  /** Null: it was sent. */
  error: MailFailure | null;
  /** What the mail server answered; null: nothing. */
  reply: string | null;
}

/** The consequence of an attempt, for the log. `late`: the mail had been taken again, or was sent. */
export interface RecordedMailAttempt {
  mailId: number;
  kind: MailKind;
  result: "sent" | "waiting" | "failed" | "late";
}

/**
 * Records attempts. Recording one again changes nothing, so a caller may repeat the command when it does not know
 * whether it was committed. Returns nothing for a mail that no longer exists.
 */
export function recordMailAttempts(
  tx: Tx,
  { attempts, jitter }: RecordMailAttempts,
  { now }: Context,
): RecordedMailAttempt[] {
  const recorded = tx.each(attempts, (attempt, index) =>
    record(tx, attempt, spreadJitter(jitter, index), now),
  );
  return recorded.filter((each) => each !== null);
}

function record(
  tx: Tx,
  { mailId, attempt, error, reply: answered }: FinishedMailAttempt,
  random: number,
  now: number,
): RecordedMailAttempt | null {
  const mail = tx.row(mails.byKey, mailId);
  if (!mail) return null;
  const { kind } = mail;
  const isCurrent = mail.state === "sending" && mail.attempts === attempt;
  // An attempt that succeeded after its lease had ended is a success too.
  if (mail.state === "sent" || (!isCurrent && error !== null)) {
    return { mailId, kind, result: "late" };
  }
  const reply = answered && storedReply(answered);
  const pause = error === null ? null : mailPauseMs(mail.attempts, error, random);
  if (pause !== null) {
    tx.update(mails, mail, { ...WAITING, dueAt: now + pause, error, reply });
    return { mailId, kind, result: "waiting" };
  }
  const state = error === null ? ("sent" as const) : ("failed" as const);
  tx.update(mails, mail, { state, dueAt: null, server: null, endedAt: now, error, reply });
  return { mailId, kind, result: state };
}

/** Returns an answer as one line of printable characters, which both engines store. */
function storedReply(text: string): string {
  return text
    .replace(/\p{Cc}+/gu, " ")
    .slice(0, REPLY_LIMIT)
    .toWellFormed();
}

/** Releases the mails in flight on servers that have ended: they are due at once. Returns how many. */
export function releaseMails(tx: Tx, { server }: { server: string }, { now }: Context): number {
  const interrupted = listInterruptedMails(tx, server);
  tx.each(interrupted, (mailId) => tx.update(mails, { mailId }, { ...WAITING, dueAt: now }));
  return interrupted.length;
}

/** Makes the mails due that waited for the mail server, which can be used again. Returns how many. */
export function resumeMails(tx: Tx, _command: null, { now }: Context): number {
  return resumeWaitingMails(tx, now);
}

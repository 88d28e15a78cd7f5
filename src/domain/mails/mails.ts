// E-mails: their kinds, what each tells, who may turn one off, and their states. docs/specification/email.md#mail-kinds.

import type { MailChoice } from "../members/members.ts";
import type { Language } from "../members/languages.ts";
import type { OrderStatus } from "../orders/order-statuses.ts";
import { DAY_MS, MINUTE_MS } from "../values/spans.ts";

/** An amount in micros. As text it is exact above 2^53. */
export type StoredMicros = number | string;

/** What each kind of mail tells. Links and texts are made when it is sent. */
export interface MailData {
  invitation: object;
  password_reset: object;
  registration: {
    registration: string;
    name: string;
    language: Language;
    /** Whether the account waits for the operator once the address is proved. */
    waits?: boolean;
  };
  registration_known: object;
  address_change: object;
  address_changed: { at: number };
  sign_in: { address: string; userAgent: string; at: number };
  low_balance: { balanceMicros: StoredMicros; thresholdMicros: StoredMicros };
  payment_paid: {
    payment: string;
    amountMicros: StoredMicros;
    currency: string;
    creditMicros: StoredMicros;
    at: number;
  };
  payment_rejected: {
    payment: string;
    amountMicros: StoredMicros;
    currency: string;
    reason: string | null;
    at: number;
  };
  order_refund: {
    orderId: number;
    service: string;
    status: OrderStatus;
    refundMicros: StoredMicros;
    at: number;
  };
  alert: {
    event: "alert.raised" | "alert.resolved";
    kind: string;
    subject: string;
    message: string;
    at: number;
  };
  registration_to_approve: { at: number };
  payment_to_approve: {
    payment: string;
    user: string;
    method: string;
    amountMicros: StoredMicros;
    currency: string;
    at: number;
  };
}

export type MailKind = keyof MailData;

interface KindFacts {
  /** `new_address`: one that a member wants to prove. `old_address`: one that was a member's, whatever it has now. */
  to: "member" | "new_address" | "old_address" | "visitor" | "operator";
  /** The choice by which a member turns the kind off; null: it is always sent. */
  choice: MailChoice | null;
  /**
   * For whom the mail holds a link with a secret token. The token is made when the mail is sent. Null: it holds no such
   * link.
   */
  link: "member" | "new_address" | "registration" | null;
}

const always = (to: KindFacts["to"]): KindFacts => ({ to, choice: null, link: null });
const chosen = (choice: MailChoice): KindFacts => ({ to: "member", choice, link: null });

export const MAIL_KINDS: Record<MailKind, KindFacts> = {
  invitation: { ...always("member"), link: "member" },
  password_reset: { ...always("member"), link: "member" },
  registration: { ...always("visitor"), link: "registration" },
  registration_known: always("member"),
  address_change: { ...always("new_address"), link: "new_address" },
  address_changed: always("old_address"),
  sign_in: chosen("sign_in"),
  low_balance: chosen("low_balance"),
  payment_paid: chosen("payment"),
  payment_rejected: chosen("payment"),
  order_refund: chosen("order_refund"),
  alert: always("operator"),
  registration_to_approve: always("operator"),
  payment_to_approve: always("operator"),
};

/** Returns whether a member with these choices receives the kind. */
export function wantsMail({ mails }: { mails: string }, kind: MailKind): boolean {
  const { choice } = MAIL_KINDS[kind];
  return choice === null || mails.split(",").includes(choice);
}

/** `dropped`: no longer wanted when it was due. */
export const MAIL_STATES = ["waiting", "sending", "sent", "failed", "dropped"] as const;
export type MailState = (typeof MAIL_STATES)[number];

/** Why an attempt failed. */
export const MAIL_FAILURES = [
  /** The mail server refused the recipient or the mail for good (5xx). */
  "refused",
  /** The mail server asked to try the recipient or the mail later (4xx). */
  "deferred",
  /** The mail server takes no mail from this sender or account, for now or for good. */
  "account",
  /** No connection, or it broke. */
  "connection",
  "timeout",
  /** No TLS, or a certificate that does not fit. */
  "tls",
  /** The mail server did not accept name or password. */
  "login",
  /** An error of this server: see its log. */
  "internal",
] as const;
export type MailFailure = (typeof MAIL_FAILURES)[number];
export type MailOutcome = MailFailure | "sent";

/** Failures that concern the mail server, not the mail. */
export function isServerFailure(failure: MailFailure): boolean {
  return failure !== "refused" && failure !== "deferred" && failure !== "internal";
}

/** Time from the start of an attempt until any server may try again. Attempts end within a quarter of it. */
export const MAIL_LEASE_MS = 4 * MINUTE_MS;
/** How long mails are kept after they ended. The links to turn mails off work as long. */
export const MAIL_RETENTION_MS = 60 * DAY_MS;
/** Limit for the stored characters of what a mail server answered. */
export const REPLY_LIMIT = 300;
/**
 * Shortest time between two links that one address asks for, so that nobody else can end a link before it is used.
 */
export const LINK_PAUSE_MS = 10 * MINUTE_MS;

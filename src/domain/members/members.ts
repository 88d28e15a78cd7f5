// Members: the people of a reseller, who use the portal. Their roles, and what each role may do.

import { isEmail } from "../users/users.ts";

/** What a member may do in the portal. */
export const MEMBER_PERMISSIONS = ["read", "order", "keys", "members"] as const;
/**
 * `read`: see everything of the reseller. `order`: place orders, and ask for their cancellation and refill. `keys`: API
 * keys, webhooks and the test side. `members`: invite members, change their roles and remove them.
 */
export type MemberPermission = (typeof MEMBER_PERMISSIONS)[number];

export const MEMBER_ROLES = ["viewer", "developer", "buyer", "owner"] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

const PERMISSIONS: Record<MemberRole, readonly MemberPermission[]> = {
  viewer: ["read"],
  developer: ["read", "keys"],
  buyer: ["read", "order"],
  owner: MEMBER_PERMISSIONS,
};

export function mayMember(role: MemberRole, permission: MemberPermission): boolean {
  return PERMISSIONS[role].includes(permission);
}

/** Returns whether a member loses a permission with another role. */
export function takesAway(from: MemberRole, to: MemberRole): boolean {
  return PERMISSIONS[from].some((permission) => !mayMember(to, permission));
}

const AUTHOR = /^member:([a-z0-9]{24})$/;

/** Returns the name of a member in the ledger, the audit log and the events of orders. It holds nothing personal. */
export function memberAuthor(id: string): string {
  return `member:${id}`;
}

/** Returns the id of the member that is the author; null for any other author. */
export function memberOf(author: string | null): string | null {
  return AUTHOR.exec(author ?? "")?.[1] ?? null;
}

export const MEMBER_NAME_LIMIT = 200;
/** Returns the address in lower case, by which members are found; null if it is none. */
export function parseEmail(text: string): string | null {
  const email = text.trim().toLowerCase();
  return isEmail(email) ? email : null;
}

/** Returns whether two addresses are the same without regard to case. */
export function isSameEmail(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The columns of a member who asks for no other address. */
export const NO_NEW_ADDRESS = { newEmail: null, newEmailHash: null, newEmailUntil: null };

/** Lengths of a member's password, in UTF-16 units. */
export const MEMBER_PASSWORD_LEAST = 10;
const MEMBER_PASSWORD_MOST = 1024;

export function isMemberPassword(text: string): boolean {
  const { length } = text;
  return length >= MEMBER_PASSWORD_LEAST && length <= MEMBER_PASSWORD_MOST && text.isWellFormed();
}

/** Limit for the visitors who asked for an account and have not proved their address yet. */
export const UNPROVED_LIMIT = 1000;

/** Limit for the members of a reseller who are not disabled. */
export const MEMBERS_LIMIT = 100;
/** The same with those who are disabled. Members are never deleted. */
export const MEMBERS_EVER_LIMIT = 1000;

/** E-mails that a member may turn on and off. */
export const MAIL_CHOICES = ["sign_in", "low_balance", "payment", "order_refund"] as const;
export type MailChoice = (typeof MAIL_CHOICES)[number];
/** What new members receive. */
export const DEFAULT_MAILS = "sign_in,low_balance,payment";

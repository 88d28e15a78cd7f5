// Users, who hold balances: resellers (main users) and their child users.

import { hasControlCharacter } from "../values/text.ts";
import type { KeyReach } from "./keys.ts";

export const USERNAME_PATTERN = "^[A-Za-z0-9._@+-]{1,64}$";
export const USERNAME_FORM = "1 to 64 of letters, digits and . _ - @ +";
const USERNAME = new RegExp(USERNAME_PATTERN);
export const USER_NAME_LENGTH_LIMIT = 200;

/** Accepts 1 to 64 ASCII letters, digits and `. _ - @ +`. Usernames are unique and looked up without regard to case. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

const EMAIL = /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+\.[^\s@.<>,;:"()[\]\\]+$/;
const EMAIL_LENGTH_LIMIT = 254;
export const EMAIL_FORM = "an e-mail address such as ann@example.com";

/** Accepts what can be an address. Whether it receives mail is not checked. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_LIMIT && text.isWellFormed() && EMAIL.test(text);
}

const NOTE_LENGTH_LIMIT = 2000;
export const USER_NOTE_FORM = `1 to ${NOTE_LENGTH_LIMIT} characters; line breaks are allowed`;

/** Reads the operator's notes about a user. Null for empty or too long text, and for control characters. */
export function parseUserNote(text: string): string | null {
  const note = text.replaceAll("\r\n", "\n").trim();
  const isPrintable =
    note.isWellFormed() && note.split("\n").every((line) => !hasControlCharacter(line));
  return note.length >= 1 && note.length <= NOTE_LENGTH_LIMIT && isPrintable ? note : null;
}

/** Returns whether a reseller's key may look up and recharge the user. docs/specification/users.md#keys-reach. */
export function isInReach(
  reach: KeyReach,
  resellerAccount: number,
  user: { parentAccount: number | null },
): boolean {
  return reach === "all" || user.parentAccount === resellerAccount;
}

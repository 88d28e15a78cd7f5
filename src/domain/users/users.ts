// Users, who hold balances: resellers (main users) and their child users.

import type { KeyReach } from "./keys.ts";

export const USERNAME_PATTERN = "^[A-Za-z0-9._@+-]{1,64}$";
export const USERNAME_FORM = "1 to 64 of letters, digits and . _ - @ +";
const USERNAME = new RegExp(USERNAME_PATTERN);
export const USER_NAME_LENGTH_LIMIT = 200;

/** Accepts 1 to 64 ASCII letters, digits and `. _ - @ +`. Usernames are unique and looked up without regard to case. */
export function isUsername(text: string): boolean {
  return USERNAME.test(text);
}

/** Returns whether a reseller's key may look up and recharge the user. docs/specification/users.md#keys-reach. */
export function isInReach(
  reach: KeyReach,
  resellerAccount: number,
  user: { parentAccount: number | null },
): boolean {
  return reach === "all" || user.parentAccount === resellerAccount;
}

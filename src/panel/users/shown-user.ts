// Finds the user that a page or an action is about.

import type { Reader } from "../../db/port/port.ts";
import { findUser, type User } from "../../db/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";

/** Returns the user. Throws user_not_found. */
export function requireShownUser(reader: Reader, username: string): User {
  const user = findUser(reader, username);
  if (!user) throw refusal("user_not_found");
  return user;
}

/** Returns the path of a user's page. */
export function userPath(username: string): string {
  return `/users/${encodeURIComponent(username)}`;
}

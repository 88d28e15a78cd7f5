// Users on standard output.

import type { Reader } from "../db/port.ts";
import type { ListedUser } from "../db/user-lists.ts";
import { findUserByAccount, type User } from "../db/users.ts";
import { userBalances } from "../domain/responses.ts";
import { discountPercent } from "../domain/prices.ts";
import { dollars } from "./output.ts";
import { fields, type Row } from "./text-table.ts";

export function userJson(user: User) {
  return { ...userBalances(user), resellerId: user.resellerId };
}

/** Of a user that may be inactive, and may have a discount. */
export function stateJson(user: User) {
  return { ...userJson(user), active: user.active, discount: discountPercent(user.discountPpm) };
}

export function withParent(reader: Reader, user: User): User & { parent: string | null } {
  const { parentAccount } = user;
  const parent = parentAccount === null ? null : findUserByAccount(reader, parentAccount)!.username;
  return { ...user, parent };
}

/** The same cells for one, and what the list has no room for. */
export function userText(user: User & { parent: string | null }, more: Row = {}): string {
  return fields({
    ...userCells(user),
    discount: `${discountPercent(user.discountPpm)} %`,
    ...more,
  });
}

/** For a person, in the list and by itself: the one balance that the user has, whether `balance` or `childBalance`. */
export function userCells(
  user: Pick<ListedUser, "username" | "name" | "balanceMicros" | "parent" | "active" | "id">,
) {
  return {
    username: user.username,
    name: user.name,
    "balance usd": dollars(user.balanceMicros),
    parent: user.parent,
    active: user.active,
    id: user.id,
  };
}

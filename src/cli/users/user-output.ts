// Prints users on standard output.

import type { Reader } from "../../db/port/port.ts";
import type { ListedUser } from "../../db/users/user-lists.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { userBalances } from "../../domain/orders/responses.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { dollars } from "../output/output.ts";
import { fields, type Row } from "../output/text-table.ts";

export function userJson(user: User) {
  return { ...userBalances(user), resellerId: user.resellerId };
}

/** Returns the JSON of a user with its state and discount. */
export function stateJson(user: User) {
  return { ...userJson(user), active: user.active, discount: discountPercent(user.discountPpm) };
}

/** Adds the username of the parent. */
export function withParent(reader: Reader, user: User): User & { parent: string | null } {
  const { parentAccount } = user;
  const parent = parentAccount === null ? null : findUserByAccount(reader, parentAccount)!.username;
  return { ...user, parent };
}

/** Returns one user for a person: the cells of the list and further facts. */
export function userText(user: User & { parent: string | null }, more: Row = {}): string {
  return fields({
    ...userCells(user),
    discount: `${discountPercent(user.discountPpm)} %`,
    ...more,
  });
}

/**
 * Returns the cells of a user for a person. A user has only one balance, whether the JSON calls it `balance` or
 * `childBalance`.
 */
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

// Prints users on standard output.

import type { Reader } from "../../db/port/port.ts";
import type { ListedUser } from "../../db/users/user-lists.ts";
import { findContact, type UserContact } from "../../db/users/user-contacts.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { userBalances } from "../../domain/orders/responses.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { dollars } from "../output/output.ts";
import { fields, type Row } from "../output/text-table.ts";

export function userJson(user: User) {
  return { ...userBalances(user), resellerId: user.resellerId };
}

/** Returns the JSON of a user in lists, with its state, discount and e-mail address. */
export function stateJson(user: User & Pick<UserContact, "email">) {
  const { active, discountPpm, email } = user;
  return { ...userJson(user), active, discount: discountPercent(discountPpm), email };
}

/** Returns the JSON of one user, with the operator's notes. */
export function shownJson(user: ShownUser) {
  return { ...stateJson(user), note: user.note };
}

/** A user with the username of its parent and what only the operator sees. */
export type ShownUser = User & UserContact & { parent: string | null };

export function shownUser(reader: Reader, user: User): ShownUser {
  const { parentAccount } = user;
  const parent = parentAccount === null ? null : findUserByAccount(reader, parentAccount)!.username;
  return { ...user, ...findContact(reader, user.account), parent };
}

/** Returns one user for a person: the cells of the list and further facts. */
export function userText(user: ShownUser, more: Row = {}): string {
  return fields({
    ...userCells(user),
    discount: `${discountPercent(user.discountPpm)} %`,
    ...more,
    ...(user.email !== null && { email: user.email }),
    ...(user.note !== null && { note: user.note }),
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

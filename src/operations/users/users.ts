// Users: creating and changing them. Credits and debits by the operator: adjustments.ts.

import type { Actor } from "../../domain/ledger/ledger.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { refusal } from "../../domain/values/error-table.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { listKeys } from "../../db/users/keys.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import { keys } from "../../db/tables/users.ts";
import {
  findUser,
  findUserByAccount,
  insertUser,
  updateUserFields,
  type User,
} from "../../db/users/users.ts";
import { findContact, putContact, type UserContact } from "../../db/users/user-contacts.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { lockBothAccounts, renameTestAccount } from "./test-accounts.ts";
import { changeDiscount } from "../catalogue/service-changes.ts";

export interface CreateUser {
  username: string;
  name: string;
  /** The reseller of a child user; null for a reseller. */
  parent: string | null;
  /** Absent: none. */
  email?: string;
  note?: string;
  /** Only of a reseller; absent: none. */
  discountPpm?: number;
  actor: Actor;
}

/** Creates a user. Refuses: parent_not_found, parent_is_child, username_taken. */
export function createUser(tx: Tx, command: CreateUser, context: Context): User {
  const parent = command.parent === null ? null : findUser(tx, command.parent);
  if (parent === undefined) throw refusal("parent_not_found");
  if (parent && parent.parentAccount !== null) throw refusal("parent_is_child");
  if (findUser(tx, command.username)) throw refusal("username_taken");
  // Nothing is refused from here on.
  const { discountPpm = 0 } = command;
  const account = insertUser(tx, {
    discountPpm,
    id: context.createId(),
    username: command.username,
    name: command.name,
    parentAccount: parent?.account ?? null,
    createdAt: context.now,
  });
  const { email = null, note = null } = command;
  putContact(tx, account, { email, note });
  audit(tx, context, {
    actor: command.actor,
    action: "user.create",
    subject: command.username,
    account,
    before: null,
    after: {
      name: command.name,
      parent: parent?.username ?? null,
      ...(email !== null && { email }),
      ...(note !== null && { note }),
      ...(discountPpm > 0 && { discountPercent: discountPercent(discountPpm) }),
    },
  });
  return findUserByAccount(tx, account)!;
}

export interface UpdateUser {
  username: string;
  /** Absent: unchanged. Null: removed. */
  changes: { name?: string; username?: string } & Partial<UserContact>;
  actor: Actor;
}

/**
 * Changes a user's names, e-mail address and notes. Its account and its id stay.
 * Refuses: user_not_found, user_erased, username_taken.
 */
export function updateUser(tx: Tx, command: UpdateUser, context: Context): { account: number } {
  const before = requireUser(tx, command.username);
  const { account } = before;
  if (before.erasedAt !== null) throw refusal("user_erased");
  const { email, note, ...names } = command.changes;
  const { username } = names;
  const holder = username === undefined ? undefined : findUser(tx, username);
  if (holder && holder.account !== account) throw refusal("username_taken");
  // Nothing is refused from here on.
  const after = updateUserFields(tx, account, names);
  renameTestAccount(tx, { ...before, ...after });
  const contact = findContact(tx, account);
  const changed = {
    email: email === undefined ? contact.email : email,
    note: note === undefined ? contact.note : note,
  };
  putContact(tx, account, changed);
  audit(tx, context, {
    actor: command.actor,
    action: "user.update",
    subject: after.username,
    account,
    before: { username: before.username, name: before.name, ...contact },
    after: { username: after.username, name: after.name, ...changed },
  });
  return { account };
}

export interface SetUserActive {
  username: string;
  active: boolean;
  actor: Actor;
}

/**
 * Activates or deactivates a reseller. Its keys are suspended while it is inactive, because a check of a key does not
 * read its user: a join would cost every request for what happens a few times a year. Keys that were deactivated before
 * stay inactive. Its balance, its child users and its orders stay. Returns how many keys changed. Refuses:
 * user_not_found, child_has_no_keys, user_erased.
 */
export function setUserActive(tx: Tx, command: SetUserActive, context: Context): { keys: number } {
  const { active, actor } = command;
  const { account, username, parentAccount, ...user } = requireUser(tx, command.username);
  if (parentAccount !== null) throw refusal("child_has_no_keys");
  if (user.erasedAt !== null) throw refusal("user_erased");
  lockBothAccounts(tx, account);
  const changed = listKeys(tx, { account }).filter((key) => (active ? key.suspended : key.active));
  // Nothing is refused from here on.
  updateUserFields(tx, account, { active });
  tx.each(changed, ({ id }) => tx.update(keys, { id }, { active, suspended: !active }));
  audit(tx, context, {
    actor,
    action: active ? "user.activate" : "user.deactivate",
    subject: username,
    account,
    before: { active: user.active },
    after: { active, ...(user.active === active ? {} : { keys: changed.length }) },
  });
  return { keys: changed.length };
}

export interface SetDiscount {
  username: string;
  /** 0 to FULL_DISCOUNT_PPM; 0: no discount. */
  discountPpm: number;
  actor: Actor;
}

/**
 * Sets the reseller's discount on list prices. Services for which the reseller has a price of its own keep that price,
 * and existing orders keep theirs. Refuses: user_not_found, child_cannot_hold_discount.
 */
export function setDiscount(tx: Tx, command: SetDiscount, context: Context): { account: number } {
  const { discountPpm, actor } = command;
  const user = requireUser(tx, command.username);
  const { account, username, parentAccount } = user;
  if (parentAccount !== null) throw refusal("child_cannot_hold_discount");
  if (discountPpm === user.discountPpm) return { account };
  // Nothing is refused from here on. The lock keeps prices as they are while the events are written.
  tx.lock(CATALOGUE_LOCK);
  changeDiscount(tx, user, discountPpm, context);
  audit(tx, context, {
    actor,
    action: "user.discount",
    subject: username,
    account,
    before: { discountPercent: discountPercent(user.discountPpm) },
    after: { discountPercent: discountPercent(discountPpm) },
  });
  return { account };
}

/** Runs createUser without returning the balance: see adjustBalance (adjustments.ts). */
export function addUser(tx: Tx, command: CreateUser, context: Context): null {
  createUser(tx, command, context);
  return null;
}

/** Returns the user. Refuses: user_not_found. */
export function requireUser(reader: Reader, username: string): User {
  const user = findUser(reader, username);
  if (!user) throw refusal("user_not_found");
  return user;
}

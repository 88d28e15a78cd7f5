// Users, and the operator's adjustments of their balances.

import { cashAccount, refuseCreditAboveLimit, refuseDebitAboveBalance } from "../domain/ledger.ts";
import type { Actor } from "../domain/ledger.ts";
import { refusal } from "../domain/refusals.ts";
import type { Reader, Tx } from "../db/port.ts";
import { postTransfer } from "../db/ledger.ts";
import { listKeys } from "../db/keys.ts";
import { keys } from "../db/tables.ts";
import {
  findUser,
  findUserByAccount,
  insertUser,
  updateUserFields,
  type User,
} from "../db/users.ts";
import { audit } from "./audit.ts";
import type { Context } from "./context.ts";
import { lockSides, renameTestAccount } from "./test-accounts.ts";
import { recordCreditEvent, recordDebitEvents } from "./webhook-events.ts";

export interface CreateUser {
  username: string;
  name: string;
  /** The reseller of a child user; null for a reseller. */
  parent: string | null;
  actor: Actor;
}

/** Refuses: parent_not_found, parent_is_child, username_taken. */
export function createUser(tx: Tx, command: CreateUser, context: Context): User {
  const parent = command.parent === null ? null : findUser(tx, command.parent);
  if (parent === undefined) throw refusal("parent_not_found");
  if (parent && parent.parentAccount !== null) throw refusal("parent_is_child");
  if (findUser(tx, command.username)) throw refusal("username_taken");
  // Nothing is refused from here on.
  const account = insertUser(tx, {
    id: context.createId(),
    username: command.username,
    name: command.name,
    parentAccount: parent?.account ?? null,
    createdAt: context.now,
  });
  audit(tx, context, {
    actor: command.actor,
    action: "user.create",
    subject: command.username,
    account,
    before: null,
    after: { name: command.name, parent: parent?.username ?? null },
  });
  return findUserByAccount(tx, account)!;
}

export interface UpdateUser {
  username: string;
  /** Absent: as it was. */
  changes: { name?: string; username?: string };
  actor: Actor;
}

/** Its account, its id and what refers to them stay. Refuses: user_not_found, user_erased, username_taken. */
export function updateUser(tx: Tx, command: UpdateUser, context: Context): { account: number } {
  const before = requireUser(tx, command.username);
  const { account } = before;
  if (before.erasedAt !== null) throw refusal("user_erased");
  const { username } = command.changes;
  const holder = username === undefined ? undefined : findUser(tx, username);
  if (holder && holder.account !== account) throw refusal("username_taken");
  // Nothing is refused from here on.
  const after = updateUserFields(tx, account, command.changes);
  renameTestAccount(tx, { ...before, ...after });
  audit(tx, context, {
    actor: command.actor,
    action: "user.update",
    subject: after.username,
    account,
    before: { username: before.username, name: before.name },
    after: { username: after.username, name: after.name },
  });
  return { account };
}

export interface SetUserActive {
  username: string;
  active: boolean;
  actor: Actor;
}

/**
 * A deactivated reseller's keys are inactive until it is activated: then those that were active by themselves are so
 * again. Its balance, its child users and its orders stay as they are. Returns how many keys changed.
 * Refuses: user_not_found, child_has_no_keys, user_erased.
 */
export function setUserActive(tx: Tx, command: SetUserActive, context: Context): { keys: number } {
  const { active, actor } = command;
  const { account, username, parentAccount, ...user } = requireUser(tx, command.username);
  if (parentAccount !== null) throw refusal("child_has_no_keys");
  if (user.erasedAt !== null) throw refusal("user_erased");
  lockSides(tx, account);
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

export interface AdjustBalance {
  username: string;
  /** Above 0, at most AMOUNT_LIMIT_MICROS. */
  amountMicros: number;
  note: string | null;
  actor: Actor;
}

export interface AdjustedBalance {
  /** After the change. */
  user: User;
  previousBalanceMicros: bigint;
}

/** Refuses: user_not_found, balance_too_large, deposits_too_large. */
export function creditUser(tx: Tx, command: AdjustBalance, context: Context): AdjustedBalance {
  const user = requireUser(tx, command.username);
  refuseCreditAboveLimit(user, command.amountMicros);
  const adjusted = adjust(tx, command, context, user, cashAccount(false), user.account);
  recordCreditEvent(tx, user, command.amountMicros, "adjustment", context);
  return adjusted;
}

/** Refuses: user_not_found, insufficient_balance. */
export function debitUser(tx: Tx, command: AdjustBalance, context: Context): AdjustedBalance {
  const user = requireUser(tx, command.username);
  refuseDebitAboveBalance(user.balanceMicros, command.amountMicros);
  const adjusted = adjust(tx, command, context, user, user.account, cashAccount(false));
  recordDebitEvents(tx, user, command.amountMicros, context);
  return adjusted;
}

/**
 * A credit or a debit for a caller that is sent no balance: replies of a server's writer are JSON, and a balance may be
 * above 2^53. Refuses what creditUser and debitUser refuse.
 */
export function adjustBalance(
  tx: Tx,
  { direction, ...command }: AdjustBalance & { direction: "credit" | "debit" },
  context: Context,
): null {
  (direction === "credit" ? creditUser : debitUser)(tx, command, context);
  return null;
}

/** createUser for a caller that is sent no balance: see adjustBalance. */
export function addUser(tx: Tx, command: CreateUser, context: Context): null {
  createUser(tx, command, context);
  return null;
}

/** Refuses: user_not_found. */
export function requireUser(reader: Reader, username: string): User {
  const user = findUser(reader, username);
  if (!user) throw refusal("user_not_found");
  return user;
}

function adjust(
  tx: Tx,
  command: AdjustBalance,
  context: Context,
  user: User,
  debitAccount: number,
  creditAccount: number,
): AdjustedBalance {
  postTransfer(tx, {
    debitAccount,
    creditAccount,
    amountMicros: command.amountMicros,
    kind: "adjustment",
    orderId: null,
    actor: command.actor,
    note: command.note,
    createdAt: context.now,
  });
  const adjusted = findUserByAccount(tx, user.account)!;
  audit(tx, context, {
    actor: command.actor,
    action: creditAccount === user.account ? "user.credit" : "user.debit",
    subject: user.username,
    account: user.account,
    before: { balanceMicros: user.balanceMicros },
    after: { balanceMicros: adjusted.balanceMicros, note: command.note },
  });
  return { user: adjusted, previousBalanceMicros: user.balanceMicros };
}

// Imports users with starting credits, and keys, all of a list or nothing.

import type { Reader, Tx } from "../../db/port/port.ts";
import { transferDetails, transfers } from "../../db/tables/ledger.ts";
import { findUser, type User } from "../../db/users/users.ts";
import { type Actor, refuseCreditAboveLimit } from "../../domain/ledger/ledger.ts";
import type { ImportProblem } from "../../domain/users/refusals.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { Context } from "../batch/context.ts";
import { creditUser } from "../ledger/adjustments.ts";
import { createKey, type CreateKey } from "./keys.ts";
import { createUser } from "./users.ts";

export interface NewUserRow {
  username: string;
  name: string;
  email: string | null;
  /** A reseller, which may be of an earlier row; null: it is a reseller itself. */
  parent: string | null;
  discountPpm: number;
  /** Repeated with the same reference, it has no second effect. Null: none. */
  credit: { amountMicros: number; reference: string } | null;
}

export interface UserPlan {
  problems: ImportProblem[];
  /** For each row, whether its user is new. */
  isNew: boolean[];
  /** For each row, whether its credit is still to be made. */
  isCredited: boolean[];
}

export interface CreateUsers {
  users: NewUserRow[];
  actor: Actor;
}

export interface UsersImported {
  created: number;
  /** Users that exist already. They are not changed. */
  existing: number;
  credited: number;
  creditedMicros: number;
}

/** Returns what an import would do, and every row that it would refuse. */
export function planUsers(reader: Reader, users: readonly NewUserRow[]): UserPlan {
  const earlier = new Map<string, NewUserRow>();
  const known = users.map((user) => {
    const parent = user.parent === null ? null : (earlier.get(user.parent.toLowerCase()) ?? null);
    earlier.set(user.username.toLowerCase(), user);
    return parent;
  });
  const rows = reader.each(users, (user, index) => {
    const found = findUser(reader, user.username);
    const { code, isDue } = found ? creditOf(reader, found, user) : { code: null, isDue: true };
    const problem = found ? code : parentProblem(reader, user, known[index]!);
    return { problem, isNew: !found, isCredited: user.credit !== null && isDue };
  });
  return {
    problems: rows.flatMap(({ problem }, index) => (problem ? [{ index, code: problem }] : [])),
    isNew: rows.map(({ isNew }) => isNew),
    isCredited: rows.map(({ isCredited }) => isCredited),
  };
}

function parentProblem(
  reader: Reader,
  { parent }: NewUserRow,
  earlier: NewUserRow | null,
): ImportProblem["code"] | null {
  if (parent === null) return null;
  const found = findUser(reader, parent);
  if (found) return found.parentAccount === null ? null : "parent_is_child";
  if (!earlier) return "parent_not_found";
  return earlier.parent === null ? null : "parent_is_child";
}

/** Returns whether the credit of an existing user is still to be made, or why it cannot be. */
function creditOf(
  reader: Reader,
  user: User,
  { credit }: NewUserRow,
): { code: ImportProblem["code"] | null; isDue: boolean } {
  if (credit === null) return { code: null, isDue: false };
  const details = reader.row(transferDetails.byReference, user.account, credit.reference);
  if (details) {
    const { creditAccount, amountMicros } = reader.row(transfers.byKey, details.seq)!;
    const isSame = creditAccount === user.account && amountMicros === credit.amountMicros;
    return { code: isSame ? null : "reference_of_another_amount", isDue: false };
  }
  try {
    refuseCreditAboveLimit(user, credit.amountMicros);
    return { code: null, isDue: true };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { code: error.code as ImportProblem["code"], isDue: false };
  }
}

/** Imports all users or none. Existing ones are not changed. Refuses: user_rows_invalid, with every refused row. */
export function createUsers(tx: Tx, command: CreateUsers, context: Context): UsersImported {
  const { users, actor } = command;
  const { problems, isNew, isCredited } = planUsers(tx, users);
  if (problems.length > 0) throw new Refusal("user_rows_invalid", { rows: problems });
  // Nothing is refused from here on.
  const created = users.filter((_, index) => isNew[index]);
  tx.each(created, (user) => addUser(tx, user, actor, context));
  const credited = users.filter((_, index) => isCredited[index]);
  tx.each(credited, ({ username, credit }) => {
    const terms = { username, ...credit!, note: "import", invoice: false };
    return creditUser(tx, { ...terms, actor }, context);
  });
  return {
    created: created.length,
    existing: users.length - created.length,
    credited: credited.length,
    creditedMicros: credited.reduce((sum, { credit }) => sum + credit!.amountMicros, 0),
  };
}

function addUser(tx: Tx, user: NewUserRow, actor: Actor, context: Context): User {
  const { username, name, parent, discountPpm, email } = user;
  const made = { username, name, parent, discountPpm, ...(email !== null && { email }), actor };
  return createUser(tx, made, context);
}

export interface CreateKeys {
  keys: Omit<CreateKey, "actor">[];
  actor: Actor;
}

/** Returns every row that an import of keys would refuse. */
export function refusedKeys(
  reader: Reader,
  keys: readonly Pick<CreateKey, "username">[],
): ImportProblem[] {
  const codes = reader.each(keys, ({ username }): ImportProblem["code"] | null => {
    const user = findUser(reader, username);
    if (!user) return "user_not_found";
    if (user.parentAccount !== null) return "child_cannot_hold_key";
    return user.active ? null : "user_inactive";
  });
  return codes.flatMap((code, index) => (code ? [{ index, code }] : []));
}

/** Creates all keys or none, and returns their ids. Refuses: user_rows_invalid, with every refused row. */
export function createKeys(tx: Tx, { keys, actor }: CreateKeys, context: Context): string[] {
  const problems = refusedKeys(tx, keys);
  if (problems.length > 0) throw new Refusal("user_rows_invalid", { rows: problems });
  // Nothing is refused from here on.
  return tx.each(keys, (key) => createKey(tx, { ...key, actor }, context).id);
}

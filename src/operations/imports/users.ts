// Imports users and keys of another panel. A row that was imported before changes nothing.
// docs/specification/imports.md#imported-users.

import { type Actor, cashAccount } from "../../domain/ledger/ledger.ts";
import { OPENING_REFERENCE } from "../../domain/imports/opening.ts";
import type { RowOutcome } from "../../domain/imports/import-problems.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { putContact } from "../../db/users/user-contacts.ts";
import { importedUsers } from "../../db/tables/imports.ts";
import { keys, users } from "../../db/tables/users.ts";
import { findUser, insertUser } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { insertImportedKey } from "../users/keys.ts";

export interface ImportedUser {
  /** Its id in the other panel. */
  source: string;
  username: string;
  name: string;
  /** Null: none. */
  email: string | null;
  balanceMicros: number;
  discountPpm: number;
  active: boolean;
}

/** Says what an import would do with each row now. */
export function planUsers(reader: Reader, rows: readonly ImportedUser[]): RowOutcome[] {
  return reader.each(rows, ({ source, username, balanceMicros }): RowOutcome => {
    const imported = reader.row(importedUsers.byKey, source);
    if (imported) {
      const user = reader.row(users.byKey, imported.account)!;
      const isSame = user.username.toLowerCase() === username.toLowerCase();
      if (user.erasedAt !== null) return "same";
      if (!isSame) return "user_is_another";
      // Orders that this balance paid for would be free here: the earlier balance was credited.
      return imported.balanceMicros === balanceMicros ? "same" : "balance_differs";
    }
    return findUser(reader, username) ? "username_taken" : "new";
  });
}

export interface ImportUsers {
  users: readonly ImportedUser[];
  actor: Actor;
}

/**
 * Creates the users that are new, each with its balance as one credit. Returns what was done with each row. A row with
 * a problem is left out.
 */
export function importUsers(tx: Tx, { users: rows, actor }: ImportUsers, context: Context) {
  const outcomes = planUsers(tx, rows);
  // Nothing is refused from here on.
  rows.forEach((row, index) => {
    if (outcomes[index] === "new") createImported(tx, row, actor, context);
  });
  return outcomes;
}

function createImported(tx: Tx, row: ImportedUser, actor: Actor, context: Context): void {
  const { source, username, name, email, balanceMicros, discountPpm, active } = row;
  const account = insertUser(tx, {
    id: context.createId(),
    username,
    name,
    parentAccount: null,
    createdAt: context.now,
    active,
    discountPpm,
  });
  putContact(tx, account, { email, note: null });
  tx.insert(importedUsers, { source, account, balanceMicros });
  postTransfer(tx, {
    debitAccount: cashAccount(false),
    creditAccount: account,
    amountMicros: balanceMicros,
    kind: "adjustment",
    orderId: null,
    actor,
    note: null,
    publicNote: null,
    reference: OPENING_REFERENCE,
    createdAt: context.now,
  });
  audit(tx, context, {
    actor,
    action: "user.create",
    subject: username,
    account,
    before: null,
    after: {
      name,
      ...(email !== null && { email }),
      parent: null,
      imported: source,
      balanceMicros,
      discountPercent: discountPercent(discountPpm),
      active,
    },
  });
}

export interface ImportedKey {
  /** The user's id in the other panel. */
  source: string;
  /** SHA-256 of the key. Its text never enters a command. */
  hash: string;
  start: string;
  label: string;
}

/** Says what an import would do with each row now. A user that is not here yet counts as imported. */
export function planKeys(reader: Reader, rows: readonly ImportedKey[]): RowOutcome[] {
  return reader.each(rows, ({ source, hash }): RowOutcome => {
    const key = reader.row(keys.byHash, hash);
    if (!key) return "new";
    const account = reader.row(importedUsers.byKey, source)?.account;
    return key.resellerAccount === account ? "same" : "key_taken";
  });
}

export interface ImportKeys {
  keys: readonly ImportedKey[];
  actor: Actor;
}

/** Creates the keys that are new, as Order Keys. Their users must have been imported. */
export function importKeys(tx: Tx, { keys: rows, actor }: ImportKeys, context: Context) {
  const outcomes = planKeys(tx, rows);
  const owners = tx.each(rows, ({ source }) => {
    const imported = tx.row(importedUsers.byKey, source);
    return imported && tx.row(users.byKey, imported.account);
  });
  // Nothing is refused from here on.
  rows.forEach(({ hash, start, label, source }, index) => {
    if (outcomes[index] !== "new") return;
    const owner = owners[index];
    if (!owner) throw new Error(`user ${source} of the other panel was not imported`);
    const { account, active } = owner;
    insertImportedKey(tx, { account, active, hash, start, label, actor }, context);
  });
  return outcomes;
}

// What only the operator sees of users: e-mail addresses and notes. Kept apart from the row that every order reads.

import type { Reader, Tx } from "../port/port.ts";
import { lowerAscii } from "../port/filtered-lists.ts";
import { query } from "../port/query.ts";
import { number, text } from "../port/table-definition.ts";
import { userContacts } from "../tables/users.ts";

export interface UserContact {
  email: string | null;
  /** The operator's notes. */
  note: string | null;
}

const NO_CONTACT: UserContact = { email: null, note: null };

const BY_EMAIL = query({
  parameters: { email: text, limit: number },
  columns: { account: number },
  text: `SELECT account AS "account" FROM user_contacts
    WHERE email IS NOT NULL AND lower(email) = :email ORDER BY account LIMIT :limit`,
});

export function findContact(reader: Reader, account: number): UserContact {
  const row = reader.row(userContacts.byKey, account);
  return row ? { email: row.email, note: row.note } : NO_CONTACT;
}

/** Returns the accounts with this address, ignoring the case of ASCII letters. Several users may share one. */
export function listAccountsByEmail(reader: Reader, email: string, limit: number): number[] {
  return reader.all(BY_EMAIL, { email: lowerAscii(email), limit }).map(({ account }) => account);
}

/** Stores the contact. One without anything is deleted. */
export function putContact(tx: Tx, account: number, contact: UserContact): void {
  const row = tx.row(userContacts.byKey, account);
  const isEmpty = contact.email === null && contact.note === null;
  if (row && isEmpty) tx.delete(userContacts, row);
  else if (row) tx.update(userContacts, row, contact);
  else if (!isEmpty) tx.insert(userContacts, { account, ...contact });
}

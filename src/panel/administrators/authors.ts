// The author of a change as operators know it. Stored are `panel:alice`, `member:ID`, the user names of the command
// line, or a key's id.

import { findMember } from "../../db/members/members.ts";
import type { Reader } from "../../db/port/port.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { findKey } from "../../db/users/keys.ts";
import { SCHEDULE_AUTHOR } from "../../domain/administrators/audit.ts";
import { administratorOf } from "../../domain/administrators/administrators.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { memberOf } from "../../domain/members/members.ts";
import { shownStart } from "../../domain/users/keys.ts";

/** Names an author. `""`: the service itself. */
export function authorText(reader: Reader, { keyId, operator }: Actor): string {
  if (keyId !== null) return keyText(reader, keyId);
  if (operator === null || operator === SCHEDULE_AUTHOR) return operator ?? "";
  const memberId = memberOf(operator);
  if (memberId !== null) return memberText(reader, memberId);
  return administratorOf(operator) ?? `${operator}, command line`;
}

/** Names a key by its label or its beginning. */
export function keyText(reader: Reader, id: string): string {
  const key = findKey(reader, id);
  return key ? `key ${key.label || shownStart(key)} of ${key.username}` : `key ${id}`;
}

/** Names a person of a reseller, who uses the portal. */
export function memberText(reader: Reader, id: string): string {
  const member = findMember(reader, id);
  if (!member) return "a former member of a reseller";
  const { username } = findUserByAccount(reader, member.account)!;
  return `${member.name || member.email} of ${username}`;
}

/** Adds the names of their authors to rows. */
export function withAuthors<Row extends Actor>(
  reader: Reader,
  rows: readonly Row[],
): (Row & { by: string })[] {
  return reader.each(rows, (row) => ({ ...row, by: authorText(reader, row) }));
}

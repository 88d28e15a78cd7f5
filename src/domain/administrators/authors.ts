// Who is the author of a change: see Actor.

import type { Actor } from "../ledger/ledger.ts";
import { memberAuthor } from "../members/members.ts";
import { authorOf } from "./administrators.ts";

/**
 * `administrator`: in the panel. `person`: at the command line. `member`: in the portal. `key`: a program. `server`: the
 * service itself.
 */
export const AUTHOR_KINDS = ["administrator", "person", "member", "key", "server"] as const;
export type AuthorKind = (typeof AUTHOR_KINDS)[number];

/** What the authors of these kinds begin with. The user names of the command line contain no colon. */
const PREFIXES: readonly [prefix: string, kind: AuthorKind][] = [
  [authorOf(""), "administrator"],
  [memberAuthor(""), "member"],
];

export function authorKindOf({ keyId, operator }: Actor): AuthorKind {
  if (keyId !== null) return "key";
  if (operator === null) return "server";
  return PREFIXES.find(([prefix]) => operator.startsWith(prefix))?.[1] ?? "person";
}

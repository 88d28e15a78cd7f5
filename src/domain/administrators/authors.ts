// Who is the author of a change: see Actor.

import type { Actor } from "../ledger/ledger.ts";

/**
 * `administrator`: in the panel. `person`: at the command line. `member`: in the portal. `key`: a program. `server`: the
 * service itself.
 */
export const AUTHOR_KINDS = ["administrator", "person", "member", "key", "server"] as const;
export type AuthorKind = (typeof AUTHOR_KINDS)[number];

/** No name of a person has a colon, so nobody at the command line is taken for another kind. */
const PREFIXES: readonly [prefix: string, kind: AuthorKind][] = [
  ["panel:", "administrator"],
  ["member:", "member"],
];

export function authorKindOf({ keyId, operator }: Actor): AuthorKind {
  if (keyId !== null) return "key";
  if (operator === null) return "server";
  return PREFIXES.find(([prefix]) => operator.startsWith(prefix))?.[1] ?? "person";
}

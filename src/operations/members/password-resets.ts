// New passwords of members who have forgotten theirs. No result tells whether the address is known.

import { findMemberByEmail, mayUsePortal } from "../../db/members/members.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";
import { countTry, type VisitorOrigin } from "../sign-ins/sign-ins.ts";
import { mailLink, nextLinkAt, NOBODY } from "./members.ts";

export interface AskReset {
  /** In lower case. */
  email: string;
  from: VisitorOrigin;
}

/**
 * Sends a member a link to a new password. Does nothing for an unknown address, and for one that got a link just now.
 * Counts as an attempt to sign in, in the same transaction, so that known and unknown addresses take the same time.
 * Refuses: sign_in_limited.
 */
export function askReset(tx: Tx, { email, from }: AskReset, context: Context): null {
  const found = findMemberByEmail(tx, email);
  const member = found && found.passwordHash !== null && mayUsePortal(tx, found) ? found : null;
  const dueAt = nextLinkAt(tx, "password_reset", member ?? NOBODY, context);
  countTry(tx, from, context);
  // Nothing is refused from here on.
  const isAllowed = member !== null && dueAt === context.now;
  if (isAllowed) mailLink(tx, "password_reset", member, dueAt, context);
  return null;
}

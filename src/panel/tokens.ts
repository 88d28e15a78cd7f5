// Tokens of invitations.

import { random } from "./random.ts";
import { hashSecret } from "./sessions.ts";

const TOKEN_BYTES = 32;

/** The token of an invitation, which its link alone has, and its hash. */
export function newToken(): { token: string; invitationHash: string } {
  const token = random(TOKEN_BYTES);
  return { token, invitationHash: hashSecret(token) };
}

/** In the fragment: browsers send it to no server, so that no log has it. */
export function setUpLink(base: string, token: string): string {
  return `${base}/setup#${token}`;
}

// Makes the tokens of invitations.

import { random } from "./random.ts";
import { hashSecret } from "./session-cookie.ts";

const TOKEN_BYTES = 32;

/** Returns a new token, which only the link contains, and its hash. */
export function newToken(): { token: string; invitationHash: string } {
  const token = random(TOKEN_BYTES);
  return { token, invitationHash: hashSecret(token) };
}

/** Returns the link with the token in the fragment, which browsers send to no server, so that no log contains it. */
export function linkWithToken(address: string, token: string): string {
  return `${address}#${token}`;
}

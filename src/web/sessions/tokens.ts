// Makes the tokens of invitations.

import { random } from "../server/random.ts";
import { hashSecret } from "./session-cookie.ts";

const TOKEN_BYTES = 32;

/** Returns a new token, which only the link contains, and its hash. */
export function newToken(): { token: string; invitationHash: string } {
  const token = random(TOKEN_BYTES);
  return { token, invitationHash: hashSecret(token) };
}

/** Returns the link with the token in its fragment. Browsers send no fragment, so no log contains the token. */
export function linkWithToken(address: string, token: string): string {
  return `${address}#${token}`;
}

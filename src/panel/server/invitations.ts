// The links by which administrators are invited.

import { linkWithToken } from "../../web/sessions/tokens.ts";

/** `base`: the panel's address for browsers. */
export function setUpLink(base: string, token: string): string {
  return linkWithToken(`${base}/setup`, token);
}

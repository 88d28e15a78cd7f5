// Notes about a completed action, shown once on the page that follows. They are kept in a cookie for half a minute.

import type { IncomingRequest } from "../../http1/request.ts";
import { endedCookie, readCookie, setCookie } from "../sessions/cookies.ts";

const LIVES_SECONDS = 30;
const LENGTH_LIMIT = 500;

/** What happened, and its colour: done, done in part, or not done. */
export interface Note {
  text: string;
  tone: NoteTone;
}
export type NoteTone = (typeof TONES)[number];
const TONES = ["good", "busy", "bad"] as const;

/** Returns the name of the cookie with the note. `cookie`: name of the cookie with the site's session. */
function nameOf(cookie: string): string {
  return `${cookie}-note`;
}

export function noteCookie(
  note: string | undefined,
  tone: NoteTone,
  cookie: string,
  isSecure: boolean,
): string | undefined {
  if (note === undefined) return undefined;
  const value = Buffer.from(`${tone} ${note.slice(0, LENGTH_LIMIT)}`).toString("base64url");
  return `${setCookie(isSecure, nameOf(cookie), value)}; Max-Age=${LIVES_SECONDS}`;
}

export function endedNote(cookie: string, isSecure: boolean): string {
  return endedCookie(isSecure, nameOf(cookie));
}

export function readNote(
  request: Pick<IncomingRequest, "headers">,
  cookie: string,
  isSecure: boolean,
): Note | null {
  const value = readCookie(request, isSecure, nameOf(cookie));
  if (!value) return null;
  const text = Buffer.from(value, "base64url").toString();
  const tone = TONES.find((each) => text.startsWith(`${each} `));
  return tone ? { tone, text: text.slice(tone.length + 1) } : null;
}

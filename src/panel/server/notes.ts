// Notes about a completed action, shown once on the page that follows. They are kept in a cookie for half a minute.

import type { IncomingRequest } from "../../http1/request.ts";
import { readCookie, setCookie } from "./sessions.ts";

const NAME = "reseller-note";
const LIVES_SECONDS = 30;
const LENGTH_LIMIT = 500;

export function noteCookie(note: string | undefined, isSecure: boolean): string | undefined {
  if (note === undefined) return undefined;
  const value = Buffer.from(note.slice(0, LENGTH_LIMIT)).toString("base64url");
  return `${setCookie(isSecure, NAME, value)}; Max-Age=${LIVES_SECONDS}`;
}

export function endedNote(isSecure: boolean): string {
  return `${setCookie(isSecure, NAME, "")}; Max-Age=0`;
}

export function readNote(
  request: Pick<IncomingRequest, "headers">,
  isSecure: boolean,
): string | null {
  const value = readCookie(request, isSecure, NAME);
  return value ? Buffer.from(value, "base64url").toString() : null;
}

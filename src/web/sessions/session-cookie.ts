// The cookie of a session: an id and a secret. The database has only a hash of the secret.

import { timingSafeEqual } from "node:crypto";
import type { IncomingRequest } from "../../http1/request.ts";
import { readCookie, setCookie } from "./cookies.ts";
import { random } from "../server/random.ts";

export interface SessionKey {
  id: string;
  secret: string;
}

const VALUE = /^([\w-]{16,64})\.([\w-]{43})$/;

/** Returns the key of a new session, and the cookie with it. `name`: the cookie's name. */
export function newSessionKey(
  name: string,
  isSecure: boolean,
  path: string,
  id = newSessionId(),
): { id: string; hash: string; cookie: string } {
  const secret = random(32);
  return {
    id,
    hash: hashSecret(secret),
    cookie: setCookie(isSecure, name, `${id}.${secret}`, path),
  };
}

export function newSessionId(): string {
  return random(16);
}

/** Returns the key in the request's cookie, or null if it has no valid cookie. */
export function sessionKeyOf(
  request: Pick<IncomingRequest, "headers">,
  name: string,
  isSecure: boolean,
): SessionKey | null {
  const [, id, secret] = VALUE.exec(readCookie(request, isSecure, name) ?? "") ?? [];
  return id === undefined ? null : { id, secret: secret! };
}

export function isSecretOf({ hash }: { hash: string }, secret: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(hash));
}

export function hashSecret(secret: string): string {
  return Bun.SHA256.hash(secret, "hex");
}

// Sessions: a cookie with an id and a secret, of which the database has a hash. Every request looks up its session,
// so a session that ended at one server has ended at all.

import { timingSafeEqual } from "node:crypto";
import type {
  Administrator as AdministratorRow,
  PanelSession,
} from "../../db/tables/administrators.ts";
import { findAdministrator, findSession } from "../../db/administrators/administrators.ts";
import type { Reader } from "../../db/port/port.ts";
import { isSessionLive } from "../../domain/administrators/sign-ins.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import type { NewSession } from "../../operations/administrators/sign-ins.ts";
import { random } from "../../web/server/random.ts";
import { USER_AGENT_LIMIT } from "../../domain/administrators/sign-ins.ts";

/** The administrator who sent a request, with the live session. */
export interface Identity {
  administrator: AdministratorRow;
  session: PanelSession;
}

const NAME = "reseller";
/** With this prefix a browser accepts the cookie only from this host, only over TLS, and for every path. */
const SECURE_PREFIX = "__Host-";
const VALUE = /^([\w-]{16,64})\.([\w-]{43})$/;

/** Returns a new session and its cookie. */
export function newSession(
  request: Pick<IncomingRequest, "headers">,
  address: string,
  isSecure: boolean,
): { session: NewSession; cookie: string } {
  const [id, secret] = [random(16), random(32)];
  const userAgent = (request.headers.get("user-agent") ?? "")
    .slice(0, USER_AGENT_LIMIT)
    .toWellFormed();
  return {
    session: { id, hash: hashSecret(secret), address, userAgent },
    cookie: setCookie(isSecure, NAME, `${id}.${secret}`),
  };
}

export function endedCookie(isSecure: boolean): string {
  return `${setCookie(isSecure, NAME, "")}; Max-Age=0`;
}

export function setCookie(isSecure: boolean, name: string, value: string): string {
  const start = isSecure ? `${SECURE_PREFIX}${name}=${value}; Secure` : `${name}=${value}`;
  return `${start}; Path=/; HttpOnly; SameSite=Strict`;
}

export function readCookie(
  { headers }: Pick<IncomingRequest, "headers">,
  isSecure: boolean,
  name: string,
): string | null {
  const wanted = isSecure ? SECURE_PREFIX + name : name;
  for (const part of (headers.get("cookie") ?? "").split(";")) {
    const [found, value] = part.trim().split("=", 2);
    if (found === wanted && value !== undefined) return value;
  }
  return null;
}

/** Returns id and secret of the request's cookie, or null if it has no valid cookie. */
export function cookieOf(
  request: Pick<IncomingRequest, "headers">,
  isSecure: boolean,
): { id: string; secret: string } | null {
  const [, id, secret] = VALUE.exec(readCookie(request, isSecure, NAME) ?? "") ?? [];
  return id === undefined ? null : { id, secret: secret! };
}

export function findIdentity(
  reader: Reader,
  { id, secret }: { id: string; secret: string },
  now: number,
): Identity | null {
  const session = findSession(reader, id);
  if (!session || !isSessionLive(session, now)) return null;
  if (!timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(session.hash))) return null;
  const administrator = findAdministrator(reader, session.administrator);
  return administrator?.active ? { administrator, session } : null;
}

export function hashSecret(secret: string): string {
  return Bun.SHA256.hash(secret, "hex");
}

// Reads and writes cookies that only this site sees.

import type { IncomingRequest } from "../../http1/request.ts";

/** Name prefix with which a browser accepts a cookie only from this host, only over TLS, and for every path. */
const SECURE_PREFIX = "__Host-";

export function setCookie(isSecure: boolean, name: string, value: string): string {
  const start = isSecure ? `${SECURE_PREFIX}${name}=${value}; Secure` : `${name}=${value}`;
  return `${start}; Path=/; HttpOnly; SameSite=Strict`;
}

export function endedCookie(isSecure: boolean, name: string): string {
  return `${setCookie(isSecure, name, "")}; Max-Age=0`;
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

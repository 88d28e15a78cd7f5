// Reads and writes cookies that only this site sees.

import type { IncomingRequest } from "../../http1/request.ts";

/** Name prefix with which a browser accepts a cookie only from this host, only over TLS, and for every path. */
const SECURE_PREFIX = "__Host-";

/** `path`: where the site is. With TLS the cookie is for every path, as browsers require of the prefix. */
export function setCookie(isSecure: boolean, name: string, value: string, path = "/"): string {
  const start = isSecure
    ? `${SECURE_PREFIX}${name}=${value}; Secure; Path=/`
    : `${name}=${value}; Path=${path}`;
  return `${start}; HttpOnly; SameSite=Strict`;
}

export function endedCookie(isSecure: boolean, name: string, path = "/"): string {
  return `${setCookie(isSecure, name, "", path)}; Max-Age=0`;
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

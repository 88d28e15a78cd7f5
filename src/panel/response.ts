// Responses of the panel and the headers that all of them have.

import { withText } from "../http1/response.ts";
import type { ASSETS } from "./assets.ts";

/** `no-referrer` would make browsers send `Origin: null`, which the check of the origin refuses. */
const SECURITY = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
};

const NO_STORE = { "cache-control": "no-store" };

export function pageResponse(status: number, text: string): Response {
  const headers = { ...SECURITY, ...NO_STORE, "content-type": "text/html; charset=utf-8" };
  return withText(new Response(text, { status, headers }), text);
}

/** A file to download. */
export function secured(response: Response): Response {
  for (const [name, value] of Object.entries({ ...SECURITY, ...NO_STORE })) {
    response.headers.set(name, value);
  }
  return response;
}

/** 303: the browser asks with GET. */
export function redirect(to: string, note?: string): Response {
  const headers: Record<string, string> = { ...SECURITY, ...NO_STORE, location: to };
  if (note !== undefined) headers["set-cookie"] = noteCookie(note);
  return new Response(null, { status: 303, headers });
}

export function plainResponse(status: number): Response {
  return new Response(null, { status, headers: { ...SECURITY, ...NO_STORE } });
}

export function assetResponse({ text, type }: (typeof ASSETS)[number]): Response {
  const headers = {
    ...SECURITY,
    "content-type": type,
    "cache-control": "public, max-age=31536000, immutable",
  };
  return withText(new Response(text, { headers }), text);
}

function noteCookie(note: string): string {
  const value = Buffer.from(note).toString("base64url");
  return `reseller-note=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=30`;
}

// Builds a site's responses and their common headers.

import { STRICT_TRANSPORT } from "../../http/server/response-template.ts";
import { withText } from "../../http1/response.ts";
import type { Asset } from "./assets.ts";

/** Security headers. `no-referrer` would make browsers send `Origin: null`, which the check of the origin refuses. */
const SECURITY = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
};
const CACHING = "cache-control";

/** Adds the headers that every response has. */
export function secured(response: Response, isSecure: boolean): Response {
  const { headers } = response;
  for (const [name, value] of Object.entries({
    ...SECURITY,
    ...(isSecure ? STRICT_TRANSPORT : {}),
  })) {
    headers.set(name, value);
  }
  if (!headers.has(CACHING)) headers.set(CACHING, "no-store");
  return response;
}

export function pageResponse(status: number, text: string): Response {
  const headers = { "content-type": "text/html; charset=utf-8" };
  return withText(new Response(text, { status, headers }), text);
}

/** Redirects with 303, so that the browser uses GET. */
export function redirect(to: string, ...cookies: readonly (string | undefined)[]): Response {
  const response = new Response(null, { status: 303, headers: { location: to } });
  return withCookies(response, cookies);
}

/** Makes the browser ask for the path again, as from a page of this site. */
export function askAgain(path: string): Response {
  return new Response(null, { headers: { refresh: `0;url=${path}` } });
}

export function withCookies(
  response: Response,
  cookies: readonly (string | undefined)[],
): Response {
  for (const cookie of cookies)
    if (cookie !== undefined) response.headers.append("set-cookie", cookie);
  return response;
}

export function assetResponse({ text, type }: Asset): Response {
  const headers = { "content-type": type, [CACHING]: "public, max-age=31536000, immutable" };
  if (typeof text !== "string") return new Response(text as BodyInit, { headers });
  return withText(new Response(text, { headers }), text);
}

// Cross-site requests are refused by what the browser says of their origin; no token in the forms is needed.

import type { IncomingRequest } from "../http1/request.ts";

/** Whether a request that may change something was sent by a page of the panel. */
export function isOwn({ headers }: Pick<IncomingRequest, "headers">, url: string | null): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  // A browser too old to say so, or a program.
  const origin = headers.get("origin");
  if (origin === null || !URL.canParse(origin)) return false;
  if (url !== null && origin === new URL(url).origin) return true;
  const host = headers.get("host");
  return host !== null && new URL(origin).host === host.toLowerCase();
}

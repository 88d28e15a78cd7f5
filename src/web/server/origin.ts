// Protects against cross-site requests and foreign host names. The browser's origin headers show requests from other
// sites, so the forms need no token. Host names are checked because anyone can make a name resolve to this machine.

import { isIP } from "node:net";
import type { IncomingRequest } from "../../http1/request.ts";

/** The settings of how browsers reach a site. */
export interface OriginSettings {
  /** The site's address for browsers. Null: any address of this machine, or a name in its certificate. */
  url: string | null;
  /** True if browsers use TLS to reach the site or the proxy before it. */
  isSecure: boolean;
}

type Request = Pick<IncomingRequest, "headers">;

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;

/**
 * Returns whether the site answers to this `Host`. If the settings name an address, it answers to any. With its own TLS
 * it answers to any name too, because the browser has found the name in the certificate. Otherwise it answers only to
 * IP addresses and to `localhost`.
 */
export function isKnownHost({ headers }: Request, { url, isSecure }: OriginSettings): boolean {
  if (url !== null) return true;
  const host = headers.get("host")?.toLowerCase() ?? "";
  return isSecure ? HOST.test(host) : isNumericOrLocal(host);
}

/** Returns the site's address for browsers. `Host` must have passed `isKnownHost`. */
export function baseOf({ headers }: Request, { url, isSecure }: OriginSettings): string {
  return url ?? `${isSecure ? "https" : "http"}://${headers.get("host")!.toLowerCase()}`;
}

/** Returns whether a request that may change something was sent by a page of the site. */
export function isOwn(request: Request, settings: OriginSettings): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  // The request comes from an old browser without this header, or from a program.
  const given = request.headers.get("origin");
  if (given === null || !URL.canParse(given)) return false;
  const { origin, host: from } = new URL(given);
  if (origin === new URL(baseOf(request, settings)).origin) return true;
  // The request does not come through the proxy but, for example, through a tunnel.
  const host = request.headers.get("host")?.toLowerCase() ?? "";
  return settings.url !== null && isNumericOrLocal(host) && from === host;
}

/**
 * Returns whether the visitor followed a link or a redirect of another site, such as the page of a payment or a mail.
 * The browser then keeps back the site's cookies, which are SameSite=Strict.
 */
export function isFromElsewhere({ headers }: Request): boolean {
  const mode = headers.get("sec-fetch-mode");
  return headers.get("sec-fetch-site") === "cross-site" && mode === "navigate";
}

/** Returns whether the host needs no name server: an IP address or a name of this machine. */
function isNumericOrLocal(host: string): boolean {
  const [, name = ""] = HOST.exec(host) ?? [];
  return isIP(name.replace(/^\[|\]$/g, "")) !== 0 || /^(?:.+\.)?localhost$/.test(name);
}

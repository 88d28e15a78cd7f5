// Whose address a request comes from: the connection's, or what a trusted proxy says of it.

import { canonicalAddress, isWithin, type Network } from "../config/networks.ts";

export const FORWARDED_HEADER = "x-forwarded-for";

/** No network holds it, so that what is unknown is allowed nowhere. */
export const UNKNOWN_ADDRESS = "unknown";

/** How proxies write an address with its port, and an IPv6 address without one. */
const IPV4_WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/;
const IPV6_IN_BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;

/**
 * The last address in X-Forwarded-For that is not a trusted proxy's itself, if the connection comes from one;
 * else the connection's. What stands left of it in the header is the caller's own invention.
 * A hop that cannot be read (`unknown`, empty, garbage) may be anybody: never the proxy that wrote it.
 */
export function clientAddress(
  connection: string | undefined,
  forwarded: string | null,
  trusted: readonly Network[],
): string {
  let address = canonicalAddress(connection ?? "") ?? UNKNOWN_ADDRESS;
  if (trusted.length === 0 || forwarded === null) return address;
  for (const hop of forwarded.split(",").toReversed()) {
    if (!isWithin(address, trusted)) return address;
    address = addressOfHop(hop.trim()) ?? UNKNOWN_ADDRESS;
  }
  return address;
}

function addressOfHop(hop: string): string | null {
  const [, address = hop] = IPV4_WITH_PORT.exec(hop) ?? IPV6_IN_BRACKETS.exec(hop) ?? [];
  return canonicalAddress(address);
}

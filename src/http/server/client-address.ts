// The client's address: the connection's peer, or what a trusted proxy reports in X-Forwarded-For.

import { canonicalAddress, isWithin, type Network } from "../../config/networks.ts";

export const FORWARDED_HEADER = "x-forwarded-for";

/** Stands for an unknown address. It is in no network, so no allow list admits it. */
export const UNKNOWN_ADDRESS = "unknown";

/** How proxies write an address with its port, and an IPv6 address without one. */
const IPV4_WITH_PORT = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/;
const IPV6_IN_BRACKETS = /^\[([^\]]*)\](?::\d{1,5})?$/;

/**
 * Returns the last address in X-Forwarded-For that is not a trusted proxy, if the connection comes from a trusted
 * proxy; else the connection's address. Addresses to the left are unverified: the client may have sent them itself. A
 * hop that cannot be parsed (`unknown`, empty, garbage) counts as unknown, never as the proxy that wrote it.
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

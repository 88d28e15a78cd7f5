// Whose address a request comes from: the connection's, or what a trusted proxy says of it.

import { canonicalAddress, isWithin, type Network } from "../addresses.ts";

export const FORWARDED_HEADER = "x-forwarded-for";

/** No network holds it, so that what is unknown is allowed nowhere. */
export const UNKNOWN_ADDRESS = "unknown";

/**
 * The last address in X-Forwarded-For that is not a trusted proxy's itself, if the connection comes from one;
 * else the connection's. What stands left of it in the header is the caller's own invention.
 */
export function callerAddress(
  connection: string | undefined,
  forwarded: string | null,
  trusted: readonly Network[],
): string {
  let address = canonicalAddress(connection ?? "") ?? UNKNOWN_ADDRESS;
  if (trusted.length === 0 || forwarded === null) return address;
  for (const hop of forwarded.split(",").toReversed()) {
    if (!isWithin(address, trusted)) return address;
    const named = canonicalAddress(hop.trim());
    // A proxy that names no address vouches for nothing that stands before it.
    if (named === null) return address;
    address = named;
  }
  return address;
}

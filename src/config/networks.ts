// Parses networks in CIDR notation and checks whether an address is in one. An IPv4-mapped IPv6 address
// (::ffff:192.0.2.1, RFC 4291 2.5.5.2) counts as the IPv4 address: a dual-stack socket reports its IPv4 peers in that
// form. Other IPv6 forms that embed an IPv4 address (::192.0.2.1, 64:ff9b::/96, 2002::/16) are IPv6 hosts.

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { KEY_NETWORKS_LIMIT } from "../domain/users/keys.ts";
import type { Kind } from "../domain/values/kinds.ts";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [address: Address, prefix: number];

/** Matches an IPv4-compatible address (deprecated by RFC 4291 2.5.5.1), which ipaddr.js reads as IPv4-mapped. */
const IPV4_COMPATIBLE = /^::(?=\d+\.)/;
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** Providers assign at least a /64 to an IPv6 customer, so all addresses in a /64 count as one customer. */
const IPV6_CUSTOMER_BITS = 64;

/**
 * Parses `10.0.0.0/8`, `2001:db8::/32` or one address. Returns null for other text. Bits after the prefix must be 0.
 */
export function parseNetwork(text: string): Network | null {
  const [, left = "", bits] = NETWORK.exec(text) ?? [];
  const address = parsed(left);
  if (!address) return null;
  const size = address.kind() === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? size : Number(bits);
  if (prefix > size) return null;
  const network: Network = [address, prefix];
  return hasOnlyPrefixBits(network) ? network : null;
}

/** Networks separated by commas. */
export const NETWORKS: Kind<readonly Network[]> = {
  form: "networks such as 10.0.0.0/8 or 2001:db8::/32",
  read(text) {
    const networks = text.split(",").map((part) => parseNetwork(part.trim()));
    const value = networks.filter((network) => network !== null);
    return value.length === networks.length ? { value } : { must: NETWORKS.form };
  },
};

/** The networks of a key, in their canonical forms and each once. */
export const KEY_NETWORKS: Kind<string> = {
  form: NETWORKS.form,
  read(text) {
    const found = NETWORKS.read(text);
    if ("must" in found) return found;
    const list = [...new Set(found.value.map(formatNetwork))];
    return list.length <= KEY_NETWORKS_LIMIT
      ? { value: list.join(",") }
      : { must: `at most ${KEY_NETWORKS_LIMIT} networks` };
  },
};

export function formatNetwork([address, prefix]: Network): string {
  return `${address.toString()}/${prefix}`;
}

/** Returns whether an address is in one of the networks; false if `address` is not an address. */
export function isWithin(address: string, networks: readonly Network[]): boolean {
  const found = parsed(address);
  if (!found) return false;
  return networks.some(
    ([network, prefix]) => network.kind() === found.kind() && found.match(network, prefix),
  );
}

/** Returns the canonical form of an address, or null if the text is not an address. */
export function canonicalAddress(text: string): string | null {
  return parsed(text)?.toString() ?? null;
}

/**
 * Returns the unit for rate limits by address, which stands for one customer: an IPv4 address, or the /64 of an IPv6
 * address.
 */
export function rateLimitGroup(address: string): string {
  const found = parsed(address);
  if (!found || found.kind() === "ipv4") return address;
  const groups = (found as ipaddr.IPv6).parts.slice(0, IPV6_CUSTOMER_BITS / 16);
  return `${groups.map((group) => group.toString(16)).join(":")}::/${IPV6_CUSTOMER_BITS}`;
}

/** Returns whether only this machine can reach a server that listens on this host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || parsed(host)?.range() === "loopback";
}

/** Parses strictly: no octal parts, no short forms such as 10.1, and no zone id (%eth0), which names an interface. */
function parsed(text: string): Address | null {
  if (isIP(text) === 0 || text.includes("%")) return null;
  return ipaddr.process(text.replace(IPV4_COMPATIBLE, "0:0:0:0:0:0:"));
}

function hasOnlyPrefixBits([address, prefix]: Network): boolean {
  const bytes = address.toByteArray();
  return bytes.every((byte, index) => {
    const prefixBits = Math.min(Math.max(prefix - index * 8, 0), 8);
    return (byte & (0xff >> prefixBits)) === 0;
  });
}

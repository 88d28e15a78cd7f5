// Network addresses: which networks a key or a proxy may come from, and whether an address is in one.
// An IPv4 address that arrives as IPv6 (::ffff:192.0.2.1) is the IPv4 address.

import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type Network = [address: Address, prefix: number];

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;
/** How much of an IPv6 address one customer is given: what lies below it is theirs alone. */
const IPV6_CUSTOMER_BITS = 64;

/** `10.0.0.0/8`, `2001:db8::/32`, or one address; null when the text is neither. Bits behind the prefix must be 0. */
export function parseNetwork(text: string): Network | null {
  const [, left = "", bits] = NETWORK.exec(text) ?? [];
  const address = parsed(left);
  if (!address) return null;
  const size = address.kind() === "ipv4" ? 32 : 128;
  const prefix = bits === undefined ? size : Number(bits);
  if (prefix > size) return null;
  const network: Network = [address, prefix];
  return isBase(network) ? network : null;
}

export function formatNetwork([address, prefix]: Network): string {
  return `${address.toString()}/${prefix}`;
}

/** False for a text that is no address. */
export function isWithin(address: string, networks: readonly Network[]): boolean {
  const found = parsed(address);
  if (!found) return false;
  return networks.some(
    ([network, prefix]) => network.kind() === found.kind() && found.match(network, prefix),
  );
}

/** One spelling for each address; null when the text is none. */
export function canonicalAddress(text: string): string | null {
  return parsed(text)?.toString() ?? null;
}

/** What stands for one customer: an IPv4 address, or the /64 of an IPv6 address. */
export function customerOf(address: string): string {
  const found = parsed(address);
  if (!found || found.kind() === "ipv4") return address;
  const groups = (found as ipaddr.IPv6).parts.slice(0, IPV6_CUSTOMER_BITS / 16);
  return `${groups.map((group) => group.toString(16)).join(":")}::/${IPV6_CUSTOMER_BITS}`;
}

/** Four decimal parts or IPv6; nothing that only some programs read as an address. */
function parsed(text: string): Address | null {
  if (!text.includes(":") && !IPV4.test(text)) return null;
  if (text.includes("%") || !ipaddr.isValid(text)) return null;
  return ipaddr.process(text);
}

function isBase([address, prefix]: Network): boolean {
  const bytes = address.toByteArray();
  return bytes.every((byte, index) => {
    const kept = Math.min(Math.max(prefix - index * 8, 0), 8);
    return (byte & (0xff >> kept)) === 0;
  });
}

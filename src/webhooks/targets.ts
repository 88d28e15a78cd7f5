// Decides where a webhook may be sent (SSRF): only to public unicast addresses or to networks in --webhook-allow.
// docs/decisions/0038-webhook-events-in-the-transaction.md.

import { canonicalAddress, isWithin, type Network, parseNetwork } from "../config/networks.ts";
import { parseWebhookUrl } from "../domain/webhooks/webhook-urls.ts";

export interface TargetPolicy {
  /** Networks that may be reached although they are not public. */
  allow: readonly Network[];
  allowHttp: boolean;
}

let isClosed = false;

/** Refuses every target from now on, before its name is resolved: for a demo that anybody may use. */
export function closeTargets(): void {
  isClosed = true;
}

/** Throws if no server may be connected to. */
export function refuseClosed(): void {
  if (isClosed) throw new Error("this demo connects to no other server");
}

/** Returns the addresses of a name. Rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Target =
  { address: string } | { refused: "url_not_allowed" | "dns" | "blocked_address" };

/** Networks without hosts of the public Internet: those of IANA's special-purpose registry, and multicast. */
const SPECIAL_V4 = networks(
  ["0.0.0.0/8", "this network"],
  ["10.0.0.0/8", "private"],
  ["100.64.0.0/10", "shared by customers of a carrier"],
  ["127.0.0.0/8", "loopback"],
  ["169.254.0.0/16", "link-local, metadata services of clouds"],
  ["172.16.0.0/12", "private"],
  ["192.0.0.0/24", "protocol assignments"],
  ["192.0.2.0/24", "documentation"],
  ["192.88.99.0/24", "6to4 relays"],
  ["192.168.0.0/16", "private"],
  ["198.18.0.0/15", "benchmarks"],
  ["198.51.100.0/24", "documentation"],
  ["203.0.113.0/24", "documentation"],
  ["224.0.0.0/4", "multicast"],
  ["240.0.0.0/4", "reserved, broadcast"],
);
/**
 * Special networks within 2000::/3, the only range of public unicast addresses. Outside it are, among others, ::, ::1,
 * 64:ff9b::/96, 64:ff9b:1::/48, 100::/64, 5f00::/16, fc00::/7, fe80::/10 and ff00::/8.
 */
const SPECIAL_V6 = networks(
  ["2001::/23", "protocol assignments, among them Teredo, which holds an IPv4 address"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4, which holds an IPv4 address"],
  ["3fff::/20", "documentation"],
);
const GLOBAL_V6 = networks(["2000::/3", "global unicast"]);

/**
 * Whether an address is public. An IPv4-mapped IPv6 address counts as the IPv4 address; text that is not an address is
 * not public.
 */
export function isPublic(address: string): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === null) return false;
  if (!canonical.includes(":")) return !isWithin(canonical, SPECIAL_V4);
  return isWithin(canonical, GLOBAL_V6) && !isWithin(canonical, SPECIAL_V6);
}

export function isAllowed(address: string, { allow }: TargetPolicy): boolean {
  return isWithin(address, allow) || isPublic(address);
}

/**
 * Finds the address to send a request for the URL to. Resolves the name once. All its addresses must be allowed,
 * because whoever controls the name chooses which of them comes first.
 */
export async function findTarget(
  url: string,
  policy: TargetPolicy,
  resolve: Resolve = resolveName,
): Promise<Target> {
  const parsed = parseWebhookUrl(url, policy.allowHttp);
  if (isClosed || "must" in parsed) return { refused: "url_not_allowed" };
  const name = nameOf(new URL(parsed.url));
  const literal = canonicalAddress(name);
  let addresses: readonly string[];
  try {
    addresses = literal === null ? await resolve(name) : [literal];
  } catch {
    return { refused: "dns" };
  }
  if (addresses.length === 0) return { refused: "dns" };
  if (!addresses.every((each) => isAllowed(each, policy))) return { refused: "blocked_address" };
  return { address: preferred(addresses.map((each) => canonicalAddress(each)!)) };
}

/** Returns the one address that is tried. Prefers IPv4, because it is more likely to be routed on both sides. */
function preferred(addresses: readonly string[]): string {
  return addresses.find((address) => !address.includes(":")) ?? addresses[0]!;
}

/** Returns the name without the root's dot at its end, or the address without brackets. */
export function nameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/**
 * Resolves a name with c-ares, which needs no thread while it waits. The system's resolver holds one of a few threads
 * while a name server does not answer, which would delay the look-ups for all other endpoints.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(name, { backend: "c-ares" });
  return found.map(({ address }) => address);
}

/** Parses networks. The text beside each says what it is for. */
function networks(...rows: [network: string, use: string][]): Network[] {
  return rows.map(([text]) => {
    const network = parseNetwork(text);
    if (!network) throw new Error(`${text} is not a network`);
    return network;
  });
}

// Where a webhook may be sent (SSRF): only to public unicast addresses, or to what --webhook-allow opens.
// docs/decisions/0041-webhooks-reach-public-addresses-alone.md.

import { canonicalAddress, isWithin, type Network, parseNetwork } from "../config/networks.ts";
import { parseWebhookUrl } from "../domain/webhook-urls.ts";

export interface TargetPolicy {
  /** Networks that may be reached although they are not public. */
  allow: readonly Network[];
  allowHttp: boolean;
}

/** The addresses of a name. Rejects when it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Target =
  { address: string } | { refused: "url_not_allowed" | "dns" | "blocked_address" };

/** IANA's special-purpose registries, and multicast: nothing there is a host of the public Internet. */
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
 * Within 2000::/3, the only range of public unicast addresses. Outside it are, among others, ::, ::1, 64:ff9b::/96,
 * 64:ff9b:1::/48, 100::/64, 5f00::/16, fc00::/7, fe80::/10 and ff00::/8.
 */
const SPECIAL_V6 = networks(
  ["2001::/23", "protocol assignments, among them Teredo, which holds an IPv4 address"],
  ["2001:db8::/32", "documentation"],
  ["2002::/16", "6to4, which holds an IPv4 address"],
  ["3fff::/20", "documentation"],
);
const GLOBAL_V6 = networks(["2000::/3", "global unicast"]);

/** An IPv4-mapped IPv6 address is judged as the IPv4 address; a text that is no address is not public. */
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
 * The one address that a request to the URL may be sent to. Resolves the name once; every address that it has must be
 * allowed, because whoever rules the name chooses which of them comes first.
 */
export async function findTarget(
  url: string,
  policy: TargetPolicy,
  resolve: Resolve = resolveName,
): Promise<Target> {
  const parsed = parseWebhookUrl(url, policy.allowHttp);
  if ("must" in parsed) return { refused: "url_not_allowed" };
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

/** Only one is tried, and IPv4 is more likely to be routed from here and there. */
function preferred(addresses: readonly string[]): string {
  return addresses.find((address) => !address.includes(":")) ?? addresses[0]!;
}

/** The name, or the address without brackets. A name with the root's dot at its end is the one without it. */
export function nameOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
}

/**
 * By c-ares, which waits without a thread: the system's resolver holds one of a few threads for as long as a name server
 * does not answer, and would delay the look-ups of all other endpoints.
 */
export async function resolveName(name: string): Promise<readonly string[]> {
  const found = await Bun.dns.lookup(name, { backend: "c-ares" });
  return found.map(({ address }) => address);
}

/** The words beside the networks say what each is for. */
function networks(...rows: [network: string, use: string][]): Network[] {
  return rows.map(([text]) => {
    const network = parseNetwork(text);
    if (!network) throw new Error(`${text} is not a network`);
    return network;
  });
}

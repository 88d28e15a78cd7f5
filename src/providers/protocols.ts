// All provider protocols by name; a new one is a line here.

import { createSender } from "./call.ts";
import type { Protocol, ProviderApi } from "./provider.ts";
import { smmApi } from "./smm-api.ts";

const PROTOCOLS: Record<string, Protocol> = {
  "smm-api": smmApi,
};

export const PROTOCOL_NAMES = Object.keys(PROTOCOLS);
export const PROTOCOL_DEFAULT = "smm-api";

/** A provider's URL, protocol and key. */
export interface ProviderAddress {
  protocol: string;
  url: string;
  key: string;
}

/** Opens no connection: each call opens one or reuses an idle one. */
export function connectProvider(address: ProviderAddress, timeoutMs: number): ProviderApi {
  const protocol = PROTOCOLS[address.protocol];
  if (!protocol) throw new Error(`no protocol is called ${address.protocol}`);
  return protocol(createSender(address.url, timeoutMs), address.key);
}

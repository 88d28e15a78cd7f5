// All provider protocols by name. A new one is a line here.

import { createSender } from "./call.ts";
import type { Protocol, ProviderApi, SandboxDeps } from "./provider.ts";
import { sandbox } from "./sandbox.ts";
import { smmApi } from "./smm-api.ts";

const PROTOCOLS: Record<string, Protocol> = {
  "smm-api": ({ send, key }) => smmApi(send, key),
  sandbox: (deps) => sandbox(deps.sandbox),
};

/** The protocols that an operator may choose: all except the sandbox, which has one fixed provider. */
export const PROTOCOL_NAMES = Object.keys(PROTOCOLS).filter((name) => name !== "sandbox");
export const PROTOCOL_DEFAULT = "smm-api";

/** A provider's URL, protocol and key. */
export interface ProviderAddress {
  protocol: string;
  url: string;
  key: string;
}

/** Orders and refills for the command line, which never calls the sandbox. */
const NO_SANDBOX: SandboxDeps = {
  now: Date.now,
  orders: () => Promise.reject(new Error("only a server can call the sandbox")),
  refills: () => Promise.reject(new Error("only a server can call the sandbox")),
};

/** Returns the API of a provider. Opens no connection: each call opens one or reuses an idle one. */
export function connectProvider(
  address: ProviderAddress,
  timeoutMs: number,
  sandboxDeps: SandboxDeps = NO_SANDBOX,
): ProviderApi {
  const protocol = PROTOCOLS[address.protocol];
  if (!protocol) throw new Error(`no protocol is called ${address.protocol}`);
  const { url, key } = address;
  return protocol({ send: createSender(url, timeoutMs), key, sandbox: sandboxDeps });
}

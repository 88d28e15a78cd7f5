// Calls a provider for a command, with the settings and the error texts of the command line.

import { requireProvider } from "../../operations/providers/providers.ts";
import { connectProvider } from "../../providers/protocols.ts";
import { type ProviderApi, ProviderFailure } from "../../providers/provider.ts";
import { CommandFailure, type CommonOptions, withDatabase } from "../kernel/command.ts";

export interface CallOptions extends CommonOptions {
  providerTimeout: number;
}

/** Calls a provider, without keeping the database open during the call. Throws ProviderFailure as CommandFailure. */
export async function callProvider<T>(
  name: string,
  options: CallOptions,
  call: (api: ProviderApi) => Promise<T>,
): Promise<{ name: string; result: T }> {
  const provider = await withDatabase(options, ({ store }) =>
    store.read((reader) => requireProvider(reader, name)),
  );
  try {
    const result = await call(connectProvider(provider, options.providerTimeout));
    return { name: provider.name, result };
  } catch (error) {
    throw providerFailure(error, provider, "check its address, its key and whether it is up");
  }
}

/** Returns a ProviderFailure as a CommandFailure that ends with `todo`. Returns other errors unchanged. */
export function providerFailure(
  error: unknown,
  { name, url }: { name: string; url: string },
  todo: string,
) {
  if (!(error instanceof ProviderFailure)) return error;
  return new CommandFailure(
    `provider ${name} at ${url}: ${error.message}: nothing was changed, ${todo}`,
  );
}

/** Returns a signal that never aborts: Ctrl-C ends the process. */
export function neverAborted(): AbortSignal {
  return new AbortController().signal;
}

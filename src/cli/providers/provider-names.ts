// Finds names of providers by their numbers. Reads all names at once, because a list of orders may need many.

import type { Reader } from "../../db/port/port.ts";
import { listAllProviders } from "../../db/providers/providers.ts";

/** Returns a provider's name, or null for a manual service, which has no provider. */
export type ProviderNames = (providerId: number | null) => string | null;

export function providerNames(reader: Reader): ProviderNames {
  const names = new Map(listAllProviders(reader).map(({ providerId, name }) => [providerId, name]));
  return (providerId) => (providerId === null ? null : names.get(providerId)!);
}

// The names of providers, for rows that hold a provider's number. All at once: a list of orders may name many.

import type { Reader } from "../db/port.ts";
import { listAllProviders } from "../db/providers.ts";

/** Null for a manual service, which has no provider. */
export type ProviderNames = (providerId: number | null) => string | null;

export function providerNames(reader: Reader): ProviderNames {
  const names = new Map(listAllProviders(reader).map(({ providerId, name }) => [providerId, name]));
  return (providerId) => (providerId === null ? null : names.get(providerId)!);
}

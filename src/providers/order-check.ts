// Asks a provider whether it knows an order number, before the operator's settlement with that number is accepted.

import { type ProviderApi, ProviderFailure } from "./provider.ts";

/**
 * The provider's answer. `word`: its status of the order. `unknown`: its text for an unknown order, with the key
 * masked.
 */
export type OrderCheck = { word: string } | { unknown: string };

/** Checks an order number. Rejects with ProviderFailure if the reply does not say whether the provider knows it. */
export async function checkOrder(
  api: ProviderApi,
  providerOrder: string,
  stop: AbortSignal,
): Promise<OrderCheck> {
  const reply = await api.status([providerOrder], stop);
  if ("failed" in reply) throw new ProviderFailure(reply.failed);
  const report = reply.reports.get(providerOrder);
  if (!report) throw new ProviderFailure("no status in its reply");
  if (report.word !== null) return { word: report.word.trim() };
  // A wrong key, or too many requests, says nothing about the number.
  if (!report.isUnrecognized) throw new ProviderFailure(`it says: ${report.text}`);
  return { unknown: report.text };
}

// Asks whether a provider knows an order by a number, before the operator's settlement is believed.

import { type ProviderApi, ProviderFailure } from "./provider.ts";

/** `word`: the order's status, as the provider wrote it. `unknown`: what the provider said instead, its key masked. */
export type OrderCheck = { word: string } | { unknown: string };

/** Rejects with ProviderFailure if the provider does not answer, or answers about something else. */
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

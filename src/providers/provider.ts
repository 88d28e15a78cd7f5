// What every protocol offers. A further one is a file beside smm-api.ts and a line in protocols.ts.
// Nothing here rejects but `services` and `balance`, whose caller is a person at the command line.

import type { UpstreamEntry } from "../domain/catalogue-sync.ts";
import type { SubmissionResult } from "../domain/deliveries.ts";
import type { Report } from "../domain/polling.ts";
import type { Send } from "./call.ts";

export interface PlacedOrder {
  /** The id of the service at the provider. */
  service: string;
  link: string;
  quantity: number;
}

/**
 * The answer to a question about many orders. `answered` false: the provider could not be reached, did not answer or
 * replied with a 429, so asking about fewer of them will not help.
 */
export type StatusReply = { reports: Map<string, Report> } | { failed: string; answered: boolean };

export interface ProviderBalance {
  /** As the provider names it. */
  balance: number;
  currency: string;
}

export interface ProviderApi {
  /** Sends the order once. */
  add(order: PlacedOrder, stop: AbortSignal): Promise<SubmissionResult>;
  /** At most STATUS_BATCH_LIMIT orders, by the provider's numbers. One that is missing from the answer is in it as such. */
  status(providerOrders: readonly string[], stop: AbortSignal): Promise<StatusReply>;
  /** Rejects with ProviderFailure. `onBytes` hears how much has arrived. */
  services(stop: AbortSignal, onBytes?: (bytes: number) => void): Promise<UpstreamEntry[]>;
  /** Rejects with ProviderFailure. */
  balance(stop: AbortSignal): Promise<ProviderBalance>;
}

/** Makes the API of one provider from the key and the way to its address. */
export type Protocol = (send: Send, key: string) => ProviderApi;

/** How many orders one question may name. */
export const STATUS_BATCH_LIMIT = 100;

/** A call that did not do what it was for; the message is for the operator, with the key masked. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
}

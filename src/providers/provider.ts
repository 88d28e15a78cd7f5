// The interface that every protocol implements. A new one is a file beside smm-api.ts and a line in protocols.ts.
// Only `services` and `balance`, which the command line calls, reject.

import type { UpstreamEntry } from "../domain/upstream-services.ts";
import type { SubmissionResult } from "../domain/deliveries.ts";
import type { RefillReport, RequestResult } from "../domain/order-requests.ts";
import type { Report } from "../domain/polling.ts";
import type { SandboxOrder, SandboxRefill } from "../domain/sandbox.ts";
import type { Send } from "./call.ts";

export interface PlacedOrder {
  /** The id of the service at the provider. */
  service: string;
  link: string;
  /** The quantity, where its type has one, and the fields of its type, by the names that the protocol has for them. */
  fields: Readonly<Record<string, string>>;
  /** Ours, which no provider is told: for the sandbox. */
  orderId: number;
  createdAt: number;
}

/**
 * The result of a poll. `answered` false: the provider could not be reached, did not reply or replied with a 429, so
 * polling fewer orders will not help.
 */
export type StatusReply = { reports: Map<string, Report> } | { failed: string; answered: boolean };

/** A request for an order as its provider is told of it. */
export interface SentRequest {
  /** The provider's number of the order. */
  providerOrder: string;
  /** Ours, which no provider is told: for the sandbox. */
  requestId: number;
  link: string;
}

export type RefillReply = { reports: Map<string, RefillReport> } | { failed: string };

export interface ProviderBalance {
  /** In `currency`, which may be empty. */
  balance: number;
  currency: string;
}

export interface ProviderApi {
  /** Sends the order once. */
  add(order: PlacedOrder, stop: AbortSignal): Promise<SubmissionResult>;
  /** At most STATUS_BATCH_LIMIT orders, by the provider's numbers. One missing from the reply has a report that says so. */
  status(providerOrders: readonly string[], stop: AbortSignal): Promise<StatusReply>;
  /** Asks once that an order is cancelled, or that what was lost of it is delivered again. */
  cancel(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  refill(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  /** At most STATUS_BATCH_LIMIT refills, by the provider's numbers; one missing from the reply may have no report. */
  refillStatus(refills: readonly string[], stop: AbortSignal): Promise<RefillReply>;
  /** Rejects with ProviderFailure. `onBytes` is called with the bytes received so far. */
  services(stop: AbortSignal, onBytes?: (bytes: number) => void): Promise<UpstreamEntry[]>;
  /** Rejects with ProviderFailure. */
  balance(stop: AbortSignal): Promise<ProviderBalance>;
}

/** What a protocol may use. */
export interface ProtocolDeps {
  /** Sends to the provider's URL. */
  send: Send;
  /** The provider's key. */
  key: string;
  sandbox: SandboxDeps;
}

/** What the sandbox knows its orders from. */
export interface SandboxDeps {
  now: () => number;
  /** Those that are PROCESSING, by the numbers that the sandbox gave them. */
  orders: (providerOrders: readonly string[]) => Promise<readonly SandboxOrder[]>;
  /** By the numbers that the sandbox gave them. */
  refills: (refills: readonly string[]) => Promise<readonly SandboxRefill[]>;
}

/** Makes the API of one provider. */
export type Protocol = (deps: ProtocolDeps) => ProviderApi;

/** Most orders in one poll. */
export const STATUS_BATCH_LIMIT = 100;

/** A failed call; the message is for the operator, with the key masked. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
}

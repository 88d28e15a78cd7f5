// The interface that every protocol implements. A new one is a file beside smm-api.ts and a line in protocols.ts.
// Only `services` and `balance`, which the command line calls, reject.

import type { UpstreamEntry } from "../domain/providers/upstream-services.ts";
import type { SubmissionResult } from "../domain/delivery/deliveries.ts";
import type { RefillReport, RequestResult } from "../domain/orders/order-requests.ts";
import type { Report } from "../domain/delivery/polling.ts";
import type { SandboxOrder, SandboxRefill } from "../domain/orders/sandbox.ts";
import type { Send } from "./call.ts";

export interface PlacedOrder {
  /** The id of the service at the provider. */
  service: string;
  link: string;
  /** The quantity, if the type has one, and the fields of the type, by their names in the protocol. */
  fields: Readonly<Record<string, string>>;
  /** Our own number of the order, for the sandbox; no provider receives it. */
  orderId: number;
  createdAt: number;
}

/**
 * The result of a poll. `answered` false: the provider could not be reached, did not reply or replied with a 429, so
 * polling fewer orders will not help.
 */
export type StatusReply = { reports: Map<string, Report> } | { failed: string; answered: boolean };

/** A request for an order, as its provider receives it. */
export interface SentRequest {
  /** The provider's number of the order. */
  providerOrder: string;
  /** Our own number of the request, for the sandbox; no provider receives it. */
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
  submit(order: PlacedOrder, stop: AbortSignal): Promise<SubmissionResult>;
  /**
   * Polls at most STATUS_BATCH_LIMIT orders, by the provider's numbers. An order missing from the reply has a report
   * too.
   */
  status(providerOrders: readonly string[], stop: AbortSignal): Promise<StatusReply>;
  /** Asks once that an order be cancelled, or (`refill`) that what was lost of it be delivered again. */
  cancel(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  refill(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  /**
   * Asks about at most STATUS_BATCH_LIMIT refills, by the provider's numbers. One missing from the reply may have no
   * report.
   */
  refillStatus(refills: readonly string[], stop: AbortSignal): Promise<RefillReply>;
  /**
   * Reads the list of services. Rejects with ProviderFailure. `onBytes` is called with the number of bytes received so
   * far.
   */
  services(stop: AbortSignal, onBytes?: (bytes: number) => void): Promise<UpstreamEntry[]>;
  /** Reads our balance. Rejects with ProviderFailure. */
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

/** Source of the orders and refills of the sandbox. */
export interface SandboxDeps {
  now: () => number;
  /** Returns those orders that are PROCESSING, by the numbers that the sandbox gave them. */
  orders: (providerOrders: readonly string[]) => Promise<readonly SandboxOrder[]>;
  /** Returns refills, by the numbers that the sandbox gave them. */
  refills: (refills: readonly string[]) => Promise<readonly SandboxRefill[]>;
}

/** Makes the API of one provider. */
export type Protocol = (deps: ProtocolDeps) => ProviderApi;

/** Maximum number of orders in one poll. */
export const STATUS_BATCH_LIMIT = 100;

/** A failed call; the message is for the operator, with the key masked. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
}

// The interface that every protocol implements. A new protocol is a file beside smm-api.ts and a line in protocols.ts.
// Only `services` and `balance` reject; the other calls resolve with a result that says what failed.

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
 * The result of a poll. If `answered` is false, the provider was not reached, did not reply or replied with a 429:
 * polling fewer orders would not help.
 */
export type StatusReply = { reports: Map<string, Report> } | { failed: string; answered: boolean };

/** A request to cancel or refill an order. */
export interface SentRequest {
  /** The provider's number of the order. */
  providerOrder: string;
  /** Our own number of the request, for the sandbox; no provider receives it. */
  requestId: number;
  link: string;
}

/** The result of asking about refills: the provider's reports by its numbers, or why there are none. */
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
   * Polls at most STATUS_BATCH_LIMIT orders, by the provider's numbers. An order that is missing from the provider's
   * reply gets a report that says so.
   */
  status(providerOrders: readonly string[], stop: AbortSignal): Promise<StatusReply>;
  /** Asks once to cancel an order. */
  cancel(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  /** Asks once to deliver again what an order has lost. */
  refill(request: SentRequest, stop: AbortSignal): Promise<RequestResult>;
  /**
   * Asks about at most STATUS_BATCH_LIMIT refills, by the provider's numbers. A refill that is missing from the
   * provider's reply may have no report.
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

export type Protocol = (deps: ProtocolDeps) => ProviderApi;

/** Maximum number of orders in one poll. */
export const STATUS_BATCH_LIMIT = 100;

/** Thrown for a failed call. The message is for the operator, with the key masked. */
export class ProviderFailure extends Error {
  override name = "ProviderFailure";
}

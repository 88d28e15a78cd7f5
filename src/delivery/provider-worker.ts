// The worker of one provider. Each has its own limits for calls in flight, so that a slow provider delays only its own
// orders.

import type { ReadStore } from "../db/port/port.ts";
import type { Provider } from "../db/providers/providers.ts";
import type { SubmissionOutcome } from "../domain/delivery/deliveries.ts";
import type { RequestKind, RequestResult } from "../domain/orders/order-requests.ts";
import type { ProviderApi } from "../providers/provider.ts";
import type { Writer } from "../writer/writer.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Clock } from "../scheduling/clock.ts";
import type { Random } from "../scheduling/backoff.ts";

export interface DeliverySettings {
  /** How long a request waits for the submission of its order. */
  placeWaitMs: number;
  /** How long after an order's creation its submission is retried. */
  placeRetryMs: number;
  pollIntervalMs: number;
  /** Number of consecutive unknown outcomes after which submissions to a provider pause; 0: never. */
  pauseAfter: number;
}

export interface DeliveryDeps {
  store: ReadStore;
  /** The id of this start of the server, stored with its attempts. */
  serverId: string;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  clock: Clock;
  random: Random;
  settings: DeliverySettings;
  connect: (provider: Provider) => ProviderApi;
  /** Called with the provider's name and the outcome of each submission. */
  onSubmission?: (provider: string, outcome: SubmissionOutcome) => void;
  /** Called with the kind and the outcome of each request to cancel or refill. */
  onRequest?: (kind: RequestKind, outcome: RequestResult["outcome"]) => void;
}

export interface ProviderWorker {
  deps: DeliveryDeps;
  providerId: number;
  /** The provider as last read. Its address and its key may change. */
  provider: Provider;
  /** The provider's name, for the log. */
  name: string;
  api: ProviderApi;
  /** Aborts the calls in flight when the server stops. */
  stop: AbortController;
  /** Whether new calls are refused because the server is stopping. */
  stopping: boolean;
  /** Makes the ticker tick soon. Called when a call has ended, because more may be due. */
  wake: () => void;
}

export function createProviderWorker(
  deps: DeliveryDeps,
  provider: Provider,
  wake: () => void,
): ProviderWorker {
  return {
    deps,
    providerId: provider.providerId,
    provider,
    name: provider.name,
    api: deps.connect(provider),
    stop: new AbortController(),
    stopping: false,
    wake,
  };
}

/** Makes the worker use the provider's current address, key, name and state from its next call on. */
export function reconnect(worker: ProviderWorker, provider: Provider): void {
  const { url, key, protocol } = worker.provider;
  const isSame = url === provider.url && key === provider.key && protocol === provider.protocol;
  if (!isSame) worker.api = worker.deps.connect(provider);
  worker.provider = provider;
  worker.name = provider.name;
}

/** Logs an internal error in a call, after which it is unknown whether the call was made. Returns that outcome. */
export function unknownAfter(
  { name, deps }: ProviderWorker,
  order: number,
  error: unknown,
): { outcome: "unknown"; cause: string } {
  const fields = { provider: name, order, error: String(error) };
  deps.log.error(fields, "internal error in a call to a provider");
  return { outcome: "unknown", cause: "internal error in the call, see the log" };
}

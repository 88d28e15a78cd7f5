// One provider's lane: its own places and its own looks, so that a slow provider delays nobody else's orders.

import type { Connection } from "../db/connection.ts";
import type { Provider } from "../db/providers.ts";
import type { SubmissionResult } from "../domain/deliveries.ts";
import type { ProviderApi } from "../providers/provider.ts";
import type { Writer } from "../writer/writer.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Clock } from "./clock.ts";
import type { Random } from "./backoff.ts";

export interface DeliverySettings {
  /** How long a caller waits for its order to be placed. */
  placeWaitMs: number;
  /** How long after its creation an order that was not sent is tried again. */
  placeRetryMs: number;
  pollIntervalMs: number;
}

/** What the fulfilment works with; all of it is given. */
export interface DeliveryDeps {
  /** Reads only. */
  connection: Connection;
  writer: Pick<Writer, "submit">;
  log: Pick<Logger, "info" | "warn" | "error">;
  clock: Clock;
  random: Random;
  settings: DeliverySettings;
  connect: (provider: Provider) => ProviderApi;
  /** Told what came of each attempt to place an order. */
  onSubmission?: (outcome: SubmissionOutcome) => void;
}

export type SubmissionOutcome = SubmissionResult["outcome"] | "expired";

export interface ProviderWorker {
  deps: DeliveryDeps;
  providerId: number;
  /** For the log. */
  name: string;
  api: ProviderApi;
  /** Ends the calls under way when the service stops. */
  stop: AbortController;
  /** No new call is begun. */
  stopping: boolean;
  /** Has the timer look for what is due soon: called when something that was under way has ended. */
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
    name: provider.name,
    api: deps.connect(provider),
    stop: new AbortController(),
    stopping: false,
    wake,
  };
}

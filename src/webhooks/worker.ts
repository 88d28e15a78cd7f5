// Sends webhooks: takes due deliveries from the queue in the database, sends them and records the results.
// docs/decisions/0038-webhook-events-in-the-transaction.md.

import type { ReadStore } from "../db/port/port.ts";
import { listInterruptedDeliveries, nextWebhookDueAt } from "../db/webhooks/webhook-deliveries.ts";
import type { Random } from "../scheduling/backoff.ts";
import { type Outbox, startOutbox } from "../scheduling/outbox.ts";
import type { Recording } from "../scheduling/recording.ts";
import type { Ticker } from "../scheduling/ticker.ts";
import type { Logger } from "../monitoring/log.ts";
import type {
  FinishedWebhookAttempt,
  RecordedWebhookAttempt,
} from "../operations/webhooks/webhook-deliveries.ts";
import type { Writer } from "../writer/writer.ts";
import { type AttemptDeps, createWebhookAttempts } from "./attempts.ts";

/** Limit for the attempts of this server in flight. */
export const ATTEMPTS_LIMIT = 64;
/** Limit for the attempts in flight to one endpoint, from all servers. */
export const ENDPOINT_ATTEMPTS_LIMIT = 4;

export interface WebhookDeps extends AttemptDeps {
  store: ReadStore;
  writer: Pick<Writer, "submit">;
  /** The id of this start of the server, stored with its deliveries in flight. */
  serverId: string;
  random: Random;
  log: Pick<Logger, "warn" | "error">;
  ticker: Pick<Ticker, "add" | "wake">;
}

export function startWebhooks(deps: WebhookDeps): Outbox {
  const { store, writer, clock, log, serverId: server, ticker } = deps;
  /** Ids of endpoints whose attempts are slow. Set once the attempts exist. */
  let slowEndpoints = (): string[] => [];
  return startOutbox({
    what: "webhooks",
    limit: ATTEMPTS_LIMIT,
    attempts(stop, onEnded) {
      const attempts = createWebhookAttempts(deps, stop, onEnded);
      slowEndpoints = () => attempts.slowEndpoints();
      return attempts;
    },
    take(limit) {
      const perEndpoint = ENDPOINT_ATTEMPTS_LIMIT;
      const input = { server, limit, perEndpoint, slow: slowEndpoints() };
      return writer.submit("takeDueWebhookDeliveries", input);
    },
    recording: recordingOf(deps),
    async hasInterrupted() {
      const found = await store.read((reader) => listInterruptedDeliveries(reader, server));
      return found.length > 0;
    },
    release: () => writer.submit("releaseWebhookDeliveries", { server }),
    nextDueAt: async () => store.read(nextWebhookDueAt),
    clock,
    log,
    ticker,
  });
}

function recordingOf({
  writer,
  clock,
  random,
  log,
}: WebhookDeps): Recording<FinishedWebhookAttempt> {
  return {
    what: "attempts of webhooks",
    async store(ended, jitter) {
      const input = { attempts: [...ended], jitter };
      for (const each of await writer.submit("recordWebhookAttempts", input)) logResult(log, each);
    },
    nameOf: ({ deliveryId }) => ({ delivery: deliveryId }),
    clock,
    random,
    log,
  };
}

function logResult(
  log: Pick<Logger, "warn">,
  { webhookId, result, disabled }: RecordedWebhookAttempt,
): void {
  if (disabled) log.warn({ webhook: webhookId, reason: disabled }, "a webhook was disabled");
  if (result === "failed") log.warn({ webhook: webhookId }, "the last attempt of a webhook failed");
}

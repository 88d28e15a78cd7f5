// Sends webhooks: takes due deliveries from the queue in the database, sends them and records the results.
// docs/decisions/0038-webhook-events-in-the-transaction.md.

import type { ReadStore } from "../db/port/port.ts";
import { listInterruptedDeliveries, nextWebhookDueAt } from "../db/webhooks/webhook-deliveries.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import type { Tick, Ticker } from "../scheduling/ticker.ts";
import type { DueWebhookDelivery } from "../operations/webhooks/webhook-deliveries.ts";
import { type AttemptDeps, createAttempts } from "./attempts.ts";
import { recordAttempts, type RecordDeps } from "./recorder.ts";

/** Limit for the attempts of this server in flight. */
export const ATTEMPTS_LIMIT = 64;
/** Limit for the attempts in flight to one endpoint, from all servers. */
export const ENDPOINT_ATTEMPTS_LIMIT = 4;
/** Interval of the search for deliveries that servers left in flight when they ended. */
const RELEASE_MS = 10_000;

export interface WebhookDeps extends AttemptDeps, RecordDeps {
  store: ReadStore;
  /** The id of this start of the server, stored with its deliveries in flight. */
  serverId: string;
  log: AttemptDeps["log"] & RecordDeps["log"];
  ticker: Pick<Ticker, "add" | "wake">;
}

export interface WebhookService {
  /** Starts nothing new and waits for attempts in flight. Aborts them after `drainMs`; they are made again later. */
  stop(drainMs: number): Promise<void>;
}

export function startWebhooks(deps: WebhookDeps): WebhookService {
  const { store, writer, clock, log, serverId: server, ticker } = deps;
  const stop = new AbortController();
  const attempts = createAttempts(deps, stop.signal, () => void turn.run());
  let isStopping = false;

  /** Records ended attempts and takes due deliveries. Both commands are submitted together, so they share a commit. */
  const turn = oneAtATime(async () => {
    const recording = recordAttempts(deps, attempts.takeEnded(), stop.signal);
    for (const due of await takeDue()) attempts.begin(due);
    await recording;
  });

  const takeDue = async (): Promise<readonly DueWebhookDelivery[]> => {
    const limit = ATTEMPTS_LIMIT - attempts.count();
    if (isStopping || limit <= 0) return [];
    const perEndpoint = ENDPOINT_ATTEMPTS_LIMIT;
    const input = { server, limit, perEndpoint, slow: attempts.slowEndpoints() };
    try {
      return await writer.submit("takeDueWebhookDeliveries", input);
    } catch (error) {
      // If deliveries were taken anyway, they are due again when their lease ends.
      log.warn({ error: String(error) }, "due webhooks could not be fetched; trying again");
      return [];
    }
  };

  let releasedAt = Number.NEGATIVE_INFINITY;
  const releasing = oneAtATime(async () => {
    try {
      const read = await store.read((reader) => listInterruptedDeliveries(reader, server));
      if (read.length > 0) await writer.submit("releaseWebhookDeliveries", { server });
    } catch (error) {
      releasedAt = Number.NEGATIVE_INFINITY;
      log.warn(
        { error: String(error) },
        "interrupted webhooks could not be released; trying again",
      );
    }
  });

  const tick: Tick = async (now) => {
    if (Math.abs(now - releasedAt) >= RELEASE_MS) {
      releasedAt = now;
      await releasing.run();
    }
    const dueAt = await store.read(nextWebhookDueAt);
    if (dueAt !== null && dueAt <= now) void turn.run();
    return dueAt === null ? null : dueAt - now;
  };
  const endTicks = ticker.add(tick);
  ticker.wake();

  return {
    async stop(drainMs) {
      isStopping = true;
      endTicks();
      const giveUp = clock.after(drainMs, () => stop.abort());
      // Deliveries that are being taken now are still sent. No further deliveries are.
      await turn.idle();
      await attempts.idle();
      await turn.run();
      giveUp();
      await releasing.idle();
    },
  };
}

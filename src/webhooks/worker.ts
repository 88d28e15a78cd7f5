// The worker that sends webhooks: takes what is due from the queue in the database, sends it, and records what came of it.
// docs/decisions/0040-webhooks-have-a-queue-of-their-own.md.

import type { ReadStore } from "../db/port.ts";
import { listInterruptedDeliveries, nextWebhookDueAt } from "../db/webhook-deliveries.ts";
import { oneAtATime } from "../delivery/one-at-a-time.ts";
import type { Tick, Ticker } from "../delivery/ticker.ts";
import type { DueWebhookDelivery } from "../operations/webhook-deliveries.ts";
import { type AttemptDeps, createAttempts } from "./attempts.ts";
import { recordAttempts, type RecordDeps } from "./recorder.ts";

/** Attempts under way at this server, and of those of all servers to one endpoint. */
export const ATTEMPTS_LIMIT = 64;
export const ENDPOINT_ATTEMPTS_LIMIT = 4;
/** How often deliveries that servers left under way when they ended are looked for. */
const RELEASE_MS = 10_000;

export interface WebhookDeps extends AttemptDeps, RecordDeps {
  store: ReadStore;
  /** The id of this start of the server, noted at what it has under way. */
  serverId: string;
  log: AttemptDeps["log"] & RecordDeps["log"];
  ticker: Pick<Ticker, "add" | "wake">;
}

export interface WebhookService {
  /** Starts nothing new, waits for what is under way and aborts it after `drainMs`: that is sent again. */
  stop(drainMs: number): Promise<void>;
}

export function startWebhooks(deps: WebhookDeps): WebhookService {
  const { store, writer, clock, log, serverId: server, ticker } = deps;
  const stop = new AbortController();
  const attempts = createAttempts(deps, stop.signal, () => void turn.run());
  let isStopping = false;

  /** Records what has ended and takes what is due: submitted together, they share a commit. */
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
      // What was taken all the same is due again when its lease ends.
      log.warn({ error: String(error) }, "due webhooks could not be taken, tried again");
      return [];
    }
  };

  let releasedAt = Number.NEGATIVE_INFINITY;
  const releasing = oneAtATime(async () => {
    try {
      const read = await store.read((reader) =>
        listInterruptedDeliveries(reader, clock.now(), server),
      );
      if (read.length > 0) await writer.submit("releaseWebhookDeliveries", { server });
    } catch (error) {
      releasedAt = Number.NEGATIVE_INFINITY;
      log.warn({ error: String(error) }, "interrupted webhooks were not released, tried again");
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
      // What is being taken begins once more before nothing does.
      await turn.idle();
      await attempts.idle();
      await turn.run();
      giveUp();
      await releasing.idle();
    },
  };
}

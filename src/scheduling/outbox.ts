// Works through an outbox in the database: takes due rows, has an attempt made of each, and records the results. A row
// is leased while its attempt is in flight.

import type { Logger } from "../monitoring/log.ts";
import type { Attempts } from "./attempts.ts";
import type { Clock } from "./clock.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { recordEnded, type Recording } from "./recording.ts";
import type { Tick, Ticker } from "./ticker.ts";

/** Interval of the search for rows that servers left in flight when they ended. */
const RELEASE_MS = 10_000;

export interface OutboxDeps<Due, Ended> {
  /** What the rows are, for the log, such as `webhooks`. */
  what: string;
  /** Limit for the attempts of this server in flight. */
  limit: number;
  /** Creates the attempts. `onEnded` must be called after each. */
  attempts(stop: AbortSignal, onEnded: () => void): Attempts<Due, Ended>;
  /** Takes due rows, at most `limit`. No server takes them again until they are recorded or the lease ends. */
  take(limit: number): Promise<readonly Due[]>;
  recording: Recording<Ended>;
  /** Returns whether servers that have ended left rows in flight. */
  hasInterrupted(): Promise<boolean>;
  /** Makes such rows due again. */
  release(): Promise<unknown>;
  /** Returns when the next row is due; null: none waits. */
  nextDueAt(): Promise<number | null>;
  clock: Clock;
  log: Pick<Logger, "warn">;
  ticker: Pick<Ticker, "add" | "wake">;
}

export interface Outbox {
  /** Starts nothing new and waits for attempts in flight. Aborts them after `drainMs`; they are made again later. */
  stop(drainMs: number): Promise<void>;
}

export function startOutbox<Due, Ended>(deps: OutboxDeps<Due, Ended>): Outbox {
  const { what, limit, clock, log, ticker } = deps;
  const stop = new AbortController();
  const attempts = deps.attempts(stop.signal, () => void turn.run());
  let isStopping = false;

  /** Records ended attempts and takes due rows. Both commands are submitted together, so they share a commit. */
  const turn = oneAtATime(async () => {
    const recording = recordEnded(deps.recording, attempts.takeEnded(), stop.signal);
    for (const due of await takeDue()) attempts.begin(due);
    await recording;
  });

  const takeDue = async (): Promise<readonly Due[]> => {
    const free = limit - attempts.count();
    if (isStopping || free <= 0) return [];
    try {
      return await deps.take(free);
    } catch (error) {
      // If rows were taken anyway, they are due again when their lease ends.
      log.warn({ error: String(error) }, `due ${what} could not be fetched; trying again`);
      return [];
    }
  };

  let releasedAt = Number.NEGATIVE_INFINITY;
  const releasing = oneAtATime(async () => {
    try {
      if (await deps.hasInterrupted()) await deps.release();
    } catch (error) {
      releasedAt = Number.NEGATIVE_INFINITY;
      log.warn({ error: String(error) }, `interrupted ${what} could not be released; trying again`);
    }
  });

  const tick: Tick = async (now) => {
    if (Math.abs(now - releasedAt) >= RELEASE_MS) {
      releasedAt = now;
      await releasing.run();
    }
    const dueAt = await deps.nextDueAt();
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
      // Rows that are being taken now are still sent. No further rows are.
      await turn.idle();
      await attempts.idle();
      await turn.run();
      giveUp();
      await releasing.idle();
    },
  };
}

// Stores the results of finished work, such as attempts of webhooks, with retries until the database takes them.

import { errorCode, Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import { type Random, writeBackoffMs } from "./backoff.ts";
import { type Clock, sleep } from "./clock.ts";

export interface Recording<Ended> {
  /** What is recorded, for the log, such as `attempts of webhooks`. */
  what: string;
  /** Stores all. Doing so twice must change nothing. `jitter`: 0 to 1. */
  store(ended: readonly Ended[], jitter: number): Promise<void>;
  /** Returns the fields that name one in the log. */
  nameOf(ended: Ended): Record<string, string | number>;
  clock: Clock;
  random: Random;
  log: Pick<Logger, "warn" | "error">;
}

/**
 * Records what has ended. Resolves once it is recorded, or once `stop` is aborted. Work that is not recorded by then is
 * done again later.
 */
export async function recordEnded<Ended>(
  recording: Recording<Ended>,
  ended: readonly Ended[],
  stop: AbortSignal,
): Promise<void> {
  if (ended.length === 0) return;
  const { what, clock, random, log } = recording;
  for (let tries = 0; ; tries += 1) {
    try {
      return await recording.store(ended, random());
    } catch (error) {
      const isTransient = error instanceof Refusal || errorCode(error) === "outcome_unknown";
      if (!isTransient) return recordEach(recording, ended, error, stop);
      if (stop.aborted) return;
      log.warn({ attempts: ended.length }, `${what} could not be stored yet`);
      await sleep(clock, writeBackoffMs(tries, random));
    }
  }
}

/** Records one by one after an internal error, so that the one that caused it does not block the others. */
async function recordEach<Ended>(
  recording: Recording<Ended>,
  ended: readonly Ended[],
  error: unknown,
  stop: AbortSignal,
): Promise<void> {
  const [only, ...others] = ended;
  if (others.length === 0) {
    const fields = { ...recording.nameOf(only!), error: String(error) };
    recording.log.error(fields, `${recording.what} could not be stored`);
    return;
  }
  for (const each of ended) await recordEnded(recording, [each], stop);
}

// Stores the results of attempts, with retries until the database takes them.

import { type Random, writeBackoffMs } from "../scheduling/backoff.ts";
import { type Clock, sleep } from "../scheduling/clock.ts";
import { errorCode, Refusal } from "../domain/values/error-table.ts";
import type { Logger } from "../monitoring/log.ts";
import type {
  FinishedWebhookAttempt,
  RecordedWebhookAttempt,
} from "../operations/webhooks/webhook-deliveries.ts";
import type { Writer } from "../writer/writer.ts";

export interface RecordDeps {
  writer: Pick<Writer, "submit">;
  clock: Clock;
  random: Random;
  log: Pick<Logger, "warn" | "error">;
}

/**
 * Records attempts. Resolves once they are recorded, or once `stop` is aborted; in that case they are made again.
 * Recording an attempt twice changes nothing.
 */
export async function recordAttempts(
  deps: RecordDeps,
  attempts: readonly FinishedWebhookAttempt[],
  stop: AbortSignal,
): Promise<void> {
  if (attempts.length === 0) return;
  for (let tries = 0; ; tries += 1) {
    try {
      const jitter = deps.random();
      const input = { attempts: [...attempts], jitter };
      for (const each of await deps.writer.submit("recordWebhookAttempts", input))
        logResult(deps, each);
      return;
    } catch (error) {
      const isTransient = error instanceof Refusal || errorCode(error) === "outcome_unknown";
      if (!isTransient) return recordEach(deps, attempts, error, stop);
      if (stop.aborted) return;
      deps.log.warn({ attempts: attempts.length }, "attempts of webhooks could not be stored yet");
      await sleep(deps.clock, writeBackoffMs(tries, deps.random));
    }
  }
}

/**
 * Records attempts one by one after an internal error, so that the attempt that caused it does not block other
 * attempts. That attempt is made again.
 */
async function recordEach(
  deps: RecordDeps,
  attempts: readonly FinishedWebhookAttempt[],
  error: unknown,
  stop: AbortSignal,
): Promise<void> {
  const [only, ...others] = attempts;
  if (others.length === 0) {
    const fields = { delivery: only!.deliveryId, error: String(error) };
    deps.log.error(fields, "an attempt of a webhook could not be stored");
    return;
  }
  for (const attempt of attempts) await recordAttempts(deps, [attempt], stop);
}

function logResult(
  { log }: RecordDeps,
  { webhookId, result, disabled }: RecordedWebhookAttempt,
): void {
  if (disabled) log.warn({ webhook: webhookId, reason: disabled }, "a webhook was disabled");
  if (result === "failed") log.warn({ webhook: webhookId }, "the last attempt of a webhook failed");
}

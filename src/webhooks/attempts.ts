// The attempts of one server to deliver webhooks, and which endpoints are slow.

import { type Attempts, createAttempts } from "../scheduling/attempts.ts";
import type { Clock } from "../scheduling/clock.ts";
import type { WebhookOutcome } from "../domain/webhooks/webhooks.ts";
import type { Logger } from "../monitoring/log.ts";
import type {
  DueWebhookDelivery,
  FinishedWebhookAttempt,
} from "../operations/webhooks/webhook-deliveries.ts";
import { failed, type SendWebhook, type WebhookReply } from "./sender.ts";

/** Limit in milliseconds. An endpoint that takes longer for an attempt is slow. */
const SLOW_MS = 1000;

export interface WebhookAttempts extends Attempts<DueWebhookDelivery, FinishedWebhookAttempt> {
  /** Returns the ids of endpoints whose attempt in flight, or whose latest attempt, is slow. */
  slowEndpoints(): string[];
}

export interface AttemptDeps {
  clock: Clock;
  log: Pick<Logger, "error">;
  send: SendWebhook;
  /** Called after each attempt of a live delivery, not of a test, with `delivered` or the word of its failure. */
  onAttempt?: (outcome: WebhookOutcome) => void;
  /** Called after each attempt of an alert to the operator, with `delivered` or the word of its failure. */
  onAlert?: (outcome: WebhookOutcome) => void;
}

/** Creates the attempts of one server, none in flight. `onEnded` is called after each attempt. */
export function createWebhookAttempts(
  deps: AttemptDeps,
  stop: AbortSignal,
  onEnded: () => void,
): WebhookAttempts {
  const { clock } = deps;
  const inFlight = new Map<number, { webhookId: string; begunAt: number }>();
  /** Ids of endpoints whose latest attempt was slow. */
  const slow = new Set<string>();

  const make = async (due: DueWebhookDelivery): Promise<FinishedWebhookAttempt | null> => {
    const { deliveryId, attempt, webhookId } = due;
    const at = clock.now();
    inFlight.set(deliveryId, { webhookId, begunAt: at });
    const reply = await sendOnce(deps, due, stop);
    inFlight.delete(deliveryId);
    // The clock may have been set back.
    const durationMs = Math.max(0, clock.now() - at);
    if (durationMs > SLOW_MS) slow.add(webhookId);
    else slow.delete(webhookId);
    if (reply.error === "stopped") return null;
    const outcome = reply.error ?? "delivered";
    if (due.alert) deps.onAlert?.(outcome);
    else if (!due.isTest) deps.onAttempt?.(outcome);
    return { deliveryId, attempt, at, durationMs, ...reply };
  };

  return {
    ...createAttempts(make, onEnded),
    slowEndpoints() {
      const since = clock.now() - SLOW_MS;
      const waiting = [...inFlight.values()].filter(({ begunAt }) => begunAt < since);
      return [...new Set([...slow, ...waiting.map(({ webhookId }) => webhookId)])];
    },
  };
}

/** Sends once. An internal error counts as a failed attempt, so that the delivery does not stay in flight. */
async function sendOnce(
  { send, log }: AttemptDeps,
  due: DueWebhookDelivery,
  stop: AbortSignal,
): Promise<WebhookReply> {
  try {
    return await send(due, stop);
  } catch (error) {
    const fields = { webhook: due.webhookId, event: due.eventId, error: String(error) };
    log.error(fields, "internal error in a webhook");
    return failed("internal");
  }
}

// The attempts of one server that are in flight, and those that have ended and are not recorded yet.

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

export interface Attempts {
  begin(due: DueWebhookDelivery): void;
  /** Returns the number of attempts in flight. */
  count(): number;
  /** Returns the ids of endpoints whose attempt in flight, or whose latest attempt, is slow. */
  slowEndpoints(): string[];
  /** Returns the attempts that have ended since the last call. */
  takeEnded(): FinishedWebhookAttempt[];
  /** Resolves when no attempt is in flight. */
  idle(): Promise<void>;
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
export function createAttempts(
  deps: AttemptDeps,
  stop: AbortSignal,
  onEnded: () => void,
): Attempts {
  const { clock } = deps;
  const inFlight = new Map<number, { webhookId: string; begunAt: number; ended: Promise<void> }>();
  /** Ids of endpoints whose latest attempt was slow. */
  const slow = new Set<string>();
  let ended: FinishedWebhookAttempt[] = [];

  const make = async (due: DueWebhookDelivery): Promise<void> => {
    const { deliveryId, attempt, webhookId } = due;
    const at = clock.now();
    const reply = await sendOnce(deps, due, stop);
    // The clock may have been set back.
    const durationMs = Math.max(0, clock.now() - at);
    if (durationMs > SLOW_MS) slow.add(webhookId);
    else slow.delete(webhookId);
    if (reply.error === "stopped") return;
    ended.push({ deliveryId, attempt, at, durationMs, ...reply });
    const outcome = reply.error ?? "delivered";
    if (due.alert) deps.onAlert?.(outcome);
    else if (!due.isTest) deps.onAttempt?.(outcome);
  };

  return {
    begin(due) {
      const { deliveryId, webhookId } = due;
      const running = make(due).finally(() => {
        inFlight.delete(deliveryId);
        onEnded();
      });
      inFlight.set(deliveryId, { webhookId, begunAt: clock.now(), ended: running });
    },
    count: () => inFlight.size,
    slowEndpoints() {
      const since = clock.now() - SLOW_MS;
      const waiting = [...inFlight.values()].filter(({ begunAt }) => begunAt < since);
      return [...new Set([...slow, ...waiting.map(({ webhookId }) => webhookId)])];
    },
    takeEnded() {
      const taken = ended;
      ended = [];
      return taken;
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all([...inFlight.values()].map((each) => each.ended));
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

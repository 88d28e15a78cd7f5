// The only alert that cannot go through the database: the database does not accept writes. Its beginning is sent from
// memory, with the sender and the schedule of webhooks. Once writes succeed again, the queue sends the end, and sends
// the beginning to endpoints that have not received it. docs/specification/alerts.md#alerts.

import type { AlertEndpoint } from "../db/webhooks/alerts.ts";
import type { Random } from "../scheduling/backoff.ts";
import type { Clock } from "../scheduling/clock.ts";
import { UNWRITABLE_MS } from "../domain/alerts/conditions.ts";
import { alertBody, UNWRITABLE } from "../domain/alerts/alerts.ts";
import { webhookPauseMs } from "../domain/webhooks/webhook-schedule.ts";
import { signingSecrets } from "../domain/webhooks/webhooks.ts";
import type { Logger } from "../monitoring/log.ts";
import { eventIdOf } from "../operations/batch/context.ts";
import type { Writer } from "../writer/writer.ts";
import type { SendWebhook, WebhookReply } from "../webhooks/sender.ts";

export interface OutageDeps {
  /** The id of this start of the server. */
  serverId: string;
  writer: Pick<Writer, "submit" | "isWritable">;
  clock: Clock;
  random: Random;
  log: Pick<Logger, "info" | "warn" | "error">;
  send: SendWebhook;
  /** Whether this server checks on behalf of all servers. */
  isLeader: () => boolean;
  /** The endpoints as they were last read. */
  endpoints: () => readonly AlertEndpoint[];
}

interface Outage {
  eventId: string;
  beganAt: number;
  /** Public ids of endpoints that received the beginning. */
  notified: Set<string>;
  /** Aborted when the outage ends. */
  over: AbortController;
  /** Functions that cancel attempts that wait for their time. */
  cancels: Set<() => void>;
  inFlight: Set<Promise<void>>;
}

export interface OutageWatch {
  /** Checks whether the database accepts writes. Called at each tick. */
  check(now: number): void;
  stop(): void;
}

export function createOutageWatch(deps: OutageDeps): OutageWatch {
  const { writer, clock, log, isLeader } = deps;
  let count = 0;
  /**
   * When writes began to fail, and whether this server checked on behalf of all servers then; null while writes
   * succeed.
   */
  let since: { at: number; isOurs: boolean } | null = null;
  let cancelBegin: (() => void) | null = null;
  let outage: Outage | null = null;
  let ending: Promise<void> | null = null;

  const begin = () => {
    cancelBegin = null;
    if (writer.isWritable() || outage || !since?.isOurs) return;
    count += 1;
    outage = {
      eventId: eventIdOf(`${deps.serverId} outage ${count}`),
      beganAt: since.at,
      notified: new Set(),
      over: new AbortController(),
      cancels: new Set(),
      inFlight: new Set(),
    };
    log.warn({ ...UNWRITABLE }, "alert raised");
    for (const endpoint of deps.endpoints())
      trackUntilEnd(outage, sendBeginning(deps, outage, endpoint, 1));
  };
  const end = async (ended: Outage) => {
    ended.over.abort();
    for (const cancel of ended.cancels) cancel();
    await Promise.all(ended.inFlight);
    const { beganAt, eventId, notified } = ended;
    try {
      await writer.submit("recordOutage", { beganAt, eventId, notified: [...notified] });
      log.info({ kind: UNWRITABLE.kind, subject: UNWRITABLE.subject }, "alert resolved");
      outage = null;
    } catch (error) {
      log.warn(
        { error: String(error) },
        "the end of an outage could not be recorded; trying again",
      );
    }
  };

  return {
    check(now) {
      if (writer.isWritable()) {
        since = null;
        cancelBegin?.();
        cancelBegin = null;
        if (outage) ending ??= end(outage).finally(() => (ending = null));
      } else if (!since) {
        since = { at: now, isOurs: isLeader() };
        cancelBegin = clock.after(UNWRITABLE_MS, begin);
      }
    },
    stop() {
      cancelBegin?.();
      outage?.over.abort();
      for (const cancel of outage?.cancels ?? []) cancel();
    },
  };
}

/** Sends the beginning to an endpoint, on the schedule of webhooks, until an attempt succeeds or the outage ends. */
async function sendBeginning(
  deps: OutageDeps,
  outage: Outage,
  endpoint: AlertEndpoint,
  attempt: number,
): Promise<void> {
  const { clock, random, send } = deps;
  const { eventId, beganAt, over } = outage;
  const reply: WebhookReply = await send(
    {
      url: endpoint.url,
      secrets: signingSecrets(endpoint, clock.now()),
      eventId,
      body: alertBody("alert.raised", UNWRITABLE, beganAt),
      alert: { telegramChat: endpoint.telegramChat },
    },
    over.signal,
  );
  if (reply.error === null) {
    outage.notified.add(endpoint.id);
    return;
  }
  const pause = webhookPauseMs(attempt, random(), reply.retryAfterSeconds);
  if (over.signal.aborted || pause === null) return;
  const cancel = clock.after(pause, () => {
    outage.cancels.delete(cancel);
    trackUntilEnd(outage, sendBeginning(deps, outage, endpoint, attempt + 1));
  });
  outage.cancels.add(cancel);
}

function trackUntilEnd(outage: Outage, sending: Promise<void>): void {
  const tracked: Promise<void> = sending.finally(() => outage.inFlight.delete(tracked));
  outage.inFlight.add(tracked);
}

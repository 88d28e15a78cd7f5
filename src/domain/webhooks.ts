// Endpoints of webhooks and what follows from each attempt. docs/specification.md#webhooks.

import { refusal } from "./refusals.ts";
import { jsonAmount } from "./money.ts";
import {
  bitsOfEvents,
  type DisabledReason,
  wantsEvent,
  type WebhookEventType,
} from "./webhook-events.ts";
import { webhookPauseMs } from "./webhook-schedule.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Endpoints of one reseller. */
export const WEBHOOKS_LIMIT = 10;
/** What may come of an attempt: docs/specification.md#webhook-deliveries. */
export const WEBHOOK_OUTCOMES = [
  "delivered",
  "status",
  "redirect",
  "timeout",
  "connection",
  "tls",
  "dns",
  "blocked_address",
  "url_not_allowed",
  "internal",
] as const;
export type WebhookOutcome = (typeof WEBHOOK_OUTCOMES)[number];
export const WEBHOOK_SECRET_BYTES = 32;
const SECRET_PREFIX = "whsec_";
/** How long the old secret signs beside the new one, unless the rotation says otherwise, and at most. */
export const SECRET_GRACE_SECONDS = 86_400;
export const SECRET_GRACE_LIMIT_SECONDS = 30 * 86_400;
export const SECRET_GRACE_FORM = `a whole number from 0 to ${SECRET_GRACE_LIMIT_SECONDS}`;
/** How far back a replay reaches. */
export const REPLAY_LIMIT_MS = 14 * DAY_MS;
/** For so long after failures disabled an endpoint its events are written and kept. */
export const DISABLED_RETENTION_MS = 7 * DAY_MS;
/** Attempts, and events that are delivered or given up, are kept for so long. */
export const WEBHOOK_RETENTION_MS = 30 * DAY_MS;
/** An endpoint that does nothing but fail is disabled after this long and so many attempts. */
const FAILING_MS = 5 * DAY_MS;
const FAILURES_MINIMUM = 10;
/**
 * From the start of an attempt: after it the delivery is due again, to any server. An exchange ends within a quarter of it.
 */
export const WEBHOOK_LEASE_MS = 60_000;
/** Characters of a response that are stored. */
const RESPONSE_LIMIT = 1024;
const GONE = 410;

/** The beginning of a response, without what cannot be stored as text. */
export function storedResponse(text: string): string {
  return text.slice(0, RESPONSE_LIMIT).replaceAll("\0", "\ufffd").toWellFormed();
}

/** The text of a secret: `whsec_` and base64 of WEBHOOK_SECRET_BYTES random bytes, which are the key of the HMAC. */
export function formatSecret(random: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random).toString("base64");
}

/** The secrets that sign a delivery now, the current one first. */
export function signingSecrets(
  webhook: { secret: string; previousSecret: string | null; previousUntil: number | null },
  now: number,
): string[] {
  const { secret, previousSecret, previousUntil } = webhook;
  const isBoth = previousSecret !== null && previousUntil! > now;
  return isBoth ? [secret, previousSecret] : [secret];
}

/** The fields of an endpoint that are shown; its secret is not. */
export interface ShownWebhook {
  id: string;
  url: string;
  /** Separated by commas. */
  events: string;
  balanceLowBelow: number | null;
  active: boolean;
  disabledReason: DisabledReason | null;
  createdAt: number;
}

export function publicWebhook(webhook: ShownWebhook) {
  const { id, url, balanceLowBelow, active, disabledReason, createdAt } = webhook;
  return {
    id,
    url,
    events: webhook.events.split(","),
    balanceLowBelow: balanceLowBelow === null ? null : jsonAmount(balanceLowBelow),
    active,
    disabledReason,
    createdAt: new Date(createdAt).toISOString(),
  };
}

/** An attempt with its event and its endpoint. */
export interface ShownDelivery {
  webhookId: string;
  eventId: string;
  type: WebhookEventType;
  attempt: number;
  at: number;
  durationMs: number;
  httpStatus: number | null;
  error: string | null;
  response: string | null;
}

export function publicDelivery(delivery: ShownDelivery) {
  const { webhookId, eventId, type, attempt, at, durationMs, httpStatus, error, response } =
    delivery;
  return {
    id: formatDeliveryId(eventId, attempt),
    webhookId,
    eventId,
    type,
    attempt,
    at: new Date(at).toISOString(),
    durationMs,
    httpStatus,
    error,
    response,
  };
}

/** The public id of an attempt, among those of its endpoint. */
export function formatDeliveryId(eventId: string, attempt: number): string {
  return `${eventId}.${attempt}`;
}

const DELIVERY_ID = /^(evt_[a-z0-9]{24})\.([1-9][0-9]{0,8})$/;

export function parseDeliveryId(id: string): { eventId: string; attempt: number } | null {
  const [, eventId, attempt] = DELIVERY_ID.exec(id) ?? [];
  return eventId === undefined ? null : { eventId, attempt: Number(attempt) };
}

/** The fields of an endpoint that decide whether its events are written. */
export interface WebhookActivity {
  active: boolean;
  disabledReason: DisabledReason | null;
  disabledAt: number | null;
}

/** Whether the endpoint's deliveries may be sent again once it is enabled: what a person disabled is sent nothing. */
export function isDisabledByFailures({ disabledReason }: WebhookActivity): boolean {
  return disabledReason === "failures" || disabledReason === "gone";
}

export function takesEvents(webhook: WebhookActivity, now: number): boolean {
  if (webhook.active) return true;
  return isDisabledByFailures(webhook) && webhook.disabledAt! > now - DISABLED_RETENTION_MS;
}

/** What an account's row says of its endpoints. */
export interface Wanted {
  /** Event types as bits. */
  wantedEvents: number;
  /** The highest threshold of those that want balance.low; null: there is none. */
  lowBalanceMicros: number | null;
}

/** Those that failures disabled count: for some days their events are written. */
export function wantedBy(
  endpoints: readonly (WebhookActivity & { events: string; balanceLowBelow: number | null })[],
): Wanted {
  const wanting = endpoints.filter((webhook) => webhook.active || isDisabledByFailures(webhook));
  const bits = wanting.map(({ events }) => bitsOfEvents(events));
  const thresholds = wanting
    .filter((_, place) => wantsEvent(bits[place]!, "balance.low"))
    .map(({ balanceLowBelow }) => balanceLowBelow)
    .filter((threshold) => threshold !== null);
  return {
    wantedEvents: bits.reduce((all, each) => all | each, 0),
    lowBalanceMicros: thresholds.length === 0 ? null : Math.max(...thresholds),
  };
}

/** Refuses: webhooks_too_many. */
export function refuseTooManyWebhooks(count: number): void {
  if (count >= WEBHOOKS_LIMIT) throw refusal("webhooks_too_many");
}

/** What an attempt came to. `error`: null for a success, else a word. */
export interface AttemptResult {
  httpStatus: number | null;
  error: string | null;
  retryAfterSeconds: number | null;
  /** Telegram says exactly how long to wait, and counts what comes before as another offence. */
  mayAskForMore?: boolean;
}

/** The delivery's fields that decide what follows an attempt. */
export interface DeliveryProgress {
  failures: number;
  tries: number;
  replay: boolean;
}

/** What becomes of a delivery after an attempt. */
export interface DeliveryDecision {
  state: "delivered" | "waiting" | "failed";
  failures: number;
  dueAt: number | null;
}

/** `random`: 0 to 1. A replay is made besides the schedule, which goes on after it. */
export function decideDelivery(
  delivery: DeliveryProgress,
  result: AttemptResult,
  now: number,
  random: number,
): DeliveryDecision {
  const { tries, replay } = delivery;
  if (result.error === null)
    return { state: "delivered", failures: delivery.failures, dueAt: null };
  const failures = replay ? delivery.failures : delivery.failures + 1;
  if (failures >= tries) return { state: "failed", failures, dueAt: null };
  const { retryAfterSeconds, mayAskForMore } = result;
  const step = Math.max(failures, 1);
  const pause = webhookPauseMs(step, random, retryAfterSeconds, mayAskForMore);
  if (pause === null) return { state: "failed", failures, dueAt: null };
  return { state: "waiting", failures, dueAt: now + pause };
}

/** The endpoint's count of failures since its last success. */
export interface EndpointHealth extends WebhookActivity {
  /** Null: the operator's, which is never disabled: nobody else would hear of it. */
  resellerAccount?: number | null;
  failures: number;
  failingSince: number | null;
}

/**
 * One success clears the count. Disabled: at once by a 410, or after five days of nothing but failures with at least ten of
 * them. A replay changes neither count nor health, but for a 410, which says that the endpoint is gone for good.
 */
export function decideHealth<Endpoint extends EndpointHealth>(
  endpoint: Endpoint,
  result: AttemptResult,
  isReplay: boolean,
  now: number,
): Endpoint {
  const counted = isReplay ? endpoint : countAttempt(endpoint, result, now);
  if (!counted.active || counted.resellerAccount === null) return counted;
  const reason = disabledBy(counted, result, now);
  return reason ? { ...counted, active: false, disabledReason: reason, disabledAt: now } : counted;
}

function countAttempt<Endpoint extends EndpointHealth>(
  endpoint: Endpoint,
  { error }: AttemptResult,
  now: number,
): Endpoint {
  if (error === null) return { ...endpoint, failures: 0, failingSince: null };
  const { failures, failingSince } = endpoint;
  return { ...endpoint, failures: failures + 1, failingSince: failingSince ?? now };
}

function disabledBy(
  { failures, failingSince }: EndpointHealth,
  { httpStatus, error }: AttemptResult,
  now: number,
): DisabledReason | null {
  if (error !== null && httpStatus === GONE) return "gone";
  const isFailing = failingSince !== null && now - failingSince >= FAILING_MS;
  return isFailing && failures >= FAILURES_MINIMUM ? "failures" : null;
}

/** An endpoint that waits to be sent something. */
export interface WaitingEndpoint {
  webhookId: number;
  /** When the delivery that is due longest was due. */
  dueAt: number;
  /** Attempts under way. */
  sending: number;
  /** It fails, or is slow to reply. */
  isTroubled: boolean;
}

/**
 * How many deliveries each endpoint is given. Those with nothing under way come first. One that fails or is slow is tried
 * once at a time, and all of them together have half the places: however many hang, the others are not delayed.
 */
export function shareAttempts(
  waiting: readonly WaitingEndpoint[],
  { limit, perEndpoint, troubledLimit }: ShareLimits,
): { webhookId: number; count: number }[] {
  const order = waiting.toSorted((a, b) => a.sending - b.sending || a.dueAt - b.dueAt);
  const shares = new Map<number, number>();
  let left = limit;
  let troubledLeft = troubledLimit;
  // In turns, so that the first does not take all places.
  for (let turn = 0; turn < perEndpoint && left > 0; turn += 1) {
    for (const { webhookId, sending, isTroubled } of order) {
      const share = shares.get(webhookId) ?? 0;
      if (left === 0 || share < turn || sending + share >= (isTroubled ? 1 : perEndpoint)) continue;
      if (isTroubled && troubledLeft <= 0) continue;
      shares.set(webhookId, share + 1);
      left -= 1;
      if (isTroubled) troubledLeft -= 1;
    }
  }
  return [...shares].map(([webhookId, count]) => ({ webhookId, count }));
}

export interface ShareLimits {
  /** Places that are free. */
  limit: number;
  perEndpoint: number;
  /** How many of them endpoints that fail or are slow may have. */
  troubledLimit: number;
}

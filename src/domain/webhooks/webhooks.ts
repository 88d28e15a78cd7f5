// Webhook endpoints, their secrets, and the consequences of each attempt. docs/specification/webhooks.md#webhooks.

import { refusal } from "../values/error-table.ts";
import { jsonAmount } from "../ledger/money.ts";
import { EARLIER_SECRETS_LIMIT, WEBHOOKS_LIMIT } from "../values/limits.ts";
import {
  bitsOfEvents,
  type DisabledReason,
  wantsEvent,
  type WebhookEventType,
} from "./webhook-events.ts";
import { webhookPauseMs } from "./webhook-schedule.ts";
import { MINUTE_MS, DAY_MS } from "../values/spans.ts";

/** Possible outcomes of an attempt: docs/specification/webhooks.md#webhook-deliveries. */
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
/** Prefix of every signing secret, as in Standard Webhooks. */
export const SECRET_PREFIX = "whsec_";
/** How long the old secret also signs after a rotation: the default, and the limit. */
export const SECRET_GRACE_SECONDS = 86_400;
export const SECRET_GRACE_LIMIT_SECONDS = 30 * 86_400;
/** Age of the oldest deliveries that can be replayed. */
export const REPLAY_LIMIT_MS = 14 * DAY_MS;
/** How long the events of an endpoint are still written and kept after failures disabled it. */
export const DISABLED_RETENTION_MS = 7 * DAY_MS;
/** How long attempts are kept, and events that were delivered or given up. */
export const WEBHOOK_RETENTION_MS = 30 * DAY_MS;
/** Time without a success, and number of failures in it, after which an endpoint is disabled. */
const FAILING_MS = 5 * DAY_MS;
const FAILURES_MINIMUM = 10;
/**
 * Time from the start of an attempt until any server may send the delivery again. Attempts end within a quarter of it.
 */
export const WEBHOOK_LEASE_MS = MINUTE_MS;
/** Limit for the stored characters of a response. */
const RESPONSE_LIMIT = 1024;
const GONE = 410;

/** Returns the start of a response. Characters that cannot be stored as text are replaced. */
export function storedResponse(text: string): string {
  return text.slice(0, RESPONSE_LIMIT).replaceAll("\0", "\ufffd").toWellFormed();
}

/** Formats a secret: `whsec_` and base64 of WEBHOOK_SECRET_BYTES random bytes, which are the key of the HMAC. */
export function formatSecret(random: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random).toString("base64");
}

export interface WebhookSecrets {
  secret: string;
  /** The secret before the current one, and the time until which it signs. */
  previousSecret: string | null;
  previousUntil: number | null;
  /** The secrets before that: a JSON list of EarlierSecret, newest first. */
  olderSecrets: string;
}

interface EarlierSecret {
  secret: string;
  until: number;
}

export const NO_EARLIER_SECRETS = {
  previousSecret: null,
  previousUntil: null,
  olderSecrets: "[]",
};

/** Returns the secrets that sign a delivery now, the current one first. */
export function signingSecrets(webhook: WebhookSecrets, now: number): string[] {
  return [webhook.secret, ...earlierSecrets(webhook, now).map(({ secret }) => secret)];
}

/** Returns the earlier secrets that still sign, newest first. */
function earlierSecrets(webhook: WebhookSecrets, now: number): EarlierSecret[] {
  const { previousSecret, previousUntil, olderSecrets } = webhook;
  const older = JSON.parse(olderSecrets) as EarlierSecret[];
  const previous =
    previousSecret === null ? [] : [{ secret: previousSecret, until: previousUntil! }];
  return [...previous, ...older].filter(({ until }) => until > now);
}

/**
 * Returns the secrets after a rotation. Each earlier secret signs until the end of its own grace, but with a grace of 0
 * only the new secret signs. Refuses: webhook_secrets_too_many.
 */
export function rotatedSecrets(
  webhook: WebhookSecrets,
  secret: string,
  graceMs: number,
  now: number,
): WebhookSecrets {
  if (graceMs === 0) return { secret, ...NO_EARLIER_SECRETS };
  const older = earlierSecrets(webhook, now);
  if (older.length >= EARLIER_SECRETS_LIMIT) throw refusal("webhook_secrets_too_many");
  return {
    secret,
    previousSecret: webhook.secret,
    previousUntil: now + graceMs,
    olderSecrets: JSON.stringify(older),
  };
}

/** The fields of an endpoint that are shown; its secret is not. */
export interface ShownWebhook {
  id: string;
  url: string;
  /** Event types, separated by commas. */
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

/** The shown fields of an attempt, with its event and its endpoint. */
export interface ShownAttempt {
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

export function publicAttempt(shown: ShownAttempt) {
  const { webhookId, eventId, type, attempt, at, durationMs, httpStatus, error, response } = shown;
  return {
    id: formatAttemptId(eventId, attempt),
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

/** Returns the public id of an attempt, unique within its endpoint. */
export function formatAttemptId(eventId: string, attempt: number): string {
  return `${eventId}.${attempt}`;
}

const DELIVERY_ID = /^(evt_[a-z0-9]{24})\.([1-9][0-9]{0,8})$/;

export function parseAttemptId(id: string): { eventId: string; attempt: number } | null {
  const [, eventId, attempt] = DELIVERY_ID.exec(id) ?? [];
  return eventId === undefined ? null : { eventId, attempt: Number(attempt) };
}

/** The fields of an endpoint that decide whether its events are written. */
export interface WebhookState {
  active: boolean;
  disabledReason: DisabledReason | null;
  disabledAt: number | null;
}

/** Returns whether failures, not a person, disabled the endpoint. Only then are its events kept for a while. */
export function isDisabledByFailures({ disabledReason }: WebhookState): boolean {
  return disabledReason === "failures" || disabledReason === "gone";
}

export function takesEvents(webhook: WebhookState, now: number): boolean {
  if (webhook.active) return true;
  return isDisabledByFailures(webhook) && webhook.disabledAt! > now - DISABLED_RETENTION_MS;
}

/** The subscriptions of an account's endpoints, as the account's row stores them. */
export interface CombinedSubscriptions {
  /** Event types as bits. */
  wantedEvents: number;
  /** The highest threshold of the portal and of endpoints that subscribe to balance.low; null: there is none. */
  lowBalanceMicros: number | null;
}

/**
 * Combines the subscriptions of endpoints with the portal's threshold. Includes endpoints that failures disabled, whose
 * events are written for some days.
 */
export function combineSubscriptions(
  endpoints: readonly (WebhookState & { events: string; balanceLowBelow: number | null })[],
  portalThreshold: number | null,
): CombinedSubscriptions {
  const subscribed = endpoints.filter((webhook) => webhook.active || isDisabledByFailures(webhook));
  const bits = subscribed.map(({ events }) => bitsOfEvents(events));
  const ofEndpoints = subscribed
    .filter((_, place) => wantsEvent(bits[place]!, "balance.low"))
    .map(({ balanceLowBelow }) => balanceLowBelow);
  const thresholds = [portalThreshold, ...ofEndpoints].filter((threshold) => threshold !== null);
  return {
    wantedEvents: bits.reduce((all, each) => all | each, 0),
    lowBalanceMicros: thresholds.length === 0 ? null : Math.max(...thresholds),
  };
}

/** Refuses another webhook above the limit. Refuses: webhooks_too_many. */
export function refuseTooManyWebhooks(count: number): void {
  if (count >= WEBHOOKS_LIMIT) throw refusal("webhooks_too_many");
}

/** The result of an attempt. `error`: a word; null for a success. */
export interface AttemptResult {
  httpStatus: number | null;
  error: string | null;
  retryAfterSeconds: number | null;
  /**
   * Whether `retryAfterSeconds` may be much longer than the schedule's pause. Set for Telegram, which punishes an
   * attempt before that time.
   */
  mayExceedSchedule?: boolean;
}

/** The fields of a delivery that decide its state after an attempt. */
export interface DeliveryProgress {
  failures: number;
  tries: number;
  replay: boolean;
}

/** The state of a delivery after an attempt. */
export interface DeliveryDecision {
  state: "delivered" | "waiting" | "failed";
  failures: number;
  dueAt: number | null;
}

/**
 * Decides a delivery's state after an attempt. `random`: 0 to 1. A replay does not count as an attempt of the schedule.
 */
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
  const { retryAfterSeconds, mayExceedSchedule } = result;
  const step = Math.max(failures, 1);
  const pause = webhookPauseMs(step, random, retryAfterSeconds, mayExceedSchedule);
  if (pause === null) return { state: "failed", failures, dueAt: null };
  return { state: "waiting", failures, dueAt: now + pause };
}

/** The endpoint's failures since its last success. */
export interface EndpointHealth extends WebhookState {
  /** Null: an alert endpoint of the operator, which is never disabled. */
  resellerAccount?: number | null;
  failures: number;
  failingSince: number | null;
}

/**
 * Updates an endpoint's health after an attempt. A success clears the count. The endpoint is disabled by a 410, which
 * says that it is gone, or by FAILURES_MINIMUM failures and FAILING_MS without a success. A replay changes nothing,
 * except by a 410.
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

/** An endpoint with due deliveries. */
export interface WaitingEndpoint {
  webhookId: number;
  /** The endpoint's reseller. */
  owner: number;
  /** When its most overdue delivery was due. */
  dueAt: number;
  /** Number of attempts in flight. */
  sending: number;
  /** Whether the endpoint fails or is slow to reply. */
  isTroubled: boolean;
}

/**
 * Decides how many deliveries each endpoint may send now. Resellers get places in turns, the one with the fewest
 * attempts in flight first. A reseller with attempts in flight gets another place only while those attempts number less
 * than half of the free places. So one reseller whose endpoints all hang cannot take every place. An endpoint that fails
 * or is slow gets one attempt at a time, and all such endpoints together get `troubledLimit` places.
 */
export function shareAttempts(
  waiting: readonly WaitingEndpoint[],
  { limit, perEndpoint, troubledLimit, byOwner }: ShareLimits,
): { webhookId: number; count: number }[] {
  const shares = new Map<number, number>();
  const sendingOf = ({ webhookId, sending }: WaitingEndpoint) =>
    sending + (shares.get(webhookId) ?? 0);
  const owners = [...Map.groupBy(waiting, ({ owner }) => owner)].map(([owner, endpoints]) => ({
    endpoints,
    inFlight: byOwner.get(owner) ?? 0,
    dueAt: Math.min(...endpoints.map(({ dueAt }) => dueAt)),
  }));
  let left = limit;
  let troubledLeft = troubledLimit;
  for (let isGiven = true; isGiven && left > 0;) {
    isGiven = false;
    for (const owner of owners.toSorted((a, b) => a.inFlight - b.inFlight || a.dueAt - b.dueAt)) {
      if (owner.inFlight > 0 && owner.inFlight >= left / 2) continue;
      const [next] = owner.endpoints
        .filter((each) => sendingOf(each) < (each.isTroubled ? 1 : perEndpoint))
        .filter(({ isTroubled }) => !isTroubled || troubledLeft > 0)
        .toSorted((a, b) => sendingOf(a) - sendingOf(b) || a.dueAt - b.dueAt);
      if (!next) continue;
      shares.set(next.webhookId, (shares.get(next.webhookId) ?? 0) + 1);
      owner.inFlight += 1;
      left -= 1;
      if (next.isTroubled) troubledLeft -= 1;
      isGiven = true;
    }
  }
  return [...shares].map(([webhookId, count]) => ({ webhookId, count }));
}

export interface ShareLimits {
  /** Number of free places. */
  limit: number;
  /** Limit for the attempts of one endpoint in flight. */
  perEndpoint: number;
  /** Limit for the free places given to failing or slow endpoints. */
  troubledLimit: number;
  /** Number of attempts in flight, by reseller. */
  byOwner: ReadonlyMap<number, number>;
}

// Reads the fields of webhook requests. docs/specification/webhooks.md#webhooks-api.

import { AMOUNT, GRACE_SECONDS, TIME } from "../../domain/values/kinds.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import { ALL_EVENTS, EVENTS_FORM, parseEvents } from "../../domain/webhooks/webhook-events.ts";
import type { CheckWebhookUrl } from "../../domain/webhooks/webhook-urls.ts";
import { REPLAY_LIMIT_MS, SECRET_GRACE_SECONDS } from "../../domain/webhooks/webhooks.ts";
import type { ReplayWebhook } from "../../operations/webhooks/webhook-replays.ts";
import type { WebhookTerms } from "../../operations/webhooks/webhooks.ts";
import { type Fields, invalidField, optional, readOptional, required, valueOf } from "./body.ts";
import { DAY_MS } from "../../domain/values/spans.ts";

/** Reads the terms of a new endpoint. */
export async function newTerms(fields: Fields, check: CheckWebhookUrl): Promise<WebhookTerms> {
  const text = urlText(required(fields, "url"));
  const events = eventsField(fields) ?? ALL_EVENTS;
  const balanceLowBelow = thresholdField(fields) ?? null;
  return { url: await allowedUrl(text, check), events, balanceLowBelow };
}

/** Reads the changes to an endpoint. Absent fields stay unchanged; null removes `balanceLowBelow`. */
export async function changedTerms(
  fields: Fields,
  check: CheckWebhookUrl,
): Promise<Partial<WebhookTerms>> {
  const given = optional(fields, "url");
  const text = given === null ? null : urlText(given);
  const events = eventsField(fields);
  const balanceLowBelow = thresholdField(fields);
  return {
    ...(text !== null && { url: await allowedUrl(text, check) }),
    ...(events !== undefined && { events }),
    ...(balanceLowBelow !== undefined && { balanceLowBelow }),
  };
}

/** `graceSeconds` in milliseconds. */
export function graceField(fields: Fields): number {
  return (readOptional(fields, "graceSeconds", GRACE_SECONDS) ?? SECRET_GRACE_SECONDS) * 1000;
}

/** Reads what to replay: `delivery` or `since`. */
export function replayFields(fields: Fields, now: number): ReplayWebhook["what"] {
  const delivery = optional(fields, "delivery");
  const since = optional(fields, "since");
  if (delivery === null && since === null)
    throw new Refusal("field_missing", { field: "delivery" });
  if (since === null) {
    if (typeof delivery !== "string") throw invalidField("delivery", "the id of a delivery");
    return { delivery };
  }
  if (delivery !== null) throw invalidField("since", "given without delivery");
  const at = valueOf("since", TIME.readJson(since));
  if (at < now - REPLAY_LIMIT_MS) {
    throw invalidField("since", `at most ${REPLAY_LIMIT_MS / DAY_MS} days ago`);
  }
  return { since: at };
}

function urlText(url: unknown): string {
  if (typeof url !== "string") throw invalidField("url", "a string");
  return url;
}

async function allowedUrl(text: string, check: CheckWebhookUrl): Promise<string> {
  const found = await check(text);
  if ("must" in found) throw invalidField("url", found.must);
  return found.url;
}

function eventsField(fields: Fields): string | undefined {
  const events = optional(fields, "events");
  if (events === null) return undefined;
  const known = Array.isArray(events) ? parseEvents(events) : null;
  if (!known) throw invalidField("events", EVENTS_FORM);
  return known.join();
}

/** `balanceLowBelow` in micros: undefined when absent, null when null. */
function thresholdField(fields: Fields): number | null | undefined {
  const field = "balanceLowBelow";
  if (!Object.hasOwn(fields, field)) return undefined;
  const amount = fields[field];
  return amount === null ? null : valueOf(field, AMOUNT.readJson(amount));
}

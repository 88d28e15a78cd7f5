// Events of an account and their delivery to a webhook endpoint, signed by the package's own helper. A test delivers each
// event itself, so that it can lose, repeat, delay and reorder them: https://docs.stripe.com/webhooks.

import { Stripe } from "stripe";
import { newId } from "./objects.ts";

export interface StripeEvent {
  id: string;
  type: string;
  livemode: boolean;
  data: { object: Record<string, unknown> };
  [member: string]: unknown;
}

export interface Endpoint {
  url: string;
  /** Several while a secret is being rolled: each signs. */
  secrets: string[];
}

/** Changes of one delivery. */
export interface Delivery {
  secrets?: readonly string[];
  /** In seconds. */
  signedAt?: number;
  scheme?: string;
  /** The whole header; null: none. */
  header?: string | null;
  /** The body that is sent, whatever was signed. */
  body?: string;
  /** The body that is signed and sent. */
  payload?: string;
  /** Another address of the same server. */
  path?: string;
  method?: string;
}

export function newEvent(
  type: string,
  object: object,
  now: number,
  livemode: boolean,
): StripeEvent {
  return {
    id: newId("evt"),
    object: "event",
    api_version: Stripe.API_VERSION,
    created: now,
    // The state at that moment, not the later one.
    data: { object: structuredClone(object) as Record<string, unknown> },
    livemode,
    pending_webhooks: 1,
    request: { id: newId("req", 14), idempotency_key: null },
    type,
  };
}

/** Delivers an event. Returns the status of the answer and its text. */
export async function deliver(
  event: StripeEvent,
  { url, secrets }: Endpoint,
  change: Delivery = {},
): Promise<{ status: number; text: string }> {
  // Stripe sends its objects indented.
  const payload = change.payload ?? JSON.stringify(event, null, 2);
  const timestamp = change.signedAt ?? Math.floor(Date.now() / 1000);
  const signatures = await Promise.all(
    (change.secrets ?? secrets).map(async (secret) => {
      const header = await Stripe.webhooks.generateTestHeaderStringAsync({
        payload,
        secret,
        timestamp,
        scheme: change.scheme ?? "v1",
      } as Parameters<typeof Stripe.webhooks.generateTestHeaderStringAsync>[0]);
      return header.split(",")[1]!;
    }),
  );
  const header =
    change.header === undefined ? [`t=${timestamp}`, ...signatures].join(",") : change.header;
  const response = await fetch(new URL(change.path ?? url, url), {
    method: change.method ?? "POST",
    body: change.body ?? payload,
    headers: {
      "content-type": "application/json; charset=utf-8",
      "user-agent": "Stripe/1.0 (+https://stripe.com/docs/webhooks)",
      ...(header !== null && { "stripe-signature": header }),
    },
    redirect: "manual",
    // A server under test has a certificate of its own.
    tls: { rejectUnauthorized: false },
  });
  return { status: response.status, text: await response.text() };
}

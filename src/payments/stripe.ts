// Payments by Stripe Checkout: a session for each payment, on Stripe's own page. Events are verified and only cause the
// session to be read back; what is credited is what was read: docs/specification/payments.md#payment-stripe.

import type { Stripe } from "stripe";
import * as v from "valibot";
import type {
  BeginResult,
  MethodApi,
  MethodKind,
  NoticeResult,
  PaymentToBegin,
  ReadResult,
} from "./method.ts";
import { isChargeable, toMinor } from "./stripe-amounts.ts";
import { loadStripe, type StripeClient } from "./stripe-client.ts";
import {
  BEGUN,
  DISPUTE,
  EVENT_OBJECT,
  PAYMENT_KEY,
  readingOf,
  REFUND,
  SESSION,
} from "./stripe-objects.ts";

/** Restricted keys (rk_) need to write Checkout Sessions, and to read payment intents, charges and disputes. */
const SECRET_KEY = /^(sk|rk)_(test|live)_[A-Za-z0-9]{10,200}$/;
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/=_-]{10,200}$/;

/**
 * A session may be paid for this long after the payment was created. Stripe accepts 30 minutes to 24 hours from its own
 * clock. This is between the two, so the clocks may differ by hours. The time is the same in each attempt, as a repeated idempotency
 * key requires.
 */
const SESSION_MS = 12 * 60 * 60 * 1000;
/** Attempts after the first, while the customer waits. */
const BEGIN_RETRIES = 1;
/** Events after which a payment may have changed: docs/payments.md. */
const EVENTS = [
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
  "charge.refunded",
  "refund.updated",
  "refund.failed",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
];
/** Limit for the refunds, and for the disputes, that are read of one payment. */
const LIST_LIMIT = 1000;
const PAGE_LIMIT = 100;
/** Addresses that Stripe certainly takes. For any other, Stripe's page asks the customer. */
const EMAIL = /^[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}$/i;
/** Objects of events that name only their payment intent. */
const LINKED = new Set(["refund", "dispute"]);
/** Never stops a call: the calls for a notice have their own time limit. */
const NEVER = new AbortController().signal;

export const stripe: MethodKind = {
  kind: "stripe",
  settings: [
    {
      name: "secret-key",
      isSecret: true,
      isRequired: true,
      description: "secret or restricted key of the Stripe account",
      form: "sk_… or rk_…, of test or live mode",
      isRight: (value) => SECRET_KEY.test(value),
    },
    {
      name: "webhook-secret",
      isSecret: true,
      isRequired: true,
      description: "signing secret of the webhook endpoint in Stripe",
      form: "whsec_…",
      isRight: (value) => WEBHOOK_SECRET.test(value),
    },
  ],
  isClaimed: false,
  isReadable: true,
  events: EVENTS,
  isTest: (settings) => /^.._test_/.test(settings["secret-key"] ?? ""),
  openMs: SESSION_MS,
  takesCurrency: isChargeable,
  async connect(settings, { timeoutMs, stripeApi }) {
    return createStripe(
      await loadStripe({
        key: settings["secret-key"]!,
        webhookSecret: settings["webhook-secret"]!,
        timeoutMs,
        api: stripeApi,
      }),
    );
  },
};

function createStripe(client: StripeClient): MethodApi {
  const { isLive } = client;
  const causeOf = (error: unknown) => client.causeOf(error);
  const requireMode = (livemode: boolean) => {
    if (livemode !== isLive)
      throw new Error(
        `Stripe answered in ${modeName(livemode)} mode to a key of ${modeName(isLive)} mode`,
      );
  };
  return {
    async begin(payment, stop): Promise<BeginResult> {
      const amount = toMinor(payment.amountMicros, payment.currency);
      if (amount === null) return { outcome: "refused", cause: "Stripe cannot charge this amount" };
      try {
        const { checkout } = client.open(stop, BEGIN_RETRIES);
        const created = await checkout.sessions.create(sessionFor(payment, amount), {
          idempotencyKey: payment.id,
        });
        const { id, url, expires_at, livemode } = v.parse(BEGUN, created);
        requireMode(livemode);
        return { outcome: "begun", reference: id, url, expiresAt: expires_at * 1000 };
      } catch (error) {
        return { outcome: client.isRefusal(error) ? "refused" : "unknown", cause: causeOf(error) };
      }
    },

    async check(stop) {
      try {
        const { data } = await client.open(stop).checkout.sessions.list({ limit: 1 });
        for (const { livemode } of data) requireMode(livemode);
        return null;
      } catch (error) {
        return causeOf(error);
      }
    },

    async read({ reference }, stop): Promise<ReadResult> {
      try {
        const stripe = client.open(stop);
        const expand = ["payment_intent.latest_charge"];
        const session = v.parse(
          SESSION,
          await stripe.checkout.sessions.retrieve(reference, { expand }),
        );
        requireMode(session.livemode);
        if (session.id !== reference) throw new Error("Stripe answered with another session");
        const { id: payment_intent, latest_charge: charge } = session.payment_intent ?? {};
        const list = { payment_intent: payment_intent!, limit: PAGE_LIMIT };
        const refunds = charge?.amount_refunded ? await all(stripe.refunds.list(list)) : [];
        const disputes = charge?.disputed ? await all(stripe.disputes.list(list)) : [];
        const reading = readingOf(
          session,
          v.parse(v.array(REFUND), refunds),
          v.parse(v.array(DISPUTE), disputes),
        );
        return { reading };
      } catch (error) {
        return { failed: causeOf(error) };
      }
    },

    async notice({ body, headers, now }): Promise<NoticeResult> {
      let event: Stripe.Event;
      try {
        event = await client.verify(body, headers.get("stripe-signature") ?? "", now);
        if (event.livemode !== isLive)
          return {
            refused: `an event of ${modeName(event.livemode)} mode for a key of ${modeName(isLive)} mode`,
          };
      } catch (error) {
        return { refused: causeOf(error) };
      }
      const read = v.safeParse(EVENT_OBJECT, event.data?.object);
      return read.success ? claimOf(client, read.output) : { claim: "none" };
    },
  };
}

/** The session for a payment. It is the same in each attempt, as a repeated idempotency key requires. */
function sessionFor(
  { id, currency, description, language, email, returnUrl, createdAt }: PaymentToBegin,
  amount: number,
): Stripe.Checkout.SessionCreateParams {
  const metadata = { [PAYMENT_KEY]: id };
  const product_data = { name: description };
  const price_data = { currency: currency.toLowerCase(), unit_amount: amount, product_data };
  return {
    mode: "payment",
    line_items: [{ quantity: 1, price_data }],
    client_reference_id: id,
    metadata,
    // Stripe copies it to the charges.
    payment_intent_data: { metadata, description },
    success_url: returnUrl,
    cancel_url: returnUrl,
    expires_at: Math.floor((createdAt + SESSION_MS) / 1000),
    locale: language,
    submit_type: "pay",
    // The customer pays the amount that was asked, in its currency.
    adaptive_pricing: { enabled: false },
    automatic_tax: { enabled: false },
    ...(email !== null && EMAIL.test(email) && { customer_email: email }),
  };
}

/** Returns the payment that a verified event is about. A refund or a dispute names only its payment intent. */
async function claimOf(
  client: StripeClient,
  { id, object, metadata, payment_intent }: v.InferOutput<typeof EVENT_OBJECT>,
): Promise<NoticeResult> {
  const own = metadata?.[PAYMENT_KEY];
  if (object === "checkout.session")
    return own === undefined ? { claim: "none" } : { claim: "read", paymentId: own, reference: id };
  if (own !== undefined) return { claim: "read", paymentId: own, reference: null };
  const intent = typeof payment_intent === "object" ? payment_intent?.id : payment_intent;
  if (intent === undefined || !LINKED.has(object)) return { claim: "none" };
  try {
    const found = await client.open(NEVER).paymentIntents.retrieve(intent);
    const paymentId = found.metadata[PAYMENT_KEY];
    return paymentId === undefined
      ? { claim: "none" }
      : { claim: "read", paymentId, reference: null };
  } catch (error) {
    return { failed: client.causeOf(error) };
  }
}

/** Reads all pages of a list, up to LIST_LIMIT. */
function all<Item>(list: Stripe.ApiListPromise<Item>): Promise<Item[]> {
  return list.autoPagingToArray({ limit: LIST_LIMIT });
}

function modeName(isLive: boolean): string {
  return isLive ? "live" : "test";
}

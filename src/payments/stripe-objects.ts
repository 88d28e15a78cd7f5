// The members of Stripe's objects that are believed, and what they say about a payment. Everything else is ignored.
// https://docs.stripe.com/api/checkout/sessions/object

import * as v from "valibot";
import type { PaymentReading } from "../domain/payments/payment-reads.ts";
import { toMicros } from "./stripe-amounts.ts";

/** The member of the metadata of sessions, payment intents and charges that holds our payment's id. */
export const PAYMENT_KEY = "reseller_payment";

const text = v.pipe(v.string(), v.maxLength(500));
const amount = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const metadata = v.nullish(v.record(v.string(), v.string()));

const CHARGE = v.object({ amount_refunded: amount, disputed: v.boolean() });

const INTENT = v.object({
  id: text,
  status: text,
  amount_received: amount,
  currency: text,
  metadata,
  latest_charge: v.nullable(CHARGE),
});

export const SESSION = v.object({
  id: text,
  object: v.literal("checkout.session"),
  livemode: v.boolean(),
  status: v.picklist(["open", "complete", "expired"]),
  payment_status: v.picklist(["paid", "unpaid", "no_payment_required"]),
  currency: text,
  amount_total: amount,
  client_reference_id: v.nullable(text),
  metadata,
  payment_intent: v.nullable(INTENT),
});
type Session = v.InferOutput<typeof SESSION>;

/** The reply to the creation of a session. */
export const BEGUN = v.object({
  id: v.pipe(text, v.startsWith("cs_")),
  livemode: v.boolean(),
  url: v.pipe(v.string(), v.url()),
  expires_at: amount,
});

export const REFUND = v.object({ amount, status: v.nullable(text) });
type Refund = v.InferOutput<typeof REFUND>;

export const DISPUTE = v.object({ amount, currency: text, status: text });
type Dispute = v.InferOutput<typeof DISPUTE>;

/** What an event is about. A session or payment intent is its own; a charge, refund or dispute has one. */
export const EVENT_OBJECT = v.object({
  id: text,
  object: text,
  metadata,
  payment_intent: v.nullish(v.union([text, v.object({ id: text })])),
});

/** Statuses of refunds that return nothing: https://docs.stripe.com/api/refunds/object#refund_object-status. */
const WITHOUT_REFUND = new Set(["failed", "canceled", "requires_action"]);
/**
 * Statuses of disputes that withdraw nothing: won, prevented, and inquiries. Any other, unknown ones included, counts.
 * https://docs.stripe.com/api/disputes/object#dispute_object-status
 */
const WITHOUT_LOSS = /^(won|prevented|warning_.*)$/;

/** Statuses of a payment intent whose payment can only be made anew, once the session is complete. */
const FAILED_INTENTS = new Set(["requires_payment_method", "canceled"]);

/** Returns our payment's id. Throws an Error if the session names none, or names different ones. */
function paymentIdOf({ metadata, client_reference_id, payment_intent: intent }: Session): string {
  const id = metadata?.[PAYMENT_KEY];
  const named = [client_reference_id, ...(intent ? [intent.metadata?.[PAYMENT_KEY]] : [])];
  if (id === undefined || named.some((each) => each !== id))
    throw new Error("the session, its reference and its payment intent name different payments");
  return id;
}

/** What a session says about its payment. Throws an Error if its members contradict each other. */
export function readingOf(
  session: Session,
  refunds: readonly Refund[],
  disputes: readonly Dispute[],
): PaymentReading {
  const paymentId = paymentIdOf(session);
  const currency = session.currency.toUpperCase();
  const nothing = { amountMicros: 0, refundedMicros: 0, disputedMicros: 0 };
  const without = (state: PaymentReading["state"], cause: string | null = null): PaymentReading => {
    return { ...nothing, state, paymentId, currency, cause };
  };
  if (session.status !== "complete") return without(session.status);
  const intent = session.payment_intent;
  if (session.payment_status === "no_payment_required")
    return without("failed", "the session was completed without a payment");
  if (session.payment_status === "unpaid") {
    const hasFailed = intent !== null && FAILED_INTENTS.has(intent.status);
    return hasFailed ? without("failed", "the payment method failed") : without("open");
  }
  if (intent?.status !== "succeeded" || intent.amount_received === 0)
    throw new Error("the session is paid, but its payment intent is not");
  if (intent.currency !== session.currency || intent.amount_received !== session.amount_total)
    throw new Error("the session and its payment intent have different amounts");
  const inMicros = (minor: number) => toMicros(minor, currency);
  const refunded = refunds.filter(({ status }) => !WITHOUT_REFUND.has(status ?? ""));
  const lost = disputes.filter(({ status }) => !WITHOUT_LOSS.test(status));
  // A dispute is in the currency of the customer's bank, if that differs: then all of the payment counts.
  const lostAmounts = lost.map((dispute) =>
    dispute.currency === session.currency ? dispute.amount : intent.amount_received,
  );
  return {
    state: "paid",
    paymentId,
    amountMicros: inMicros(intent.amount_received),
    currency,
    refundedMicros: inMicros(sum(refunded.map((each) => each.amount))),
    disputedMicros: inMicros(Math.min(sum(lostAmounts), intent.amount_received)),
    cause: null,
  };
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, each) => total + each, 0);
}

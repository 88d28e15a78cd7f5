// What Stripe answers about a payment that it says is paid: amounts, currencies and names that do not fit, and faults.

import type { Stripe } from "stripe";
import type { Fault } from "../../support/peers/stripe/api.ts";
import {
  answered,
  type Case,
  COMPLETED,
  paid,
  pending,
  type Row,
  waiting,
  type World,
} from "./case.ts";

/** The payment is paid, but what Stripe answers about it does not fit. */
const reads =
  (
    change: (world: World, intent: Stripe.PaymentIntent, charge: Stripe.Charge) => void,
  ): Case["run"] =>
  async (world) => {
    const { account } = world.local;
    account.payByCard(world.reference);
    change(world, account.intentOfSession(world.reference), account.chargeOf(world.reference));
    await world.deliver(COMPLETED);
  };
const unread = answered(pending, 503);

export const READINGS: readonly Row[] = [
  [
    "a smaller amount than asked for: what was received is credited",
    "api/checkout/sessions/object#checkout_session_object-amount_total",
    reads(({ session }, intent) => {
      session.amount_total = 2000;
      intent.amount_received = 2000;
    }),
    answered({ ...paid, balance: 20, transfers: { payment: 20 } }, 200),
  ],
  [
    "a larger amount than asked for: what was received is credited",
    "api/checkout/sessions/object#checkout_session_object-amount_total",
    reads(({ session }, intent) => {
      session.amount_total = 3000;
      intent.amount_received = 3000;
    }),
    answered({ ...paid, balance: 30, transfers: { payment: 30 } }, 200),
  ],
  [
    "another currency waits for the operator",
    "payments/currencies/localize-prices",
    reads(({ session }, intent, charge) => {
      for (const each of [session, intent, charge]) each.currency = "eur";
    }),
    answered(waiting("currency"), 200),
  ],
  [
    "a session and a payment intent of different amounts",
    "api/payment_intents/object#payment_intent_object-amount_received",
    reads((_, intent) => void (intent.amount_received = 100)),
    unread,
  ],
  [
    "a session and a payment intent of different currencies",
    "api/payment_intents/object#payment_intent_object-currency",
    reads((_, intent) => void (intent.currency = "jpy")),
    unread,
  ],
  [
    "a paid session whose payment intent has not succeeded",
    "payments/paymentintents/lifecycle",
    reads((_, intent) => void (intent.status = "processing")),
    unread,
  ],
  [
    "a paid session without a payment intent",
    "api/checkout/sessions/object#checkout_session_object-payment_intent",
    reads(({ session }) => void (session.payment_intent = null)),
    unread,
  ],
  [
    "another session than was asked for",
    "api/checkout/sessions/retrieve",
    reads(({ session }) => void (session.id = "cs_test_another")),
    unread,
  ],
  [
    "a session of another payment",
    "metadata",
    reads(({ session }, intent, charge) => {
      for (const each of [session, intent, charge]) each.metadata = { reseller_payment: "other" };
      session.client_reference_id = "other";
    }),
    { ...pending },
  ],
  [
    "a session without our metadata",
    "metadata",
    reads(({ session }) => void (session.metadata = {})),
    unread,
  ],
  [
    "a session with another reference",
    "api/checkout/sessions/object#checkout_session_object-client_reference_id",
    reads(({ session }) => void (session.client_reference_id = "other")),
    unread,
  ],
  [
    "a payment intent with another payment in its metadata",
    "metadata",
    reads((_, intent) => void (intent.metadata = { reseller_payment: "other" })),
    unread,
  ],
  [
    "a session of live mode, with a key of test mode",
    "keys",
    reads(({ session }) => void (session.livemode = true)),
    unread,
  ],
  [
    "an amount that is no integer",
    "currencies#minor-units",
    reads(({ session }, intent) => {
      session.amount_total = 2500.5;
      intent.amount_received = 2500.5;
    }),
    unread,
  ],
  [
    "a negative amount",
    "currencies#minor-units",
    reads(({ session }, intent) => {
      session.amount_total = -2500;
      intent.amount_received = -2500;
    }),
    unread,
  ],
  [
    "a status that is not documented",
    "api/checkout/sessions/object#checkout_session_object-payment_status",
    reads(({ session }) => void (session.payment_status = "nearly")),
    unread,
  ],
  [
    "a customer who pays in its own currency pays the amount that was asked",
    "payments/currencies/localize-prices/adaptive-pricing",
    reads(({ session }, intent) => {
      const presentment = { presentment_amount: 2312, presentment_currency: "eur" };
      session.presentment_details = presentment;
      intent.presentment_details = presentment;
    }),
    answered(paid, 200),
  ],
];

const FAULTS: readonly Fault[] = [
  "429",
  "lock_timeout",
  "500 before",
  "503 page",
  "cut before",
  "cut in answer",
  "no json",
  "endless",
  "redirect",
];

export const FAULTY_READINGS: readonly Row[] = FAULTS.map((fault) => [
  `${fault} while an event is checked: it is delivered again`,
  fault === "429" || fault === "lock_timeout" ? "rate-limits" : "error-low-level",
  async (world) => {
    world.local.account.payByCard(world.reference);
    world.local.failAll(/^GET/, fault);
    await world.deliver(COMPLETED);
    world.local.mend();
    await world.deliver(COMPLETED);
  },
  answered(paid, 503, 200),
]);

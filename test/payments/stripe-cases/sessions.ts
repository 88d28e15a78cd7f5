// The life of a session, with and without its events.

import {
  answered,
  COMPLETED,
  expired,
  failed,
  paid,
  payAndTell,
  pending,
  type Row,
} from "./case.ts";

export const SESSIONS: readonly Row[] = [
  ["an open session is pending", "api/checkout/sessions/object", () => {}, pending],
  ["a card is paid at once", "checkout/fulfillment", payAndTell, answered(paid, 200)],
  [
    "the customer's return without a payment is not believed",
    "checkout/fulfillment",
    async ({ session }) => void (await fetch(session.success_url!, { redirect: "manual" })),
    pending,
  ],
  [
    "a customer who cancels on Stripe's page changes nothing",
    "payments/checkout/custom-success-page",
    async ({ session }) => void (await fetch(session.cancel_url!, { redirect: "manual" })),
    pending,
  ],
  [
    "a payment by a delayed method stays pending until its bank reports",
    "checkout/fulfillment",
    async (world) => {
      world.local.account.payByBank(world.reference);
      await world.deliver(COMPLETED);
    },
    answered(pending, 200),
  ],
  [
    "a delayed method is paid once its bank says so",
    "checkout/fulfillment",
    async (world) => {
      world.local.account.payByBank(world.reference);
      await world.deliver(COMPLETED);
      world.local.account.settle(world.reference, true);
      await world.deliver("checkout.session.async_payment_succeeded");
    },
    answered(paid, 200, 200),
  ],
  [
    "a delayed method fails once its bank says so",
    "checkout/fulfillment",
    async (world) => {
      world.local.account.payByBank(world.reference);
      world.local.account.settle(world.reference, false);
      await world.deliver("checkout.session.async_payment_failed");
    },
    answered(failed, 200),
  ],
  [
    "the payment of an expired session expires",
    "api/checkout/sessions/expire",
    async (world) => {
      world.local.account.expire(world.reference);
      await world.deliver("checkout.session.expired");
    },
    answered(expired, 200),
  ],
  [
    "a declined card leaves the session open",
    "declines",
    async (world) => {
      world.local.account.payByCard(world.reference, true);
      await world.deliver("payment_intent.payment_failed");
    },
    answered(pending, 200),
  ],
  [
    "a declined card can be followed by a payment",
    "declines",
    async (world) => {
      world.local.account.payByCard(world.reference, true);
      await world.deliver("payment_intent.payment_failed");
      await payAndTell(world);
    },
    answered(paid, 200, 200),
  ],
  [
    "a session without a payment credits nothing",
    "payments/checkout/no-cost-orders",
    async (world) => {
      world.local.account.completeFree(world.reference);
      await world.deliver(COMPLETED);
    },
    answered(failed, 200),
  ],
  [
    "a payment whose event is lost is found",
    "webhooks",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.read();
    },
    paid,
  ],
  [
    "a delayed success whose event is lost is found",
    "webhooks",
    async (world) => {
      world.local.account.payByBank(world.reference);
      await world.read();
      world.local.account.settle(world.reference, true);
      await world.read();
    },
    paid,
  ],
  [
    "a delayed failure whose event is lost is found",
    "webhooks",
    async (world) => {
      world.local.account.payByBank(world.reference);
      world.local.account.settle(world.reference, false);
      await world.read();
    },
    failed,
  ],
  [
    "an expiry whose event is lost is found",
    "webhooks",
    async (world) => {
      world.local.account.expire(world.reference);
      await world.read();
    },
    expired,
  ],
];

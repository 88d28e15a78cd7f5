// Events: lost, repeated, late, in another order, of others, and with contents that are not believed.

import type { StripeEvent } from "../../support/peers/stripe/events.ts";
import { answered, COMPLETED, paid, payAndTell, pending, type Row } from "./case.ts";

export const EVENTS: readonly Row[] = [
  [
    "an event that is delivered twice credits once",
    "webhooks#handle-duplicate-events",
    async (world) => {
      await payAndTell(world);
      await world.deliver(COMPLETED);
    },
    answered(paid, 200, 200),
  ],
  [
    "an event that is delivered ten times at the same time credits once",
    "webhooks#handle-duplicate-events",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await Promise.all(Array.from({ length: 10 }, () => world.deliver(COMPLETED)));
    },
    paid,
  ],
  [
    "an event that arrives after the payment was found credits nothing more",
    "webhooks",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.read();
      await world.deliver(COMPLETED);
    },
    answered(paid, 200),
  ],
  [
    "events in another order lead to the same",
    "webhooks#event-ordering",
    async (world) => {
      world.local.account.payByBank(world.reference);
      world.local.account.settle(world.reference, true);
      await world.deliver("checkout.session.async_payment_succeeded");
      await world.deliver(COMPLETED);
      await world.deliver("payment_intent.created");
    },
    answered(paid, 200, 200, 200),
  ],
  [
    "the event of a failure that arrives after the success does not undo it",
    "webhooks#event-ordering",
    async (world) => {
      world.local.account.payByCard(world.reference, true);
      await payAndTell(world);
      await world.deliver("payment_intent.payment_failed");
      await world.deliver("charge.failed");
    },
    answered(paid, 200, 200, 200),
  ],
  [
    "an event that says paid is not believed while Stripe says unpaid",
    "checkout/fulfillment",
    async (world) => {
      world.local.account.payByBank(world.reference);
      const event = structuredClone(world.local.event(COMPLETED));
      event.data.object["payment_status"] = "paid";
      await world.deliver(event);
    },
    answered(pending, 200),
  ],
  [
    "an amount in an event is not believed",
    "api/events/object",
    async (world) => {
      world.local.account.payByCard(world.reference);
      const event = structuredClone(world.local.event(COMPLETED));
      event.data.object["amount_total"] = 99_999;
      await world.deliver(event);
    },
    answered(paid, 200),
  ],
  [
    "an event of a type that is not needed is accepted",
    "api/events/types",
    async (world) => {
      const event = structuredClone(EVENT_OF_A_CUSTOMER);
      await world.deliver(event);
    },
    answered(pending, 200),
  ],
  [
    "a session of another program on the account is not ours",
    "metadata",
    async (world) => {
      world.local.account.payByCard(world.reference);
      const event = structuredClone(world.local.event(COMPLETED));
      event.data.object["metadata"] = {};
      event.data.object["client_reference_id"] = null;
      await world.deliver(event);
    },
    answered(pending, 200),
  ],
  [
    "a payment that we do not know is not ours",
    "metadata",
    async (world) => {
      const event = structuredClone({ ...EVENT_OF_A_CUSTOMER, type: COMPLETED });
      const id = "cs_test_of_another_installation";
      const metadata = { reseller_payment: "tz4a98xxat96iws9zmbrgj3a" };
      event.data.object = { id, object: "checkout.session", metadata };
      await world.deliver(event);
    },
    answered(pending, 200),
  ],
  [
    "the event of the payment intent is enough",
    "payments/payment-intents/verifying-status",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.deliver("payment_intent.succeeded");
    },
    answered(paid, 200),
  ],
  [
    "the event of the charge is enough",
    "api/charges/object",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.deliver("charge.succeeded");
    },
    answered(paid, 200),
  ],
  [
    "an event that cannot be checked now is delivered again",
    "webhooks",
    async (world) => {
      world.local.account.payByCard(world.reference);
      world.local.fail(/^GET/, "429");
      await world.deliver(COMPLETED);
      await world.deliver(COMPLETED);
    },
    answered(paid, 503, 200),
  ],
  [
    "a thin event is refused",
    "event-destinations#thin-payload",
    async (world) => {
      world.local.account.payByCard(world.reference);
      const event = { ...world.local.event(COMPLETED), object: "v2.core.event" };
      await world.deliver(event);
    },
    answered(pending, 401),
  ],
  [
    "an event of live mode is refused with a key of test mode",
    "keys",
    async (world) => {
      world.local.account.payByCard(world.reference);
      await world.deliver({ ...world.local.event(COMPLETED), livemode: true });
    },
    answered(pending, 401),
  ],
];

const EVENT_OF_A_CUSTOMER: StripeEvent = {
  id: "evt_of_a_customer",
  object: "event",
  type: "customer.created",
  created: 1_790_000_000,
  livemode: false,
  data: { object: { id: "cus_1", object: "customer", metadata: {} } },
};

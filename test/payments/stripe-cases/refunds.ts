// Refunds that the operator makes in Stripe.

import { answered, COMPLETED, failed, paid, payAndTell, refunded, type Row } from "./case.ts";

export const REFUNDS: readonly Row[] = [
  [
    "a full refund",
    "refunds",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference);
      await world.deliver("charge.refunded");
    },
    answered(refunded(25), 200, 200),
  ],
  [
    "a partial refund",
    "refunds",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
    },
    answered(refunded(10), 200, 200),
  ],
  [
    "several partial refunds add up",
    "refunds",
    async (world) => {
      await payAndTell(world);
      for (const amount of [1000, 500, 1000]) {
        world.local.account.refund(world.reference, amount);
        await world.deliver("charge.refunded");
      }
    },
    answered(refunded(25), 200, 200, 200, 200),
  ],
  [
    "the event of the refund itself is enough",
    "api/events/types#event_types-refund.created",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("refund.created");
    },
    answered(refunded(10), 200, 200),
  ],
  [
    "the event of a refund that is delivered twice counts once",
    "webhooks#handle-duplicate-events",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      await world.deliver("charge.refunded");
      await world.deliver("refund.created");
    },
    answered(refunded(10), 200, 200, 200, 200),
  ],
  [
    "a refund that is pending counts",
    "api/refunds/object#refund_object-status",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000, "pending");
      await world.deliver("refund.created");
    },
    answered(refunded(10), 200, 200),
  ],
  [
    "a refund that failed before it was reported does not count",
    "refunds#failed-refunds",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1000, "pending");
      world.local.account.endRefund(id, "failed");
      await world.deliver("refund.failed");
    },
    answered(paid, 200, 200),
  ],
  [
    "a refund that was canceled before it was reported does not count",
    "api/refunds/cancel",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1000, "pending");
      world.local.account.endRefund(id, "canceled");
      await world.deliver("refund.updated");
    },
    answered(paid, 200, 200),
  ],
  [
    "what failed is not counted beside what succeeded",
    "refunds#failed-refunds",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1500, "pending");
      world.local.account.endRefund(id, "failed");
      world.local.account.refund(world.reference, 700);
      await world.deliver("charge.refunded");
    },
    answered(refunded(7), 200, 200),
  ],
  [
    "what was canceled, or waits for the customer, is not counted beside what succeeded",
    "api/refunds/object#refund_object-status",
    async (world) => {
      await payAndTell(world);
      const { account } = world.local;
      account.endRefund(account.refund(world.reference, 1500, "pending").id, "canceled");
      account.refund(world.reference, 300, "requires_action");
      account.refund(world.reference, 700);
      await world.deliver("charge.refunded");
    },
    answered(refunded(7), 200, 200),
  ],
  [
    "the event of a refund that cannot be looked up now is delivered again",
    "webhooks",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      world.local.fail(/^GET .*payment_intents/, "429");
      await world.deliver("refund.created");
      await world.deliver("refund.created");
    },
    answered(refunded(10), 200, 503, 200),
  ],
  [
    "more refunds than a page of a list has",
    "api/pagination",
    async (world) => {
      await payAndTell(world);
      for (let each = 0; each < 120; each += 1) world.local.account.refund(world.reference, 10);
      await world.deliver("charge.refunded");
    },
    answered(refunded(12), 200, 200),
  ],
  [
    "a refund before the payment was credited: the rest is credited",
    "refunds",
    async (world) => {
      world.local.account.payByCard(world.reference);
      world.local.account.refund(world.reference, 1000);
      await world.deliver(COMPLETED);
    },
    answered({ ...paid, balance: 15, transfers: { payment: 15 }, refunded: 10 }, 200),
  ],
  [
    "a full refund before the payment was credited: nothing is",
    "refunds",
    async (world) => {
      world.local.account.payByCard(world.reference);
      world.local.account.refund(world.reference);
      await world.deliver(COMPLETED);
    },
    answered({ ...failed, refunded: 25 }, 200),
  ],
];

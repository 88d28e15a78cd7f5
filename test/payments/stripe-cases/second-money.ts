// Money by card for a payment that the operator had approved by hand or rejected.

import { answered, COMPLETED, debited, paid, refunded, type Row, type World, waiting, withSurplus } from "./case.ts"; // prettier-ignore

const FULFILL = "checkout/fulfillment";
const DUPLICATES = "webhooks#handle-duplicate-events";

/** The operator approves the payment by hand, then the customer pays by card, of which nothing is told yet. */
function payTwice(world: World): void {
  world.operator.approve();
  world.local.account.payByCard(world.reference);
}

export const SECOND_MONEY: readonly Row[] = [
  [
    "by card after an approval by hand is not credited, and told",
    FULFILL,
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
    },
    answered(withSurplus(paid, 25), 200),
  ],
  [
    "whose event arrives twice counts once",
    DUPLICATES,
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      await world.deliver(COMPLETED);
      await world.read();
    },
    answered(withSurplus(paid, 25), 200, 200),
  ],
  [
    "of which no event tells is found by the job",
    "webhooks#event-delivery-behaviors",
    async (world) => {
      payTwice(world);
      await world.read();
    },
    withSurplus(paid, 25),
  ],
  [
    "by a bank that reports days later",
    "payments/payment-methods#payment-notification",
    async (world) => {
      world.local.account.payByBank(world.reference);
      await world.deliver(COMPLETED);
      world.operator.approve();
      world.local.account.settle(world.reference, true);
      await world.deliver("checkout.session.async_payment_succeeded");
    },
    answered(withSurplus(paid, 25), 200, 200),
  ],
  [
    "that did not come, because the session expired",
    "api/checkout/sessions/expire",
    async (world) => {
      world.operator.approve();
      world.local.account.expire(world.reference);
      await world.deliver("checkout.session.expired");
    },
    answered(paid, 200),
  ],
  [
    "that was given back: nothing of the payment is reversed, and nothing is left",
    "refunds",
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      world.local.account.refund(world.reference);
      await world.deliver("charge.refunded");
    },
    answered(paid, 200, 200),
  ],
  [
    "of which a part was given back",
    "refunds",
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
    },
    answered(withSurplus(paid, 15), 200, 200),
  ],
  [
    "that was given back, which failed",
    "refunds#failed-refunds",
    async (world) => {
      payTwice(world);
      const { id } = world.local.account.refund(world.reference, 2500, "pending");
      await world.deliver(COMPLETED);
      world.local.account.endRefund(id, "failed");
      await world.deliver("refund.failed");
    },
    answered(withSurplus(paid, 25), 200, 200),
  ],
  [
    "that is disputed is left to the bank, and told again once the dispute is won",
    "disputes/how-disputes-work",
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      const { id } = world.local.account.dispute(world.reference);
      await world.deliver("charge.dispute.created");
      world.local.account.decide(id, "won");
      await world.deliver("charge.dispute.closed");
    },
    answered(withSurplus(paid, 25), 200, 200, 200),
  ],
  [
    "that the operator credits",
    FULFILL,
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      world.operator.credit(25);
      await world.deliver(COMPLETED);
    },
    answered({ ...paid, balance: 50 }, 200, 200),
  ],
  [
    "that was credited and is given back later: the operator is to decide",
    "refunds",
    async (world) => {
      payTwice(world);
      await world.deliver(COMPLETED);
      world.operator.credit(25);
      world.local.account.refund(world.reference);
      await world.deliver("charge.refunded");
    },
    answered({ ...refunded(25), balance: 50 }, 200, 200),
  ],
  [
    "after the first was given back by hand",
    FULFILL,
    async (world) => {
      world.operator.approve();
      world.operator.debit(25);
      world.local.account.payByCard(world.reference);
      await world.deliver(COMPLETED);
    },
    answered(debited(refunded(25), 25, 25), 200),
  ],
  [
    "is not told for a payment that waited for the operator: what was approved is that money",
    FULFILL,
    async (world) => {
      world.local.account.payByCard(world.reference);
      const { id } = world.local.account.dispute(world.reference);
      await world.deliver(COMPLETED);
      world.operator.approve();
      world.local.account.decide(id, "won");
      await world.deliver("charge.dispute.closed");
      await world.deliver(COMPLETED);
    },
    answered(paid, 200, 200, 200),
  ],
  [
    "for a rejected payment waits for the operator, however often it is told",
    DUPLICATES,
    async (world) => {
      world.operator.reject();
      world.local.account.payByCard(world.reference);
      await world.deliver(COMPLETED);
      await world.deliver(COMPLETED);
      await world.read();
    },
    answered(waiting("rejected"), 200, 200),
  ],
  [
    "for a rejected payment that is rejected again stays with the operator",
    FULFILL,
    async (world) => {
      world.operator.reject();
      world.local.account.payByCard(world.reference);
      await world.deliver(COMPLETED);
      world.operator.reject();
      await world.deliver(COMPLETED);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
    },
    answered({ state: "rejected", balance: 0, refunded: 10, surplus: 0 }, 200, 200, 200),
  ],
];

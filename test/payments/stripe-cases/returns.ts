// Money that comes back after it was reversed: refunds that fail or are canceled later, and disputes that are won.

import { COMPLETED, debited, disputed, paid, payAndTell, refunded, type Row, type World, withSurplus } from "./case.ts"; // prettier-ignore

/** Pays, refunds a part that is pending, and tells of it. Returns what ends the refund and tells of that. */
async function refundPart(world: World, amount = 1000) {
  await payAndTell(world);
  const { id } = world.local.account.refund(world.reference, amount, "pending");
  await world.deliver("refund.created");
  return async (status: "failed" | "canceled") => {
    world.local.account.endRefund(id, status);
    await world.deliver(status === "failed" ? "refund.failed" : "refund.updated");
  };
}

/** Pays, disputes, and tells of it. Returns what wins the dispute and tells of that. */
async function disputePart(world: World, amount = 2500) {
  const { id } = world.local.account.dispute(world.reference, { amount });
  await world.deliver("charge.dispute.created");
  return async () => {
    world.local.account.decide(id, "won");
    await world.deliver("charge.dispute.closed");
  };
}

const FAILED = "refunds#failed-refunds";
const CANCELED = "api/refunds/cancel";
const STATUS = "api/refunds/object#refund_object-status";
const WON = "disputes/how-disputes-work";

export const RETURNS: readonly Row[] = [
  [
    "a refund that failed after it was reported counts no more",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      await end("failed");
    },
    paid,
  ],
  [
    "a refund that was canceled after it was reported counts no more",
    CANCELED,
    async (world) => {
      const end = await refundPart(world);
      await end("canceled");
    },
    paid,
  ],
  [
    "a refund that succeeds after it was pending counts once",
    STATUS,
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1000, "pending");
      await world.deliver("refund.created");
      world.local.account.endRefund(id, "succeeded");
      await world.deliver("refund.updated");
    },
    refunded(10),
  ],
  [
    "a refund whose failure no event tells is found by the job",
    "webhooks#event-delivery-behaviors",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      world.local.account.endRefund(id, "failed");
      await world.read();
    },
    paid,
  ],
  [
    "a refund that failed, while its charge still counts it",
    "api/charges/object#charge_object-amount_refunded",
    async (world) => {
      await payAndTell(world);
      const { id, charge } = world.local.account.refund(world.reference, 1000, "pending");
      await world.deliver("refund.created");
      world.local.account.endRefund(id, "failed");
      world.local.account.charges.get(charge as string)!.amount_refunded = 1000;
      await world.deliver("refund.failed");
    },
    paid,
  ],
  [
    "of two refunds one failed",
    FAILED,
    async (world) => {
      const end = await refundPart(world, 700);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      await end("failed");
    },
    refunded(10),
  ],
  [
    "the event of a failed refund that arrives twice, and before that of the refund",
    "webhooks#event-ordering",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.refund(world.reference, 1000, "pending");
      world.local.account.endRefund(id, "failed");
      for (const event of ["refund.failed", "refund.created", "refund.failed", "refund.updated"]) {
        await world.deliver(event);
      }
    },
    paid,
  ],
  [
    "a refund that failed after the balance was debited for it: it is missing there",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      world.operator.debit(10);
      await end("failed");
    },
    debited(paid, 10, 10),
  ],
  [
    "a refund that failed after the operator had left the balance: nothing is missing",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      world.operator.debit(0);
      await end("failed");
    },
    paid,
  ],
  [
    "a refund that failed after a debit, and was made again: nothing is missing",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      world.operator.debit(10);
      await end("failed");
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
    },
    debited({ ...refunded(10), isAlerted: false }, 10),
  ],
  [
    "a refund that failed after a debit, and is credited again",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      world.operator.debit(10);
      await end("failed");
      world.operator.credit(10);
      await world.read();
    },
    { ...debited(paid, 10), balance: 25 },
  ],
  [
    "a refund before the credit that failed: the rest was never credited",
    FAILED,
    async (world) => {
      world.local.account.payByCard(world.reference);
      const { id } = world.local.account.refund(world.reference, 1000, "pending");
      await world.deliver(COMPLETED);
      world.local.account.endRefund(id, "failed");
      await world.deliver("refund.failed");
    },
    withSurplus({ ...paid, balance: 15, transfers: { payment: 15 } }, 10),
  ],
  [
    "a full refund before the credit that failed: all of it is credited",
    FAILED,
    async (world) => {
      world.local.account.payByCard(world.reference);
      const { id } = world.local.account.refund(world.reference, 2500, "pending");
      await world.deliver(COMPLETED);
      world.local.account.endRefund(id, "failed");
      await world.deliver("refund.failed");
    },
    paid,
  ],
  [
    "a refund that failed while the payment is disputed",
    FAILED,
    async (world) => {
      const end = await refundPart(world);
      await disputePart(world, 1500);
      await end("failed");
    },
    disputed(15),
  ],
  [
    "a dispute that was won after the balance was debited for it: it is missing there",
    WON,
    async (world) => {
      await payAndTell(world);
      const win = await disputePart(world);
      world.operator.debit(25);
      await win();
    },
    debited(paid, 25, 25),
  ],
  [
    "a dispute that was won after a debit, and is credited again",
    WON,
    async (world) => {
      await payAndTell(world);
      const win = await disputePart(world);
      world.operator.debit(25);
      await win();
      world.operator.credit(25);
      await world.read();
    },
    { ...debited(paid, 25), balance: 25 },
  ],
  [
    "a dispute that was won after a debit, and is given back instead",
    WON,
    async (world) => {
      await payAndTell(world);
      const win = await disputePart(world);
      world.operator.debit(25);
      await win();
      world.local.account.refund(world.reference);
      await world.deliver("charge.refunded");
    },
    debited({ ...refunded(25), isAlerted: false }, 25),
  ],
  [
    "a dispute that was won after the operator had left the balance: nothing is missing",
    WON,
    async (world) => {
      await payAndTell(world);
      const win = await disputePart(world);
      world.operator.debit(0);
      await win();
    },
    paid,
  ],
  [
    "a dispute that was won after a partial refund: the payment stays refunded",
    "disputes/how-disputes-work#disputes-on-partially-refunded-payments",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      const win = await disputePart(world, 1500);
      await win();
    },
    refunded(10),
  ],
  [
    "a dispute that was won after a partial refund, both debited: what was disputed is missing",
    "disputes/how-disputes-work#disputes-on-partially-refunded-payments",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      const win = await disputePart(world, 1500);
      world.operator.debit(25);
      await win();
    },
    debited(refunded(10), 25, 15),
  ],
  [
    "a dispute that was won after a refund before the credit: the payment is paid",
    "disputes/how-disputes-work#disputes-on-partially-refunded-payments",
    async (world) => {
      world.local.account.payByCard(world.reference);
      world.local.account.refund(world.reference, 1000);
      await world.deliver(COMPLETED);
      const win = await disputePart(world, 1500);
      await win();
    },
    { ...paid, balance: 15, transfers: { payment: 15 }, refunded: 10 },
  ],
  [
    "of two disputes one was won",
    WON,
    async (world) => {
      await payAndTell(world);
      const win = await disputePart(world, 1500);
      await disputePart(world, 400);
      await win();
    },
    disputed(4),
  ],
];

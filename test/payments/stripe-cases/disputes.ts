// Disputes and inquiries of customers' banks.

import {
  answered,
  type Case,
  COMPLETED,
  disputed,
  paid,
  payAndTell,
  type Row,
  waiting,
  type World,
} from "./case.ts";

/** The payment is paid, then disputed, then decided. */
const disputes =
  (...acts: ((world: World, dispute: string) => void)[]): Case["run"] =>
  async (world) => {
    await payAndTell(world);
    const { id } = world.local.account.dispute(world.reference);
    await world.deliver("charge.dispute.created");
    for (const act of acts) {
      act(world, id);
      await world.deliver(world.local.events.at(-1)!);
    }
  };
const submit = ({ local }: World, id: string) => local.account.submitEvidence(id);
const win = ({ local }: World, id: string) => local.account.decide(id, "won");
const lose = ({ local }: World, id: string) => local.account.decide(id, "lost");

export const DISPUTES: readonly Row[] = [
  ["a dispute", "disputes/how-disputes-work", disputes(), answered(disputed(25), 200, 200)],
  [
    "a dispute whose evidence was sent",
    "api/disputes/object#dispute_object-status",
    disputes(submit),
    answered(disputed(25), 200, 200, 200),
  ],
  [
    "a dispute that was won: the money is back",
    "disputes/how-disputes-work",
    disputes(submit, win),
    answered(paid, 200, 200, 200, 200),
  ],
  [
    "a dispute that was lost",
    "disputes/how-disputes-work",
    disputes(submit, lose),
    answered(disputed(25), 200, 200, 200, 200),
  ],
  [
    "the event of the withdrawal is enough",
    "api/events/types#event_types-charge.dispute.funds_withdrawn",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference);
      await world.deliver("charge.dispute.funds_withdrawn");
    },
    answered(disputed(25), 200, 200),
  ],
  [
    "a won dispute whose earlier events were lost changed nothing",
    "webhooks#event-ordering",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.dispute(world.reference);
      world.local.account.decide(id, "won");
      await world.deliver("charge.dispute.closed");
      await world.deliver("charge.dispute.created");
    },
    answered(paid, 200, 200, 200),
  ],
  [
    "a dispute of a part",
    "api/disputes/object#dispute_object-amount",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference, { amount: 800 });
      await world.deliver("charge.dispute.created");
    },
    answered(disputed(8), 200, 200),
  ],
  [
    "a dispute in another currency counts for the whole payment",
    "api/disputes/object#dispute_object-currency",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference, { amount: 2300 }).currency = "eur";
      await world.deliver("charge.dispute.created");
    },
    answered(disputed(25), 200, 200),
  ],
  [
    "a dispute of more than was paid counts for the whole payment",
    "api/disputes/object#dispute_object-amount",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference, { amount: 2600 });
      await world.deliver("charge.dispute.created");
    },
    answered(disputed(25), 200, 200),
  ],
  [
    "an inquiry takes no money",
    "disputes/how-disputes-work",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference, { isInquiry: true });
      await world.deliver("charge.dispute.created");
    },
    answered(paid, 200, 200),
  ],
  [
    "an inquiry that ends takes no money",
    "disputes/how-disputes-work",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.dispute(world.reference, { isInquiry: true });
      world.local.account.decide(id, "warning_closed");
      await world.deliver("charge.dispute.closed");
    },
    answered(paid, 200, 200),
  ],
  [
    "an inquiry that becomes a dispute",
    "disputes/how-disputes-work",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.dispute(world.reference, { isInquiry: true });
      await world.deliver("charge.dispute.created");
      world.local.account.escalate(id);
      await world.deliver("charge.dispute.updated");
    },
    answered(disputed(25), 200, 200, 200),
  ],
  [
    "a dispute that was prevented",
    "api/disputes/object#dispute_object-status",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.dispute(world.reference);
      world.local.account.disputes.get(id)!.status = "prevented";
      await world.deliver("charge.dispute.created");
    },
    answered(paid, 200, 200),
  ],
  [
    "a dispute with an unknown status counts",
    "api/disputes/object#dispute_object-status",
    async (world) => {
      await payAndTell(world);
      const { id } = world.local.account.dispute(world.reference);
      world.local.account.disputes.get(id)!.status = "appeal_under_review";
      await world.deliver("charge.dispute.created");
    },
    answered(disputed(25), 200, 200),
  ],
  [
    "a dispute after a partial refund",
    "disputes/how-disputes-work",
    async (world) => {
      await payAndTell(world);
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
      world.local.account.dispute(world.reference, { amount: 1500 });
      await world.deliver("charge.dispute.created");
    },
    answered({ ...disputed(15), refunded: 10 }, 200, 200, 200),
  ],
  [
    "a refund while it is disputed",
    "disputes/how-disputes-work",
    async (world) => {
      await payAndTell(world);
      world.local.account.dispute(world.reference, { amount: 1500 });
      await world.deliver("charge.dispute.created");
      world.local.account.refund(world.reference, 1000);
      await world.deliver("charge.refunded");
    },
    answered({ ...disputed(15), refunded: 10 }, 200, 200, 200),
  ],
  [
    "a dispute before the payment was credited waits for the operator",
    "disputes",
    async (world) => {
      world.local.account.payByCard(world.reference);
      world.local.account.dispute(world.reference);
      await world.deliver(COMPLETED);
    },
    answered({ ...waiting("disputed"), disputed: 25 }, 200),
  ],
  [
    "a dispute before the payment was credited, once it is won: the payment is credited",
    "disputes/how-disputes-work",
    async (world) => {
      world.local.account.payByCard(world.reference);
      const { id } = world.local.account.dispute(world.reference);
      await world.deliver(COMPLETED);
      world.local.account.decide(id, "won");
      await world.deliver("charge.dispute.closed");
    },
    answered(paid, 200, 200),
  ],
];

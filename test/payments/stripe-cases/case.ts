// What a case is: something that can happen to a payment by Stripe, the page of Stripe's documentation that says so, and
// what must become of the payment.

import type { Stripe } from "stripe";
import type { Delivery, StripeEvent } from "../../support/peers/stripe/events.ts";
import type { LocalStripe } from "../../support/peers/stripe/server.ts";

/** A payment of 25 USD that a member asked for, and the session that it has. */
export interface World {
  local: LocalStripe;
  /** Our id of the payment. */
  id: string;
  /** The session's id; changes of the object are what Stripe answers. */
  reference: string;
  session: Stripe.Checkout.Session;
  /** Delivers the newest event of a type, or this one, and notes the status of the answer. */
  deliver(event: string | StripeEvent, change?: Delivery): Promise<void>;
  /** The job reads the payment, as it does when no event arrives. */
  read(): Promise<void>;
  /** What the operator does meanwhile. */
  operator: {
    approve(): void;
    reject(): void;
    /** Debits the balance by this for what was refunded or disputed; 0 settles it without a debit. */
    debit(dollars: number): void;
    /** Decides on the surplus, and credits this. */
    credit(dollars: number): void;
  };
}

export interface Outcome {
  state: string;
  awaits: string | null;
  /** The balance in USD after it, which was 0. */
  balance: number;
  /** Transfers of the payment in USD, by kind. */
  transfers: Record<string, number>;
  refunded: number;
  disputed: number;
  /** What was received, is not credited, and is for the operator to give back or credit. */
  surplus: number;
  /** Whether the operator is told to decide. */
  isAlerted: boolean;
  /** Statuses of the answers to events, in order. */
  statuses: number[];
}

export interface Case {
  name: string;
  /** Below https://docs.stripe.com/. */
  page: string;
  run: (world: World) => void | Promise<void>;
  expected: Partial<Outcome> & Pick<Outcome, "state">;
}

export type Expected = Case["expected"];

/** A row of a table below. */
export type Row = [name: string, page: string, run: Case["run"], expected: Expected];

const NOTHING = {
  balance: 0,
  transfers: {},
  refunded: 0,
  disputed: 0,
  surplus: 0,
  isAlerted: false,
};
export const pending: Expected = { ...NOTHING, state: "pending", awaits: null };
export const paid: Expected = {
  ...NOTHING,
  state: "paid",
  awaits: null,
  balance: 25,
  transfers: { payment: 25 },
};
export const failed: Expected = { ...NOTHING, state: "failed" };
export const expired: Expected = { ...NOTHING, state: "expired" };
export const refunded = (micros: number): Expected => ({
  ...paid,
  state: "refunded",
  refunded: micros,
  isAlerted: true,
});
export const disputed = (micros: number): Expected => ({
  ...paid,
  state: "disputed",
  disputed: micros,
  isAlerted: true,
});
/** The operator has debited it, so only what is missing is left to decide on. */
export const debited = (expected: Expected, dollars: number, surplus = 0): Expected => ({
  ...expected,
  balance: 25 - dollars,
  transfers: { payment: 25, payment_reversal: dollars },
  surplus,
  isAlerted: surplus > 0,
});
export const withSurplus = (expected: Expected, surplus: number): Expected => ({
  ...expected,
  surplus,
  isAlerted: true,
});
export const waiting = (awaits: string): Expected => ({ ...pending, awaits, isAlerted: true });
export const answered = (expected: Expected, ...statuses: number[]): Expected => ({
  ...expected,
  statuses,
});

export const COMPLETED = "checkout.session.completed";

/** The customer pays by card, and the event arrives. */
export async function payAndTell(world: World): Promise<void> {
  world.local.account.payByCard(world.reference);
  await world.deliver(COMPLETED);
}

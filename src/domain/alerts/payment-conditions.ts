// The rules for payments that wait for the operator (conditions.ts).

import { counted } from "../values/text.ts";
import type { Rules } from "./conditions.ts";

/** Payments to decide on, and reversed ones: refunded or disputed since the last decision. */
export interface PaymentFacts {
  waiting: number;
  reversed: number;
}

const PAYMENTS = "payments";

export const PAYMENT_RULES: Rules<PaymentFacts> = {
  payment_reversed: {
    severity: () => "problem",
    holds: ({ reversed }) => reversed > 0,
    text: ({ reversed }) => `${counted(reversed, "payment")} refunded or disputed`,
    page: () => "/payments?state=reversed",
    action: "Decide what to debit",
    advice: () =>
      "see `reseller admin payment list --state reversed`, and debit the balance or not by `reseller admin payment refund`",
    alert: () => ({ subject: PAYMENTS }),
    amount: ({ reversed }) => reversed,
  },
  payment_waiting: {
    severity: () => "note",
    holds: ({ waiting }) => waiting > 0,
    text: ({ waiting }) => `${counted(waiting, "payment")} to approve or reject`,
    page: () => "/payments?state=waiting",
    action: "Decide",
    advice: () =>
      "see `reseller admin payment list --state waiting`, then `reseller admin payment approve` or `reject`",
    alert: () => ({ subject: PAYMENTS }),
    amount: ({ waiting }) => waiting,
  },
};

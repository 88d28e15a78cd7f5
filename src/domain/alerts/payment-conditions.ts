// The rules for payments that wait for the operator (conditions.ts).

import { SURPLUS_ADVICE, type Surplus, surplusText } from "../payments/payment-surpluses.ts";
import { counted } from "../values/text.ts";
import type { Rules } from "./conditions.ts";

/**
 * Payments to decide on, reversed ones, which were refunded or disputed since the last decision, and those with a surplus.
 */
export interface PaymentFacts {
  waiting: number;
  reversed: number;
  surplus: number;
}

/** A payment with money that it does not credit. */
export interface SurplusFacts {
  id: string;
  /** Those to decide on, at least one. */
  surpluses: readonly Surplus[];
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

/** Each payment has an alert of its own, which says how much came from where. */
export const SURPLUS_RULES: Rules<SurplusFacts> = {
  payment_surplus: {
    severity: () => "problem",
    holds: () => true,
    text: ({ id, surpluses }) =>
      `Payment ${id} has money that is not credited: ${surpluses.map(surplusText).join("; ")}`,
    page: ({ id }) => `/payments/${id}#surplus`,
    action: "Give it back or credit it",
    advice: ({ id, surpluses }) => {
      const causes = [...new Set(surpluses.map(({ cause }) => cause))];
      const what = causes.map((cause) => SURPLUS_ADVICE[cause]).join("; ");
      return `${what}. Then \`reseller admin payment surplus\` ${id} --credit AMOUNT, or 0`;
    },
    alert: ({ id }) => ({ subject: id }),
  },
};

// Refusals about payments and their methods.

import { entry, see } from "../values/refusal-entry.ts";
import { counted } from "../values/text.ts";

export const PAYMENT_REFUSALS = {
  payment_not_found: entry({
    message: "Payment not found",
    commandLine: see("admin payment list"),
    isAbsence: true,
  }),
  payment_method_not_found: entry({
    message: "Payment method not found",
    commandLine: see("admin payment method list"),
    fields: ["method"],
    isAbsence: true,
  }),
  payment_method_taken: entry({
    message: "A payment method has, or had, that id",
    hint: "choose another",
    fields: ["id"],
  }),
  payment_methods_limit: entry<{ limit: number }>({
    message: ({ limit }) => `There are at most ${limit} payment methods`,
  }),
  /** Payments that are not ended would not be read any more. */
  payment_method_in_use: entry({
    message: "Payments of this method are not ended",
    hint: "switch it off, and remove it once they are",
  }),
  /** Its secrets are needed to see late money, refunds and disputes. */
  payment_method_followed: entry<{ payments: number }>({
    message: ({ payments }) =>
      `${counted(payments, "payment")} of this method would not be read any more, so refunds and disputes would not be seen`,
    hint: "switch it off instead: ended payments are read for up to 180 days",
    commandLine: "or add --unread",
  }),
  payment_method_limits: entry({
    message:
      "The minimum must be at most the maximum, and both whole units of the currency, worth at most 1000000000 US dollars",
    fields: ["min"],
  }),
  payment_method_rate: entry({
    message: "One USD is 1 US dollar: a rate is for another currency",
    fields: ["rate-to-usd"],
  }),
  /** The details: the settings without which the kind cannot work. */
  payment_method_incomplete: entry<{ missing: string }>({
    message: ({ missing }) => `It cannot be offered yet: ${missing} is missing`,
    commandLine: "give it with --set, --secret-file or --secret-stdin",
  }),
  payment_method_reseller: entry<{ username: string }>({
    message: ({ username }) => `${username} is no reseller: only those can pay in the portal`,
    commandLine: see("admin user list"),
    fields: ["resellers"],
  }),
  payment_method_resellers_limit: entry<{ limit: number }>({
    message: ({ limit }) => `A payment method names at least 1 and at most ${limit} resellers`,
    hint: "or is for all",
    fields: ["resellers"],
  }),
  /** The details: amounts in the method's currency, such as `5 EUR`. */
  payment_amount_out_of_range: entry<{ least: string; most: string }>({
    message: ({ least, most }) => `amount must be from ${least} to ${most}`,
    fields: ["amount"],
  }),
  payment_amount_decimals: entry<{ decimals: number }>({
    message: ({ decimals }) => `amount must have at most ${decimals} decimals`,
    fields: ["amount"],
  }),
  payments_open_limit: entry<{ limit: number }>({
    message: ({ limit }) => `At most ${limit} payments may be open at the same time`,
    hint: "pay one of them, or wait until it ends",
  }),
  /** The act does not apply to a payment in its state. */
  payment_closed: entry<{ state: string }>({
    message: ({ state }) => `The payment is ${state}, so this cannot be done`,
    commandLine: see("admin payment show"),
  }),
  /** The customer says that it paid, but the method finds out by itself. */
  payment_not_claimable: entry({ message: "This method finds out by itself what was paid" }),
  payment_credit_missing: entry<{ currency: string }>({
    message: ({ currency }) => `What was received is not in ${currency}`,
    hint: "say how much to credit in US dollars",
    commandLine: "add --credit",
    fields: ["credit"],
  }),
  payment_credit_zero: entry({
    message: "Nothing is left to credit after the fee",
    hint: "say how much to credit, or reject the payment",
    fields: ["received"],
  }),
  payment_without_surplus: entry({
    message: "The payment has no surplus to decide on",
    commandLine: see("admin payment list --state surplus"),
  }),
  payment_attachment_type: entry({
    message: "The file must be a PNG, JPEG or PDF of at most 1 MB",
    fields: ["file"],
  }),
  payment_reversal_too_large: entry<{ leftMicros: number; left: string }>({
    message: ({ left }) => `amount must be at most ${left}, which is left of the payment's credit`,
    fields: ["amount"],
  }),
};

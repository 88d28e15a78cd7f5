// The rules for orders, providers and the requests of resellers, such as a low balance (conditions.ts).

import { formatMicros } from "../ledger/money.ts";
import { counted } from "../values/text.ts";
import {
  type HeldFacts,
  type LateReportFacts,
  type NumberFacts,
  type OrderFacts,
  pollsLateMs,
  type ProviderFacts,
  type RequestFacts,
  type Rules,
  SUBMISSION_LATE_MS,
} from "./conditions.ts";
import { utcText } from "../values/times.ts";

/** Limit for the orders that a text names. */
const NUMBERS_NAMED = 5;

/** Returns whether new orders wait for a provider. Orders never wait for an inactive one. */
export function isPaused({
  active,
  pausedAt,
}: Pick<ProviderFacts, "active" | "pausedAt">): boolean {
  return active && pausedAt !== null;
}

const ordersOf = (filter: string, name: string | null) =>
  `/orders?${filter}${name === null ? "" : `&provider=${name}`}`;
const providerPage = ({ name }: ProviderFacts) => `/providers/${name}`;
const itOrThem = (count: number) => (count === 1 ? "it" : "them");

function heldText(name: string, { orders, chargeMicros, cost, currency }: HeldFacts): string {
  const waits = `${counted(orders, "order")} for ${formatMicros(chargeMicros)} USD ${orders === 1 ? "waits" : "wait"}`;
  if (orders === 0) return `${name} lacks funds; no order waits for them yet`;
  const needed = cost === null ? "" : `; ${`${cost} ${currency ?? ""}`.trim()} is needed there`;
  return `${name} lacks funds: ${waits}${needed}`;
}

export const ORDER_RULES: Rules<OrderFacts> = {
  placement_unknown: {
    severity: () => "problem",
    holds: ({ unknown }) => unknown > 0,
    text: ({ name, unknown }) =>
      `It is not known whether ${name ?? "the provider"} received ${counted(unknown, "order")}`,
    page: ({ name }) =>
      name === null
        ? ordersOf("status=PENDING&placement=unknown", null)
        : `/providers/${name}/unknown`,
    action: "Settle",
    advice: ({ name }) =>
      name === null
        ? "`reseller admin provider list` shows where, then `reseller admin order settle --provider NAME --dry-run`"
        : `\`reseller admin order settle --provider ${name} --dry-run\``,
    alert: ({ name }) => ({ subject: name! }),
    amount: ({ unknown }) => unknown,
  },
  polling_late: {
    severity: () => "problem",
    holds({ pollDueAt, lateness }, now) {
      // A provider without orders to poll is never late.
      if (pollDueAt === null) return false;
      if (lateness !== undefined) return lateness === "unknown" ? "unknown" : lateness === "late";
      return now - pollDueAt > pollsLateMs();
    },
    text: ({ name }) =>
      name === null
        ? "Orders are not polled in time"
        : `Orders at ${name} are not polled in time, or it does not answer`,
    page: ({ name }) => ordersOf("status=PROCESSING", name),
    action: "See its orders",
    advice: () => "read the log, and check that the server runs and the provider answers",
    alert: ({ name }) => ({ subject: name! }),
  },
};

/** Rules for one provider. Some do not apply to an inactive provider, which gets no orders and is not synced. */
export const PROVIDER_RULES: Rules<ProviderFacts> = {
  ...ORDER_RULES,
  provider_paused: {
    severity: ({ pausedBy }) => (pausedBy === "operator" ? "note" : "problem"),
    // The next rule reports a provider that is paused for lack of funds.
    holds: (facts) => isPaused(facts) && facts.pausedBy !== "funds",
    text({ name, pausedAt, pausedBy, pausedUntil }) {
      const why = pausedBy === "operator" ? "by hand" : "after unknown outcomes in a row";
      const until = pausedUntil === null ? "" : ` until ${utcText(pausedUntil)}`;
      return `Submissions to ${name} are paused ${why} since ${utcText(pausedAt!)}${until}`;
    },
    page: providerPage,
    action: "Check it, then resume it",
    advice({ name, pausedBy }) {
      const resume = `\`reseller admin provider resume ${name}\``;
      if (pausedBy === "operator") return resume;
      return `submissions continue once it reports our balance, or with ${resume}`;
    },
    // A pause by the operator needs no alert.
    alert: ({ name, pausedBy }) => (pausedBy === "operator" ? null : { subject: name }),
  },
  provider_out_of_funds: {
    severity: () => "problem",
    // An inactive provider gets no orders, so no accepted order could end the condition.
    holds: ({ active, outOfFundsAt }) => active && outOfFundsAt !== null,
    text({ name, outOfFundsAt, held }) {
      if (held) return heldText(name, held);
      return `${name} has refused orders for lack of funds since ${utcText(outOfFundsAt!)}`;
    },
    // Lists the refunded orders. Orders that went to another route have another provider now.
    page: (facts) =>
      facts.held
        ? providerPage(facts)
        : `${ordersOf("status=FAILED", facts.name)}&from=${utcText(facts.outOfFundsAt!).slice(0, 10)}`,
    action: ({ held }) => (held ? "Top up there, then resume" : "Top up there. See the orders"),
    advice: ({ name, held }) =>
      held
        ? `top up there; the orders are sent once it reports a balance that covers the first of them, or with \`reseller admin provider resume ${name}\``
        : "top up there; the refused orders were refunded or went to the next route",
    alert: ({ name }) => ({ subject: name }),
  },
  submissions_late: {
    severity: () => "problem",
    holds: ({ outOfFundsAt, submissionDueAt }, now) =>
      outOfFundsAt === null &&
      submissionDueAt !== null &&
      now - submissionDueAt > SUBMISSION_LATE_MS,
    text: ({ name, submissionDueAt }) =>
      `Orders for ${name} have not been sent since ${utcText(submissionDueAt!)}`,
    page: ({ name }) => ordersOf("status=PENDING&placement=queued", name),
    action: "See waiting orders",
    advice: () => "read the log, and check that the server runs and the provider answers",
  },
  costs_uncounted: {
    severity: () => "problem",
    holds: ({ foreignCurrency, uncountedCosts = 0 }) =>
      foreignCurrency !== null || uncountedCosts > 0,
    text({ name, foreignCurrency, uncountedCosts = 0 }) {
      const costs =
        uncountedCosts > 0 ? `The costs of ${counted(uncountedCosts, "order")}` : "Costs";
      return `${costs} at ${name} are not counted: it charged in ${foreignCurrency ?? "another currency"}`;
    },
    page: providerPage,
    action: "Set its rate to USD",
    advice: ({ name }) => `\`reseller admin provider update ${name} --rate-to-usd\``,
  },
  sync_held: {
    severity: () => "note",
    holds: ({ active, syncHeld }) => active && syncHeld !== null,
    text: ({ name, syncHeld }) => `The scheduled sync of ${name} was not applied (${syncHeld})`,
    page: providerPage,
    action: "Check it, then apply it",
    advice: ({ name }) => `see \`reseller admin provider sync ${name}\``,
    alert: ({ name }) => ({ subject: name }),
  },
  routes_delisted: {
    severity: () => "note",
    holds: ({ delistedRoutes }) => delistedRoutes > 0,
    text: ({ name, delistedRoutes }) =>
      `${name} does not list ${counted(delistedRoutes, "service")} any more, and other routes deliver ${itOrThem(delistedRoutes)}`,
    page: ({ name }) => `/services?provider=${name}`,
    action: "See the services",
    advice: () => "see `reseller admin service route ID list`",
  },
  provider_balance_low: {
    severity: () => "problem",
    holds({ lowBalanceMicros, balanceMicros }) {
      if (lowBalanceMicros === null) return false;
      return balanceMicros === null ? "unknown" : balanceMicros < lowBalanceMicros;
    },
    text({ name, lowBalanceMicros, balanceMicros, balanceCurrency }) {
      const balance = `${formatMicros(balanceMicros!)} ${balanceCurrency ?? ""}`.trim();
      return `The balance at ${name} is ${balance}, below ${formatMicros(lowBalanceMicros!)}`;
    },
    page: providerPage,
    action: "See it",
    advice: () => "top up there",
    alert: ({ name }) => ({ subject: name }),
  },
};

export const NUMBER_RULES: Rules<NumberFacts> = {
  number_unrecognized: {
    severity: () => "problem",
    holds: ({ count }) => count > 0,
    text({ name, count, orders }) {
      const named = orders
        .slice(0, NUMBERS_NAMED)
        .map(({ orderId, providerOrder }) => `${providerOrder} of order ${orderId}`);
      const which = named.length === 0 ? "" : ` (${named.join(", ")})`;
      return `${name ?? "The provider"} does not know the ${count === 1 ? "number" : "numbers"} of ${counted(count, "order")}${which}`;
    },
    page: ({ orders }) => `/orders?ids=${orders.map(({ orderId }) => orderId).join("+")}`,
    action: "Correct what was settled",
    advice: ({ orders }) =>
      orders.length > 0
        ? "correct each with `reseller admin order settle --placed`"
        : "`reseller admin provider list` names them; correct each with `reseller admin order settle --placed`",
  },
};

export const LATE_REPORT_RULES: Rules<LateReportFacts> = {
  late_report: {
    severity: () => "note",
    holds: ({ count }) => count > 0,
    text: ({ name, count }) =>
      `${counted(count, "order")} changed at ${name ?? "the provider"} after ${count === 1 ? "its" : "their"} end`,
    page: ({ name }) => ordersOf("late=yes", name),
    action: "Accept or dismiss what was reported",
    advice: () => "`reseller admin order list --late`, then `reseller admin order late` for each",
  },
};

export const REQUEST_RULES: Rules<RequestFacts> = {
  request_unknown: {
    severity: () => "problem",
    holds: ({ unknown }) => unknown > 0,
    text: ({ unknown }) =>
      `It is not known what the provider did with ${counted(unknown, "request")}`,
    page: () => "/requests",
    action: "Decide",
    advice: () => "`reseller admin request list`",
  },
  request_open: {
    severity: () => "note",
    holds: ({ toDecide }) => toDecide > 0,
    text: ({ toDecide }) =>
      `${counted(toDecide, "request")} of resellers to cancel or refill an order`,
    page: () => "/requests",
    action: "Decide",
    advice: () => "`reseller admin request list`",
  },
};

/** Rules for visitors of the portal who asked for an account. */
export const REGISTRATION_RULES: Rules<{ waiting: number }> = {
  registration_open: {
    severity: () => "note",
    holds: ({ waiting }) => waiting > 0,
    text: ({ waiting }) => `${counted(waiting, "visitor")} of the portal asked for an account`,
    page: () => "/members/registrations",
    action: "Approve or decline",
    advice: () => "`reseller admin portal registrations`",
  },
};

// The sandbox delivers test orders as their links ask (domain/orders/sandbox.ts). It sends nothing and stores nothing:
// its answers follow from the order's row and the time, so every server gives the same ones, also after a restart.

import type { SubmissionResult } from "../domain/delivery/deliveries.ts";
import type { RefillReport, RequestResult } from "../domain/orders/order-requests.ts";
import type { Report } from "../domain/delivery/polling.ts";
import {
  type Magic,
  parseMagicLink,
  sandboxRefillReport,
  sandboxReport,
} from "../domain/orders/sandbox.ts";
import {
  type PlacedOrder,
  type ProviderApi,
  ProviderFailure,
  type SandboxDeps,
} from "./provider.ts";

export function sandbox({ now, orders, refills }: SandboxDeps): ProviderApi {
  const none = () =>
    Promise.reject(new ProviderFailure("the sandbox has no services and no money"));
  return {
    submit: (order) => Promise.resolve(submissionOf(order, now())),

    async status(providerOrders) {
      const reports = new Map<string, Report>();
      // An order that has ended has nothing more to report.
      for (const order of await orders(providerOrders)) {
        const { nextInMs, ...report } = sandboxReport(order, now());
        const text = `${report.word}, ${report.remains} of ${order.quantity} remain`;
        reports.set(order.providerOrder, { ...report, text, pollInMs: nextInMs });
      }
      return { reports };
    },

    cancel: ({ link }) => Promise.resolve(answerTo(parseMagicLink(link).cancel, null)),

    refill: ({ link, requestId }) =>
      Promise.resolve(answerTo(parseMagicLink(link).refill, String(requestId))),

    async refillStatus(numbers) {
      const reports = new Map<string, RefillReport>();
      for (const refill of await refills(numbers)) {
        const report = sandboxRefillReport(refill, now());
        reports.set(refill.refill, { ...report, text: report.word });
      }
      return { reports };
    },

    services: none,
    balance: none,
  };
}

/** Answers a request. The sandbox's number for a refill is that of our request. */
function answerTo(asked: Magic["cancel" | "refill"], refill: string | null): RequestResult {
  if (asked === "decline") return { outcome: "refused", cause: "its link asks for that" };
  if (asked === "unknown") return { outcome: "unknown", cause: "its link asks for that" };
  return { outcome: "accepted", refill, pollInMs: 0 };
}

/** Answers a submission. The sandbox's number for an order is ours. */
function submissionOf({ orderId, link, createdAt }: PlacedOrder, now: number): SubmissionResult {
  const accepted = { outcome: "accepted", providerOrder: String(orderId) } as const;
  const { submission } = parseMagicLink(link);
  switch (submission.kind) {
    case "accept":
      return accepted;
    case "refuse":
      return { outcome: "refused", cause: "its link asks for that", outOfFunds: false };
    case "unknown":
      return { outcome: "unknown", cause: "its link asks for that" };
    case "wait": {
      const leftMs = createdAt + submission.ms - now;
      // If the clock was set back by hours, the wait would take hours, with an attempt every few seconds.
      const isAhead = leftMs > 2 * submission.ms;
      if (leftMs <= 0 || isAhead) return accepted;
      const retryInMs = Math.min(leftMs, submission.ms);
      return { outcome: "not_sent", cause: "its link asks for a wait", retryInMs };
    }
  }
}

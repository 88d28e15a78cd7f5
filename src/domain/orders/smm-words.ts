// The words of `/api/v2` for statuses of orders and states of refills. docs/specification/smm-api.md#v2-status.

import type { RequestState } from "./order-requests.ts";
import type { OrderStatus } from "./order-statuses.ts";

export type SmmOrderWord = "Pending" | "In progress" | "Completed" | "Partial" | "Canceled";

export const SMM_ORDER_WORDS: Readonly<Record<OrderStatus, SmmOrderWord>> = {
  PENDING: "Pending",
  PROCESSING: "In progress",
  COMPLETED: "Completed",
  PARTIAL: "Partial",
  CANCELLED: "Canceled",
  FAILED: "Canceled",
  REFUNDED: "Canceled",
};

export type SmmRefillWord = "Pending" | "In progress" | "Completed" | "Rejected";

export const SMM_REFILL_WORDS: Readonly<Record<RequestState, SmmRefillWord>> = {
  requested: "Pending",
  sent: "Pending",
  accepted: "In progress",
  done: "Completed",
  declined: "Rejected",
};

export function eachWord<Word>(words: Readonly<Record<string, Word>>): Word[] {
  return [...new Set(Object.values(words))];
}

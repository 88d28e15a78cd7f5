// Everything that happened to an order after its creation, oldest first: each attempt to submit it, each transition with
// who caused it, and statuses that its provider reported after its final state.

import type { Reader } from "../db/port.ts";
import { listLateReports } from "../db/polling.ts";
import type { Order } from "../db/orders.ts";
import { listOrderEvents } from "../db/order-events.ts";
import { listAttempts } from "../db/deliveries.ts";

export interface TimelineEntry extends Record<string, string | null> {
  at: string;
  /** `status`, `late`, or the state of an attempt: `sending`, then its outcome. */
  what: string;
  from: string | null;
  to: string | null;
  /** The operator or the key; null: the system actor. */
  by: string | null;
  note: string | null;
}

export function timelineOf(reader: Reader, order: Order): TimelineEntry[] {
  const { orderId } = order;
  const timed: [time: number, entry: Partial<TimelineEntry>][] = [];
  for (const { startedAt, finishedAt, outcome, cause } of listAttempts(reader, orderId)) {
    timed.push([startedAt, { what: "sending" }]);
    if (finishedAt !== null) timed.push([finishedAt, { what: outcome, note: cause }]);
  }
  for (const event of listOrderEvents(reader, orderId)) {
    const { fromStatus: from, toStatus: to, actor, note } = event;
    timed.push([
      event.createdAt,
      { what: "status", from, to, by: actor.operator ?? actor.keyId, note },
    ]);
  }
  for (const { createdAt, status: from, reported: to } of listLateReports(reader, orderId)) {
    timed.push([
      createdAt,
      { what: "late", from, to, note: "reported after the end, not applied" },
    ]);
  }
  // The sort is stable: of entries with the same time, an attempt stays before the transition that it led to.
  return timed
    .toSorted(([a], [b]) => a - b)
    .map(([time, entry]) => ({
      at: new Date(time).toISOString(),
      what: "",
      from: null,
      to: null,
      by: null,
      note: null,
      ...entry,
    }));
}

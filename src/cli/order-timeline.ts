// Everything that happened to an order after its creation, oldest first: each attempt to place it, each change
// of status with who caused it, and what its provider reported too late.

import type { Connection } from "../db/connection.ts";
import { listLateReports } from "../db/polling.ts";
import { listOrderEvents, type Order } from "../db/orders.ts";
import { listAttempts } from "../db/deliveries.ts";

export interface TimelineEntry extends Record<string, string | null> {
  at: string;
  /** `status`, `late`, or what an attempt to place it was: `sending`, then its outcome. */
  what: string;
  from: string | null;
  to: string | null;
  /** The operator or the key; null: the service itself. */
  by: string | null;
  note: string | null;
}

export function timelineOf(connection: Connection, order: Order): TimelineEntry[] {
  const { orderId } = order;
  const timed: [time: number, entry: Partial<TimelineEntry>][] = [];
  for (const { startedAt, finishedAt, outcome, cause } of listAttempts(connection, orderId)) {
    timed.push([startedAt, { what: "sending" }]);
    if (finishedAt !== null) timed.push([finishedAt, { what: outcome, note: cause }]);
  }
  for (const event of listOrderEvents(connection, orderId)) {
    const { fromStatus: from, toStatus: to, actor, note } = event;
    timed.push([
      event.createdAt,
      { what: "status", from, to, by: actor.operator ?? actor.keyId, note },
    ]);
  }
  for (const { createdAt, status: from, reported: to } of listLateReports(connection, orderId)) {
    timed.push([
      createdAt,
      { what: "late", from, to, note: "reported after the end, not applied" },
    ]);
  }
  // The sort keeps the order of what bears the same time: an attempt before the change it led to.
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

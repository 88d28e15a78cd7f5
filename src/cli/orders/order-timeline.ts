// Returns the timeline of an order as `order show` prints it, without its transfers.

import { readOrderTimeline } from "../../db/orders/order-timeline.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";

export interface TimelineEntry extends Record<string, string | null> {
  at: string;
  what: string;
  from: string | null;
  to: string | null;
  /** The operator or the key; null for the system actor. */
  by: string | null;
  /** The provider of an attempt to submit the order. */
  provider: string | null;
  note: string | null;
}

export function readTimeline(reader: Reader, order: Order): TimelineEntry[] {
  return readOrderTimeline(reader, order)
    .filter(({ micros }) => micros === null)
    .map(({ at, what, from, to, actor, provider, note }) => ({
      at: new Date(at).toISOString(),
      what,
      from,
      to,
      by: actor && (actor.operator ?? actor.keyId),
      provider,
      note,
    }));
}

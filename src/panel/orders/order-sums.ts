// Counts the orders of a list by status, and sums their charges. The result is exact if the running counts know all of
// the list's filters. Otherwise only the newest orders are counted.

import type { OperatorOrderFilter } from "../../db/orders/operator-order-filter.ts";
import {
  COUNTED_LIMIT,
  type OrderSums,
  sumOperatorOrders,
} from "../../db/orders/operator-orders.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { counted } from "../../domain/values/text.ts";
import { centsText } from "../../web/components/shown.tsx";
import type { Panel } from "../server/panel.ts";

/** Time that a page waits for the first count. */
const WAIT_MS = 20;

/** Names of the filters that the counts know: all other filters are counted among the newest orders. */
const KNOWN = ["status", "days", "below", "earlier"];

/** Returns the sums of a list. `values`: its query string. */
export async function readOrderSums(
  panel: Panel,
  filter: OperatorOrderFilter,
  values: URLSearchParams,
): Promise<OrderSums> {
  const isKnown = [...values].every(([name, value]) => value === "" || KNOWN.includes(name));
  const exact = isKnown ? await exactSums(panel, filter.window?.from ?? null) : null;
  return exact ?? panel.store.read((reader) => sumOperatorOrders(reader, filter));
}

/** Returns the sums of the orders since a time, or null while they are being counted. */
async function exactSums(panel: Panel, from: number | null): Promise<OrderSums | null> {
  if (from === null) {
    const all = await panel.statuses(WAIT_MS);
    return all && sumsOf(all.live, all.charges);
  }
  const figures = await panel.activity(WAIT_MS);
  if (!figures) return null;
  const { orders, charges } = figures(from, panel.now() + DAY_MS);
  return sumsOf(orders, charges);
}

function sumsOf(
  orders: Record<OrderStatus, number>,
  charges: Record<OrderStatus, bigint>,
): OrderSums {
  const byStatus = new Map(
    ORDER_STATUSES.map((status) => [
      status,
      { orders: orders[status], chargedMicros: charges[status] },
    ]),
  );
  return { byStatus, isWhole: true };
}

/** Returns the number of orders with a status, or of all, as a text. `+`: there may be more. */
export function countText({ byStatus, isWhole }: OrderSums, status: OrderStatus | null): string {
  const { orders } = sumOf(byStatus, status);
  return `${orders.toLocaleString("en-US")}${isWhole ? "" : "+"}`;
}

/** Returns the number of hits and their sum as a sentence. */
export function hitsText({ byStatus, isWhole }: OrderSums, status: OrderStatus | null): string {
  const { orders, chargedMicros } = sumOf(byStatus, status);
  const money = `${centsText(chargedMicros)} USD`;
  const most = COUNTED_LIMIT.toLocaleString("en-US");
  if (isWhole)
    return `${orders.toLocaleString("en-US")} ${orders === 1 ? "order" : "orders"}, ${money}`;
  if (orders >= COUNTED_LIMIT) return `more than ${most} orders; the newest ${most}: ${money}`;
  return `${counted(orders, "order")} of the newest ${most}, ${money}; older ones are not counted`;
}

function sumOf(byStatus: OrderSums["byStatus"], status: OrderStatus | null) {
  const sum = { orders: 0, chargedMicros: 0n };
  for (const [each, { orders, chargedMicros }] of byStatus) {
    if (status !== null && each !== status) continue;
    sum.orders += orders;
    sum.chargedMicros += chargedMicros;
  }
  return sum;
}

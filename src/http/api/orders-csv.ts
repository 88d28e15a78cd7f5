// The orders of GET /orders as CSV.

import { listOrdersBelow, type OrderListQuery } from "../../db/orders/order-lists.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { OwnedPublicOrder } from "../../db/orders/public-orders.ts";
import { ORDER_CSV_HEADER, orderCells } from "../../domain/orders/order-members.ts";
import { csvFile, csvResponse } from "../server/csv.ts";

/** Orders that one step of a CSV reads: about a millisecond of the event loop. */
const CSV_STEP = 200;
const FILE = "orders.csv";

/** Returns all matching orders: `limit` is only for pages. */
export function ordersCsv(
  store: ReadStore,
  filters: OrderListQuery,
  below: number,
  onInternalError: (error: unknown) => void,
): Response {
  const read = async (from: number) => {
    const { rows, next } = await store.read((reader) =>
      listOrdersBelow(reader, filters, from, CSV_STEP),
    );
    return { rows: rows.map(orderCells), next };
  };
  return csvResponse(FILE, ORDER_CSV_HEADER, below, read, onInternalError);
}

/** Returns the orders that were requested by id or reference. */
export function fewOrdersCsv(orders: readonly OwnedPublicOrder[]): Response {
  const lines = [ORDER_CSV_HEADER, ...orders.map((order) => orderCells(order).join(","))];
  return csvFile(FILE, lines.map((line) => `${line}\r\n`).join(""));
}

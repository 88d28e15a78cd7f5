// The orders of GET /orders as CSV.

import { listOrdersBelow, type OrderListQuery } from "../../db/orders/order-lists.ts";
import type { ReadStore } from "../../db/port/port.ts";
import type { OwnedPublicOrder } from "../../db/orders/public-orders.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { extraFields } from "../../domain/orders/order-fields.ts";
import { orderCreated } from "../../domain/orders/responses.ts";
import { csvFile, csvResponse, csvText } from "../server/csv.ts";

/** Orders that one step of a CSV reads: about a millisecond of the event loop. */
const CSV_STEP = 200;
const FILE = "orders.csv";
export const ORDERS_CSV_HEADER =
  "id,orderId,service,link,quantity,charge,status,startCount,remains,createdAt,reference,fields";

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
    return { rows: rows.map(cellsOf), next };
  };
  return csvResponse(FILE, ORDERS_CSV_HEADER, below, read, onInternalError);
}

/** Returns the orders that were requested by id or reference. */
export function fewOrdersCsv(orders: readonly OwnedPublicOrder[]): Response {
  const lines = [ORDERS_CSV_HEADER, ...orders.map((order) => cellsOf(order).join(","))];
  return csvFile(FILE, lines.map((line) => `${line}\r\n`).join(""));
}

function cellsOf(order: OwnedPublicOrder): (string | number)[] {
  return [
    order.id,
    order.orderId,
    csvText(order.serviceName),
    csvText(order.link),
    orderCreated(order).quantity,
    formatMicros(order.chargeMicros),
    order.status,
    order.startCount,
    order.remains,
    new Date(order.createdAt).toISOString(),
    csvText(order.reference ?? ""),
    order.extra === null ? "" : csvText(JSON.stringify(extraFields(order))),
  ];
}

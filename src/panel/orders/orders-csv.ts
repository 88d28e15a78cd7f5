// The filtered list of orders as CSV.

import { lastCosts } from "../../db/delivery/costs.ts";
import { lastLateReports, type LateReport } from "../../db/orders/late-reports.ts";
import { listOperatorOrders } from "../../db/orders/operator-orders.ts";
import type { ListedOrder } from "../../db/orders/orders.ts";
import { namesOfProviders } from "../../db/providers/providers.ts";
import type { OrderCost } from "../../domain/delivery/costs.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { extraFields, orderType } from "../../domain/orders/order-fields.ts";
import { CALLER_MEMBERS } from "../../domain/orders/order-members.ts";
import { csvResponse, csvText } from "../../http/server/csv.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { readOrderFilter } from "./order-filters.ts";
import { ordersPage } from "./orders.tsx";

const STEP = 200;
interface Line {
  order: ListedOrder;
  names: ReadonlyMap<number, string>;
  cost: OrderCost | undefined;
  late: LateReport | undefined;
}

/** The columns: their names, and their cells in an order's line. */
const COLUMNS: Record<string, (line: Line) => string | number> = {
  orderId: ({ order }) => order.orderId,
  id: ({ order }) => order.id,
  user: ({ order }) => csvText(order.username),
  service: ({ order }) => csvText(order.serviceName),
  link: ({ order }) => csvText(order.link),
  quantity: ({ order }) => order.quantity,
  charge: ({ order }) => formatMicros(order.chargeMicros),
  refunded: ({ order }) => formatMicros(order.refundedMicros),
  startCount: ({ order }) => order.startCount,
  remains: ({ order }) => order.remains,
  status: ({ order }) => order.status,
  placement: ({ order }) => placementOf(order.delivery),
  provider: ({ order: { delivery }, names }) =>
    delivery ? csvText(names.get(delivery.providerId) ?? "") : "",
  providerOrder: ({ order }) => order.delivery?.providerOrder ?? "",
  ...Object.fromEntries(
    CALLER_MEMBERS.map(({ name, field }) => [
      name,
      ({ order }: Line) => csvText(order[field] ?? ""),
    ]),
  ),
  createdAt: ({ order }) => new Date(order.createdAt).toISOString(),
  // The provider's charge, for comparison with its invoice.
  cost: ({ cost }) => (cost ? formatMicros(cost.costMicros) : ""),
  providerCharge: ({ cost }) => cost?.amount ?? "",
  providerCurrency: ({ cost }) => cost?.currency ?? "",
  type: ({ order }) => orderType(order),
  fields: ({ order }) => (order.extra === null ? "" : csvText(JSON.stringify(extraFields(order)))),
  reportedLate: ({ late }) => late?.reported ?? "",
  remainsLate: ({ late }) => late?.remains ?? "",
};
const HEADER = Object.keys(COLUMNS).join(",");
const CELLS = Object.values(COLUMNS);

export async function ordersCsv(call: Call, panel: Panel): Promise<View | Response> {
  const { filter, names } = await call.read((reader) => ({
    filter: readOrderFilter(call.filters, reader, panel.now()),
    names: namesOfProviders(reader),
  }));
  if (!filter) return ordersPage(call, panel);
  const read = async (below: number) => {
    const { rows, next, costs, late } = await call.read((reader) => {
      const page = listOperatorOrders(reader, filter, below, STEP);
      const ids = page.rows.map(({ orderId }) => orderId);
      return { ...page, costs: lastCosts(reader, ids), late: lastLateReports(reader, ids) };
    });
    const lines = rows.map((order) => ({
      order,
      names,
      cost: costs.get(order.orderId),
      late: late.get(order.orderId),
    }));
    return { rows: lines.map((line) => CELLS.map((cell) => cell(line))), next };
  };
  return csvResponse("orders.csv", HEADER, Number.MAX_SAFE_INTEGER, read, (error) =>
    panel.log.error({ error: String(error) }, "the CSV file of orders was cut off"),
  );
}

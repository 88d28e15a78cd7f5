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
import { csvResponse, csvText } from "../../http/server/csv.ts";
import type { Call } from "../server/call.ts";
import type { Panel } from "../server/panel.ts";
import type { View } from "../../web/server/results.ts";
import { readOrderFilter } from "./order-filters.ts";
import { ordersPage } from "./orders.tsx";

const STEP = 200;
const HEADER =
  "orderId,id,user,service,link,quantity,charge,refunded,startCount,remains,status,placement,provider,providerOrder,reference,createdAt,cost,providerCharge,providerCurrency,type,fields,reportedLate,remainsLate";

export async function ordersCsv(call: Call, panel: Panel): Promise<View | Response> {
  const { filter, names } = await call.read((reader) => ({
    filter: readOrderFilter(call.filters, reader),
    names: namesOfProviders(reader),
  }));
  if (!filter) return ordersPage(call);
  const read = async (below: number) => {
    const { rows, next, costs, late } = await call.read((reader) => {
      const page = listOperatorOrders(reader, filter, below, STEP);
      const ids = page.rows.map(({ orderId }) => orderId);
      return { ...page, costs: lastCosts(reader, ids), late: lastLateReports(reader, ids) };
    });
    return { rows: rows.map((order) => cellsOf(order, names, costs, late)), next };
  };
  return csvResponse("orders.csv", HEADER, Number.MAX_SAFE_INTEGER, read, (error) =>
    panel.log.error({ error: String(error) }, "list of orders not sent to its end"),
  );
}

function cellsOf(
  order: ListedOrder,
  names: ReadonlyMap<number, string>,
  costs: ReadonlyMap<number, OrderCost>,
  late: ReadonlyMap<number, LateReport>,
): (string | number)[] {
  const { delivery } = order;
  const cost = costs.get(order.orderId);
  const reported = late.get(order.orderId);
  return [
    order.orderId,
    order.id,
    csvText(order.username),
    csvText(order.serviceName),
    csvText(order.link),
    order.quantity,
    formatMicros(order.chargeMicros),
    formatMicros(order.refundedMicros),
    order.startCount,
    order.remains,
    order.status,
    placementOf(delivery),
    delivery ? csvText(names.get(delivery.providerId) ?? "") : "",
    delivery?.providerOrder ?? "",
    csvText(order.reference ?? ""),
    new Date(order.createdAt).toISOString(),
    // The provider's charge, for comparison with its invoice.
    cost ? formatMicros(cost.costMicros) : "",
    cost?.amount ?? "",
    cost?.currency ?? "",
    orderType(order),
    order.extra === null ? "" : csvText(JSON.stringify(extraFields(order))),
    reported?.reported ?? "",
    reported?.remains ?? "",
  ];
}

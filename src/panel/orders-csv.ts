// The filtered list of orders as CSV.

import { listOperatorOrders } from "../db/operator-orders.ts";
import type { ListedOrder } from "../db/orders.ts";
import { listProviders } from "../db/providers.ts";
import { placementOf } from "../domain/deliveries.ts";
import { formatMicros } from "../domain/money.ts";
import { extraFields, orderType } from "../domain/order-fields.ts";
import { csvResponse, csvText } from "../http/csv.ts";
import type { Call, Panel, View } from "./call.ts";
import { readOrderFilter } from "./order-filters.ts";
import { ordersPage } from "./orders.tsx";

const STEP = 200;
const HEADER =
  "orderId,id,user,service,link,quantity,charge,refunded,startCount,remains,status,placement,provider,providerOrder,reference,createdAt,type,fields";

export async function ordersCsv(call: Call, panel: Panel): Promise<View | Response> {
  const { filter, names } = await call.read((reader) => ({
    filter: readOrderFilter(call.filters, reader),
    names: new Map(listProviders(reader).map(({ providerId, name }) => [providerId, name])),
  }));
  if (!filter) return ordersPage(call);
  const read = async (below: number) => {
    const { rows, next } = await call.read((reader) =>
      listOperatorOrders(reader, filter, below, STEP),
    );
    return { rows: rows.map((order) => cellsOf(order, names)), next };
  };
  return csvResponse("orders.csv", HEADER, Number.MAX_SAFE_INTEGER, read, (error) =>
    panel.log.error({ error: String(error) }, "list of orders not sent to its end"),
  );
}

function cellsOf(order: ListedOrder, names: ReadonlyMap<number, string>): (string | number)[] {
  const { delivery } = order;
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
    orderType(order),
    order.extra === null ? "" : csvText(JSON.stringify(extraFields(order))),
  ];
}

// What the page of an order and its parts show.

import { findCost } from "../../db/delivery/costs.ts";
import { listRoutes } from "../../db/catalogue/service-routes.ts";
import { findService } from "../../db/catalogue/services.ts";
import { findOrder, findResends, type Order, type Resends } from "../../db/orders/orders.ts";
import { readOrderTimeline, type TimelineEntry } from "../../db/orders/order-timeline.ts";
import { type LateReport, listOpenLateReports } from "../../db/orders/late-reports.ts";
import { type ListedRequest, listOrderRequests } from "../../db/orders/order-request-lists.ts";
import type { Reader } from "../../db/port/port.ts";
import { getProvider } from "../../db/providers/providers.ts";
import { attempts } from "../../db/tables/delivery.ts";
import {
  findUnrecognizedNumber,
  type UnrecognizedNumber,
} from "../../db/delivery/unrecognized-numbers.ts";
import { usernameOf } from "../../db/users/users.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import type { OrderCost } from "../../domain/delivery/costs.ts";
import { isSettlementCorrectable } from "../../domain/delivery/deliveries.ts";
import { findRunning, type RunningDelivery } from "../../operations/orders/order-cancellation.ts";
import { authorText } from "../administrators/authors.ts";
import { refusal } from "../../domain/values/error-table.ts";

/** Limit for open requests of an order: one of each kind can be open. */
const REQUESTS = 2;

export interface ShownOrder {
  order: Order;
  username: string;
  provider: { name: string; outOfFundsAt: number | null } | null;
  /** Null if unknown. */
  cost: OrderCost | null;
  timeline: (TimelineEntry & { by: string })[];
  /** The newest undecided late report. */
  late: LateReport | undefined;
  /** Its number was entered by the operator, and its provider has not reported anything yet. */
  isCorrectable: boolean;
  /** Set if its provider does not know the number. */
  unrecognized: UnrecognizedNumber | undefined;
  /** Open requests to cancel or refill the order. */
  requests: ListedRequest[];
  resent: Resends;
  /** What its provider may still deliver; null if nothing. */
  running: RunningDelivery | null;
  /** The routes of its service. */
  routes: NamedRoute[];
}

/** A route of a service, with the name of its provider. */
export interface NamedRoute {
  provider: string;
  providerService: string;
}

/** Lists the routes that a new order of the service may begin with. */
export function listNamedRoutes(reader: Reader, serviceId: string): NamedRoute[] {
  const routes = listRoutes(reader, findService(reader, serviceId)!);
  return routes.flatMap(({ providerId, providerService, delisted }) => {
    const { name: provider, active } = getProvider(reader, providerId);
    return active && !delisted ? [{ provider, providerService }] : [];
  });
}

/** Reads an order for its page. Throws order_not_found. */
export function readShownOrder(reader: Reader, id: string): ShownOrder {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  const sent = reader.row(attempts.bySentOrder, order.orderId);
  const provider = order.delivery && getProvider(reader, order.delivery.providerId);
  return {
    order,
    username: usernameOf(reader, order.resellerAccount),
    provider: provider && { name: provider.name, outOfFundsAt: provider.outOfFundsAt },
    cost: findCost(reader, order.orderId),
    timeline: reader.each(readOrderTimeline(reader, order), (entry) => ({
      ...entry,
      by: entry.actor ? authorText(reader, entry.actor) || "the service" : "",
    })),
    late: listOpenLateReports(reader, order.orderId).at(-1),
    isCorrectable: isSettlementCorrectable(order, sent?.outcome),
    unrecognized:
      order.status === "PROCESSING" ? findUnrecognizedNumber(reader, order.orderId) : undefined,
    requests: listOrderRequests(
      reader,
      { open: true, orderId: order.orderId, test: isTestOrder(order) },
      REQUESTS,
    ),
    resent: findResends(reader, order.orderId),
    running: findRunning(reader, order),
    routes: listNamedRoutes(reader, order.serviceId),
  };
}

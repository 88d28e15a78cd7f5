// Facts about an order: its money, service, link, provider and quantity.

/** @jsxImportSource preact */

import type { Order } from "../../db/orders/orders.ts";
import { costText, type OrderCost } from "../../domain/delivery/costs.ts";
import { extraFields, orderedQuantity, orderType } from "../../domain/orders/order-fields.ts";
import { CALLER_MEMBERS } from "../../domain/orders/order-members.ts";
import { isCode } from "../providers/call-failures.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import { Facts } from "../../web/components/lists.tsx";
import type { ShownOrder } from "./shown-order.ts";
import { Money, Time, Typed, TypedLines, TypedLink } from "../../web/components/shown.tsx";

export function OrderFacts({
  order,
  username,
  provider,
  cost,
  resent,
  routes,
  timeline,
}: ShownOrder) {
  const { delivery } = order;
  return (
    <Facts
      facts={[
        ["Charge USD", <Money micros={order.chargeMicros} />],
        ["Refunded USD", <Money micros={order.refundedMicros} />],
        ...(delivery
          ? ([
              ["Cost", cost ? <Typed text={costText(cost)} /> : "not known"],
              ["Margin USD", cost ? <Money micros={marginOf(order, cost)} /> : "–"],
            ] as const)
          : []),
        [
          "Service",
          <a href={`/services/${order.serviceId}`}>
            <Typed text={order.serviceName} />
          </a>,
        ],
        ["Reseller", <a href={`/users/${username}`}>{username}</a>],
        ["Link", <TypedLink text={order.link} />],
        ["Provider", <ItsProvider order={order} provider={provider} />],
        ...(delivery
          ? ([
              ["Route", <ItsRoute order={order} provider={provider} routes={routes} />],
              ["Number at the provider", delivery.providerOrder ?? "–"],
              ["Last answered poll (UTC)", <Time at={delivery.polledAt} />],
              ["Last reply", <Typed text={lastReply({ order, timeline })} />],
            ] as const)
          : []),
        ["Quantity", quantityText(order)],
        ...extraFacts(order),
        ["Start count", order.startCount],
        ["Remains", order.remains],
        ["Created (UTC)", <Time at={order.createdAt} />],
        ["Id", <code>{order.id}</code>],
        ...CALLER_MEMBERS.map(
          ({ name, field }) =>
            [`${name[0]!.toUpperCase()}${name.slice(1)}`, <Typed text={order[field]} />] as const,
        ),
        ...(resent.resends === null
          ? []
          : ([
              ["Sent again for", <a href={`/orders/${resent.resends}`}>order {resent.resends}</a>],
            ] as const)),
      ]}
    />
  );
}

/** The service's id at the provider, and its place among the routes that the service has now. */
function ItsRoute({
  order: { delivery },
  provider,
  routes,
}: Pick<ShownOrder, "order" | "provider" | "routes">) {
  const at = routes.findIndex(
    (route) =>
      route.provider === provider?.name && route.providerService === delivery?.providerService,
  );
  const place = at === -1 ? "" : `, ${at + 1} of ${routes.length}`;
  return (
    <>
      service <Typed text={delivery?.providerService} />
      {place}
    </>
  );
}

/** Beginning of the note that operations/delivery/polling.ts writes with a status change that a provider reported. */
const REPORTED = /^the provider reported /;

/**
 * The provider's last words about the order, with our key masked; null if it has not replied. A report that changed
 * nothing is not stored.
 */
function lastReply({ order, timeline }: Pick<ShownOrder, "order" | "timeline">): string | null {
  const last = timeline.findLast(({ what, provider, note }) => {
    if (what === "accepted") return true;
    if (note === null) return false;
    return provider === null ? REPORTED.test(note) : !isCode(note);
  });
  if (last?.what === "accepted") return `accepted as ${order.delivery?.providerOrder ?? "–"}`;
  return last?.note?.replace(REPORTED, "") ?? null;
}

function ItsProvider({ order, provider }: Pick<ShownOrder, "order" | "provider">) {
  if (provider === null) return <>delivered by hand</>;
  // The sandbox provider has no page.
  if (isTestOrder(order)) return <>{provider.name}</>;
  return <a href={`/providers/${provider.name}`}>{provider.name}</a>;
}

/**
 * Formats the quantity; for a drip-feed the total and its runs, such as `300: 3 runs of 100`. `remains` counts down from
 * the total.
 */
function quantityText(order: Order): string {
  const single = orderedQuantity(order);
  const { quantity } = order;
  return single === quantity
    ? `${quantity}`
    : `${quantity}: ${quantity / single} runs of ${single}`;
}

/** Returns the type under which the order was sold, and its extra fields. */
function extraFacts(order: Order) {
  if (order.extra === null) return [];
  const fields = Object.entries(extraFields(order));
  return [
    ["Type", typeTerms(orderType(order)).words] as const,
    ...fields.map(([name, value]) => [name, <TypedLines text={String(value)} />] as const),
  ];
}

function marginOf(order: Order, { costMicros }: OrderCost): number {
  return order.chargeMicros - order.refundedMicros - costMicros;
}

// What an order is: its service, link, quantity, money, and where it is delivered.

/** @jsxImportSource preact */

import type { Order } from "../db/orders.ts";
import { costText, type OrderCost } from "../domain/costs.ts";
import { extraFields, orderedQuantity, orderType } from "../domain/order-fields.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { typeTerms } from "../domain/service-types.ts";
import { Facts } from "./lists.tsx";
import type { ShownOrder } from "./order.tsx";
import { Money, Time, Typed, TypedLines, TypedLink } from "./shown.tsx";

export function OrderFacts({ order, username, provider, cost }: ShownOrder) {
  const { delivery } = order;
  return (
    <Facts
      facts={[
        ["User", <a href={`/users/${username}`}>{username}</a>],
        [
          "Service",
          <a href={`/services/${order.serviceId}`}>
            <Typed text={order.serviceName} />
          </a>,
        ],
        ["Link", <TypedLink text={order.link} />],
        ["Quantity", quantityText(order)],
        ...extraFacts(order),
        ["Charge USD", <Money micros={order.chargeMicros} />],
        ["Refunded USD", <Money micros={order.refundedMicros} />],
        ["Start count", order.startCount],
        ["Remains", order.remains],
        ["Created (UTC)", <Time at={order.createdAt} />],
        ["Id", <code>{order.id}</code>],
        ["Reference", <Typed text={order.reference} />],
        ["Provider", <ItsProvider order={order} provider={provider} />],
        ...(delivery
          ? ([
              ["Number there", delivery.providerOrder ?? "–"],
              ["Last answer for it", <Time at={delivery.polledAt} />],
              ["Cost", cost ? <Typed text={costText(cost)} /> : "not known"],
              ["Margin USD", cost ? <Money micros={marginOf(order, cost)} /> : "–"],
            ] as const)
          : []),
      ]}
    />
  );
}

function ItsProvider({ order, provider }: Pick<ShownOrder, "order" | "provider">) {
  if (provider === null) return <>delivered by hand</>;
  // Nobody's page is that of test orders.
  if (isTestOrder(order)) return <>{provider.name}</>;
  return <a href={`/providers/${provider.name}`}>{provider.name}</a>;
}

/** Of a drip-feed what all its runs make, which is what remains is a part of. */
function quantityText(order: Order): string {
  const single = orderedQuantity(order);
  const { quantity } = order;
  return single === quantity
    ? `${quantity}`
    : `${quantity}: ${quantity / single} runs of ${single}`;
}

/** The type it was sold as, and the fields of it. */
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

// Prints orders as a table, as fields and as JSON.

import type { Awaitable, Reader } from "../../db/port/port.ts";
import type { LateReport } from "../../db/orders/late-reports.ts";
import type { ListedOrder, Order } from "../../db/orders/orders.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import type { OrderCost } from "../../domain/delivery/costs.ts";
import { placementOf } from "../../domain/delivery/deliveries.ts";
import { lateText } from "../../domain/orders/late-reports.ts";
import { CALLER_MEMBERS, orderStatus } from "../../domain/orders/order-members.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { isTestOrder } from "../../domain/orders/sandbox.ts";
import { type ProviderNames, providerNames } from "../providers/provider-names.ts";
import { type CommonOptions, type Session, withDatabase } from "../kernel/command.ts";
import type { List } from "../output/list-columns.ts";
import { ageText, dollars, print } from "../output/output.ts";
import { fields } from "../output/text-table.ts";

/** An order with the names of its reseller and its provider. */
export type NamedOrder = ListedOrder & { provider: string | null };

/** An order with its cost at the provider, if known. */
export type CostedOrder = NamedOrder & { cost: OrderCost | null };

/** An order with its undecided late report, if there is one. */
type OrderOfList = CostedOrder & { late: LateReport | null };

export function withCost(costs: ReadonlyMap<number, OrderCost>, order: NamedOrder): CostedOrder {
  return { ...order, cost: costs.get(order.orderId) ?? null };
}

export function withNames(reader: Reader, order: Order): NamedOrder {
  const { account, testOf } = findUserByAccount(reader, order.resellerAccount)!;
  const { username } = findUserByAccount(reader, testOf ?? account)!;
  return withProvider(providerNames(reader), { ...order, username });
}

export function withProvider(names: ProviderNames, order: ListedOrder): NamedOrder {
  return { ...order, provider: names(order.delivery?.providerId ?? null) };
}

/** Returns the members of `GET /orders/:id` and those that only the operator sees. */
export function orderJson(order: NamedOrder) {
  return {
    ...orderStatus(order),
    username: order.username,
    refunded: jsonAmount(order.refundedMicros),
    provider: order.provider,
    providerOrder: order.delivery?.providerOrder ?? null,
    placement: placementOf(order.delivery),
    ...(isTestOrder(order) ? { test: true } : {}),
  };
}

/** Returns the cost at the provider, with nulls if unknown. API callers never see it. */
export function costJson(cost: OrderCost | null) {
  return {
    cost: cost && jsonAmount(cost.costMicros),
    costBasis: cost?.basis ?? null,
    providerCharge: cost?.amount ?? null,
    providerCurrency: cost?.currency ?? null,
  };
}

/** Returns the late report as JSON, or null if none is undecided. */
export function lateJson(late: LateReport | null) {
  if (!late) return null;
  const { reported, remains, createdAt } = late;
  return { status: reported, remains, at: new Date(createdAt).toISOString() };
}

/**
 * The columns of `order list`. The columns shown by default are few, so that others fit beside them in 80 characters.
 * The link is last and never cut.
 */
export const ORDER_LIST: List<OrderOfList> = {
  columns: {
    order: ({ orderId }) => orderId,
    status: ({ status }) => status,
    placement: ({ delivery }) => placementOf(delivery),
    user: ({ username }) => username,
    service: ({ serviceName }) => serviceName,
    quantity: ({ quantity }) => quantity,
    remains: ({ remains }) => remains,
    "charge usd": ({ chargeMicros }) => dollars(chargeMicros),
    "refunded usd": ({ refundedMicros }) => dollars(refundedMicros),
    age: ({ createdAt }) => ageText(Date.now() - createdAt),
    created: ({ createdAt }) => new Date(createdAt).toISOString(),
    provider: ({ provider }) => provider,
    "provider order": ({ delivery }) => delivery?.providerOrder ?? null,
    "reported late": ({ late }) => late && lateText(late),
    "cost usd": ({ cost }) => cost && dollars(cost.costMicros),
    "provider charge": ({ cost }) => cost && [cost.amount, cost.currency].join(" ").trim(),
    ...Object.fromEntries(
      CALLER_MEMBERS.map(({ name, field }) => [name, (order: OrderOfList) => order[field]]),
    ),
    id: ({ id }) => id,
    link: ({ link }) => link,
  },
  shown: ["order", "status", "user", "service", "quantity", "charge usd", "age", "link"],
  empty: "no orders to list",
};

/** Changes an order and prints it. */
export async function changeOrder(
  options: CommonOptions,
  change: (session: Session) => Awaitable<Order>,
): Promise<void> {
  const order = await withDatabase(options, (session) => changedOrder(session, change));
  print(options.json, orderJson(order), fields);
}

/** Changes an order and returns it. */
export async function changedOrder(
  session: Session,
  change: (session: Session) => Awaitable<Order>,
): Promise<NamedOrder> {
  const changed = await change(session);
  return session.store.read((reader) => withNames(reader, changed));
}

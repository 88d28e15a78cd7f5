// Orders on standard output: as a table, as fields, as JSON.

import type { Awaitable, Reader } from "../db/port.ts";
import type { LateReport } from "../db/late-reports.ts";
import type { ListedOrder, Order } from "../db/orders.ts";
import { findUserByAccount } from "../db/users.ts";
import type { OrderCost } from "../domain/costs.ts";
import { placementOf } from "../domain/deliveries.ts";
import { lateText } from "../domain/late-reports.ts";
import { orderStatus } from "../domain/responses.ts";
import { jsonAmount } from "../domain/money.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { type ProviderNames, providerNames } from "./provider-names.ts";
import { type CommonOptions, type Session, withDatabase } from "./command.ts";
import type { List } from "./list-columns.ts";
import { ageText, dollars, print } from "./output.ts";
import { fields } from "./text-table.ts";

/** An order with the names of its reseller and its provider. */
export interface NamedOrder extends ListedOrder {
  provider: string | null;
}

/** With what it costs at its provider, where that is known. */
export interface CostedOrder extends NamedOrder {
  cost: OrderCost | null;
}

/** With what its provider reported after its end, where nobody has decided it. */
interface OrderOfList extends CostedOrder {
  late: LateReport | null;
}

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

/** The members of `GET /orders/:id`, and those that only the operator sees. */
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

/** What it costs at its provider, which no caller ever learns; nulls where that is not known. */
export function costJson(cost: OrderCost | null) {
  return {
    cost: cost && jsonAmount(cost.costMicros),
    costBasis: cost?.basis ?? null,
    providerCharge: cost?.amount ?? null,
    providerCurrency: cost?.currency ?? null,
  };
}

/** Null: nothing that is not decided. */
export function lateJson(late: LateReport | null) {
  if (!late) return null;
  const { reported, remains, createdAt } = late;
  return { status: reported, remains, at: new Date(createdAt).toISOString() };
}

/** The columns of `order list`: the ones shown leave room for the others on 80 columns; the link is last, and whole. */
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
    reference: ({ reference }) => reference,
    id: ({ id }) => id,
    link: ({ link }) => link,
  },
  shown: ["order", "status", "user", "service", "quantity", "charge usd", "age", "link"],
  empty: "no orders to list",
};

/** Makes a change and prints the order as it is then. */
export async function changeOrder(
  options: CommonOptions,
  change: (session: Session) => Awaitable<Order>,
): Promise<void> {
  const order = await withDatabase(options, (session) => changedOrder(session, change));
  print(options.json, orderJson(order), fields);
}

export async function changedOrder(
  session: Session,
  change: (session: Session) => Awaitable<Order>,
): Promise<NamedOrder> {
  const changed = await change(session);
  return session.store.read((reader) => withNames(reader, changed));
}

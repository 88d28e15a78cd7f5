// Orders on standard output: as a table, as fields, as JSON.

import type { Awaitable, Reader } from "../db/port.ts";
import type { ListedOrder, Order } from "../db/orders.ts";
import { findUserByAccount } from "../db/users.ts";
import { placementOf } from "../domain/deliveries.ts";
import { orderStatus } from "../domain/responses.ts";
import { jsonAmount } from "../domain/money.ts";
import { isTestOrder } from "../domain/sandbox.ts";
import { type ProviderNames, providerNames } from "./provider-names.ts";
import { type CommonOptions, type Session, withDatabase } from "./command.ts";
import { dollars, print } from "./output.ts";
import { fields, table } from "./text-table.ts";

/** An order with the names of its reseller and its provider. */
export interface NamedOrder extends ListedOrder {
  provider: string | null;
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

export function orderTable(orders: NamedOrder[]): string {
  const rows = orders.map((order) => ({
    order: order.orderId,
    status: order.status,
    placement: placementOf(order.delivery),
    user: order.username,
    service: order.serviceName,
    quantity: order.quantity,
    remains: order.remains,
    "charge usd": dollars(order.chargeMicros),
    "refunded usd": dollars(order.refundedMicros),
    created: new Date(order.createdAt).toISOString(),
    link: order.link,
  }));
  return table(rows, "no orders to list");
}

/** Makes a change and prints the order as it is then. */
export async function changeOrder(
  options: CommonOptions,
  change: (session: Session) => Awaitable<Order>,
): Promise<void> {
  const order = await withDatabase(options, async (session) => {
    const changed = await change(session);
    return session.store.read((reader) => withNames(reader, changed));
  });
  print(options.json, orderJson(order), fields);
}

// What the frequent commands read and which numbers they take, so that an engine that waits for its database can load
// it for a whole batch at once. This is for speed only: what is missing here is loaded when a command asks for it.

import { type Need, needLock, needNumbers, needRow } from "../../db/port/port.ts";
import {
  attempts,
  grants,
  idempotency,
  keys,
  orderEvents,
  orderRequests,
  orders,
  providers,
  services,
  transfers,
  unrecognizedNumbers,
  uptime,
  users,
} from "../../db/tables/tables.ts";
import type { CommandInput, CommandName } from "./commands.ts";
import type { PlaceOrder } from "../orders/orders.ts";
import type { Recharge } from "../ledger/recharges.ts";

const needs: { [Name in CommandName]?: (input: CommandInput<Name>) => Need[] } = {
  placeOrder: ofOrder,
  placeOrderOnce: ({ order, claim }) => [
    ...ofOrder(order),
    ...ofClaim(order.resellerAccount, claim),
  ],
  placeOrders: ofOrders,
  placeOrdersOnce: (command) => [
    ...ofOrders(command),
    ...ofClaim(command.resellerAccount, command.claim),
  ],
  recharge: ofRecharge,
  rechargeOnce: (command) => [
    ...ofRecharge(command.recharge),
    ...ofClaim(command.recharge.resellerAccount, command.claim),
  ],
  recordResponse: ({ resellerAccount, key }) => [
    needLock(resellerAccount),
    needRow(idempotency.byReseller, resellerAccount, key),
  ],
  startAttempt: ({ orderId, providerId }) => [
    needRow(orders.byKey, orderId),
    needRow(providers.byKey, providerId),
    needNumbers(attempts),
  ],
  finishAttempt: ({ orderId, attemptId }) => [
    needRow(orders.byKey, orderId),
    needRow(attempts.byKey, attemptId),
    needNumbers(orderEvents),
  ],
  recordReports: ({ reports }) =>
    reports.flatMap(({ orderId }) => [
      needRow(orders.byKey, orderId),
      needRow(orderRequests.byOpen, orderId, "cancel"),
      needRow(unrecognizedNumbers.byKey, orderId),
    ]),
};

/** Returns an empty list for a command that is not listed. */
export function needsOf<Name extends CommandName>(
  name: Name,
  input: CommandInput<Name>,
): readonly Need[] {
  return needs[name]?.(input) ?? [];
}

function ofOrder(order: PlaceOrder): Need[] {
  return [needRow(keys.byKey, order.keyId), ...ofPlacing(order)];
}

function ofOrders({ keyId, entries }: CommandInput<"placeOrders">): Need[] {
  const placed = entries.flatMap((entry) => ("order" in entry ? ofPlacing(entry.order) : []));
  return [needRow(keys.byKey, keyId), ...placed];
}

function ofPlacing({ resellerAccount, service, reference = null }: PlaceOrder): Need[] {
  return [
    needLock(resellerAccount),
    needRow(users.byKey, resellerAccount),
    needRow(services.byKey, service),
    needRow(grants.byKey, service, resellerAccount),
    needNumbers(orders),
    needNumbers(transfers),
    ...(reference === null ? [] : [needRow(orders.byReference, resellerAccount, reference)]),
  ];
}

function ofRecharge({ keyId, resellerAccount, username }: Recharge): Need[] {
  return [
    needLock(resellerAccount),
    needRow(keys.byKey, keyId),
    needRow(users.byUsername, username),
    needNumbers(transfers),
  ];
}

function ofClaim(resellerAccount: number, { key }: { key: string }): Need[] {
  return [
    needLock(resellerAccount),
    needRow(idempotency.byReseller, resellerAccount, key),
    needRow(uptime.byKey, 1),
    needNumbers(idempotency),
  ];
}

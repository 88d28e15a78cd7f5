// Mails to the members of a reseller about its balance and its orders, in the transaction of the change.

import { fallsBelow } from "../../domain/webhooks/webhook-events.ts";
import { findPortalSettings } from "../../db/members/members.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Tx } from "../../db/port/port.ts";
import type { Context } from "../batch/context.ts";
import { queueMail } from "./mails.ts";

/** Queues mails if the balance falls below the threshold of the portal. Each crossing sends each member one mail. */
export function mailLowBalance(
  tx: Tx,
  account: number,
  { before, after }: { before: bigint; after: bigint },
  context: Context,
): void {
  const { lowBalanceMicros: threshold } = findPortalSettings(tx, account);
  if (threshold === null || !fallsBelow(before, after, threshold)) return;
  const data = { balanceMicros: String(after), thresholdMicros: threshold };
  queueMail(tx, { kind: "low_balance", to: { account }, data }, context);
}

/** Queues mails about an order that has ended with a refund. `order`: after the refund. */
export function mailRefund(tx: Tx, order: Order, refundMicros: number, context: Context): void {
  if (refundMicros === 0) return;
  const { resellerAccount: account, orderId, status } = order;
  const data = { orderId, service: order.serviceName, status, refundMicros, at: context.now };
  queueMail(tx, { kind: "order_refund", to: { account }, data }, context);
}

// Orders: placed against the balance, then moved by the state table. docs/specification.md#order-transitions.

import { Refusal, refusal } from "../domain/errors.ts";
import { type Actor, refuseDebitAboveBalance, SALES_ACCOUNT } from "../domain/ledger.ts";
import {
  chargeMicros,
  decideTransition,
  type OrderStatus,
  refuseChargeAboveLimit,
  refuseProgress,
} from "../domain/orders.ts";
import { refuseOperatorTransition } from "../domain/deliveries.ts";
import type { Tx } from "../db/connection.ts";
import { postTransfer } from "../db/ledger.ts";
import {
  findOrder,
  findOrderByReference,
  insertOrder,
  type Order,
  updateOrder,
} from "../db/orders.ts";
import { findOpenService, type OpenService } from "../db/services.ts";
import { balanceOf } from "../db/users.ts";
import { audit, orderFacts } from "./audit.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { applyTransition } from "./order-transitions.ts";

export interface PlaceOrder {
  resellerAccount: number;
  keyId: string;
  service: string;
  /** Trimmed, 1 to LINK_LENGTH_LIMIT UTF-16 units, no control characters. */
  link: string;
  /** Whole, 1 to QUANTITY_LIMIT. */
  quantity: number;
  /** Unique among the reseller's orders; null or absent when none was given. */
  reference?: string | null;
}

/** Refuses what requireCaller refuses, then what createOrder refuses. */
export function placeOrder(tx: Tx, command: PlaceOrder, context: Context): Order {
  requireCaller(tx, command.keyId, "order", context);
  return createOrder(tx, command, context);
}

/**
 * Charges the reseller's balance and creates the order, both or neither. The caller has been checked.
 * Refuses, in this order: reference_taken (whatever has become of the service since), service_not_found, quantity_below_minimum, quantity_above_maximum,
 * insufficient_balance, charge_too_large. docs/specification.md#precedence, step 13.
 */
export function createOrder(tx: Tx, command: PlaceOrder, context: Context): Order {
  const { resellerAccount, quantity, reference = null } = command;
  // First: who sends an order twice wants the one that is there, even if the service or the balance has gone since.
  refuseTakenReference(tx, resellerAccount, reference);
  const service = findOpenService(tx, resellerAccount, command.service);
  if (!service) throw refusal("service_not_found");
  const { min, max } = service;
  if (quantity < min) throw new Refusal("quantity_below_minimum", { min });
  if (quantity > max) throw new Refusal("quantity_above_maximum", { max });
  const charge = chargeMicros(service.priceMicros, service.per, quantity);
  refuseDebitAboveBalance(balanceOf(tx, resellerAccount), charge);
  refuseChargeAboveLimit(charge);
  // From here on the order is placed.
  const order = insertOrder(tx, {
    id: context.createId(),
    resellerAccount,
    serviceId: service.id,
    serviceName: service.name,
    priceMicros: service.priceMicros,
    per: service.per,
    link: command.link,
    quantity,
    chargeMicros: charge,
    remains: quantity,
    createdAt: context.now,
    ...initialDelivery(service, context),
    reference,
  });
  postTransfer(tx, {
    debitAccount: resellerAccount,
    creditAccount: SALES_ACCOUNT,
    amountMicros: charge,
    kind: "order",
    orderId: order.orderId,
    actor: { keyId: command.keyId, operator: null },
    note: null,
    createdAt: context.now,
  });
  return order;
}

/** Refuses: reference_taken. */
function refuseTakenReference(tx: Tx, resellerAccount: number, reference: string | null): void {
  if (reference === null) return;
  const order = findOrderByReference(tx, resellerAccount, reference);
  if (order) throw new Refusal("reference_taken", { order });
}

export interface TransitionOrder {
  /** Either id of the order. */
  id: string;
  to: Exclude<OrderStatus, "PENDING" | "PROCESSING">;
  /** Whole, not negative; for PARTIAL only. */
  remains?: number;
  note: string | null;
  actor: Actor;
}

/**
 * The operator moves an order by the state table and refunds what the move gives back, both or neither.
 * Refuses: order_not_found, order_transition_illegal, order_being_sent, remains_above_quantity.
 */
export function transitionOrder(tx: Tx, command: TransitionOrder, context: Context): Order {
  const order = requireOrder(tx, command.id);
  refuseOperatorTransition(order, command.to);
  const move = decideTransition(order, command.to, command.remains);
  // From here on the order moves.
  return applyTransition(tx, order, move, { actor: command.actor, note: command.note }, context);
}

export interface ProgressOrder {
  /** Either id of the order. */
  id: string;
  /** Whole, not negative; null leaves it as it is. */
  startCount: number | null;
  remains: number | null;
  actor: Actor;
}

/** Notes how far a delivery is. Refuses: order_not_found, order_not_processing, remains_above_quantity. */
export function progressOrder(tx: Tx, command: ProgressOrder, context: Context): Order {
  const order = requireOrder(tx, command.id);
  refuseProgress(order, command.remains);
  const progressed = {
    ...order,
    startCount: command.startCount ?? order.startCount,
    remains: command.remains ?? order.remains,
  };
  updateOrder(tx, progressed);
  audit(tx, context, {
    actor: command.actor,
    action: "order.progress",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: orderFacts(order),
    after: orderFacts(progressed),
  });
  return progressed;
}

/** Where a new order stands: with the operator at once, or first in line for its provider. */
function initialDelivery({ providerId, providerService }: OpenService, { now }: Context) {
  return providerId === null
    ? {
        status: "PROCESSING" as const,
        placement: "manual" as const,
        providerId,
        providerService,
        nextSubmitAt: null,
      }
    : {
        status: "PENDING" as const,
        placement: "queued" as const,
        providerId,
        providerService,
        nextSubmitAt: now,
      };
}

/** Refuses: order_not_found. */
export function requireOrder(tx: Tx, id: string): Order {
  const order = findOrder(tx, id);
  if (!order) throw refusal("order_not_found");
  return order;
}

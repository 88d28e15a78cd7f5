// Orders: placing one charges the reseller's balance; the operator may change its status or its progress.
// docs/specification/endpoints.md#post-orders, #order-transitions.

import { attempt, Refusal, refusal, type RefusalCode } from "../../domain/values/error-table.ts";
import type { Claim } from "../../domain/values/idempotency.ts";
import { type Actor, refuseDebitAboveBalance, salesAccount } from "../../domain/ledger/ledger.ts";
import {
  decideTransition,
  type OrderTransition,
  refuseProgress,
  withProgress,
} from "../../domain/orders/order-transitions.ts";
import type { Micros } from "../../domain/ledger/money.ts";
import { type AskedOrder, orderTerms } from "../../domain/orders/order-fields.ts";
import { chargeMicros, refuseChargeAboveLimit } from "../../domain/orders/charges.ts";
import type { OperatorTarget } from "../../domain/orders/order-statuses.ts";
import {
  type Delivery,
  newDelivery,
  refuseOperatorTransition,
} from "../../domain/delivery/deliveries.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { type CallerTexts, callerTexts, orderStatus } from "../../domain/orders/order-members.ts";
import { orderResponse } from "../../domain/orders/responses.ts";
import { isTest, parseMagicLink, SANDBOX_PROVIDER } from "../../domain/orders/sandbox.ts";
import {
  type Need,
  needLock,
  needNumbers,
  needRow,
  type Reader,
  type Tx,
} from "../../db/port/port.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { findOrder, insertOrder, type Order, updateOrder } from "../../db/orders/orders.ts";
import { findOrderByReference } from "../../db/orders/public-orders.ts";
import { listedRoute } from "../../db/catalogue/service-routes.ts";
import { findOpenService, type OpenService, type Payer } from "../../db/catalogue/services.ts";
import { grants, services } from "../../db/tables/catalogue.ts";
import type { IdempotencyRecord } from "../../db/tables/database.ts";
import { transfers } from "../../db/tables/ledger.ts";
import { orders } from "../../db/tables/orders.ts";
import { keys, users } from "../../db/tables/users.ts";
import { audit, orderFacts } from "../batch/audit.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { needsOfClaim, once, type Outcome } from "../batch/idempotency.ts";
import type { OrderLimits } from "../../domain/users/reseller-limits.ts";
import {
  beginCheck,
  countOperatorOrder,
  countOrder,
  type LimitCheck,
  needsOfLimits,
  refuseByCheck,
} from "../users/reseller-limits.ts";
import { applyTransition } from "./order-transitions.ts";
import { recordDebitEvents, recordProgressEvent } from "../webhooks/webhook-events.ts";

/** The terms of a new order. `reference` must be unique among the reseller's orders. */
export interface NewOrderTerms extends AskedOrder, Partial<CallerTexts> {
  resellerAccount: number;
  service: string;
  /** Trimmed, 1 to LINK_LENGTH_LIMIT UTF-16 units, no control characters. */
  link: string;
}

export interface PlaceOrder extends NewOrderTerms {
  keyId: string;
  /** The reseller's limits; absent: none. They are read with the key: docs/specification/users.md#reseller-limits. */
  limits?: OrderLimits;
}

/** Who places an order, and what only the operator chooses. */
export interface Placing {
  actor: Actor;
  /** Absent: the reseller's price of the service now. */
  price?: Pick<OpenService, "priceMicros" | "per">;
  /** The route to begin with; absent: the service's first one. */
  route?: Route;
  /** The charge that the operator confirmed; absent: whatever it is now. */
  chargeMicros?: number;
  /** The limits of the reseller; absent: none applies. */
  check?: LimitCheck | undefined;
}

/** Returns the placing by a key. */
export function byKey(keyId: string, check?: LimitCheck): Placing {
  return { actor: { keyId, operator: null }, check };
}

/** Returns the placing of a command with one order. Must come before its first write. */
function byKeyOf(tx: Tx, { keyId, resellerAccount, limits }: PlaceOrder, { now }: Context) {
  return byKey(keyId, beginCheck(tx, resellerAccount, limits, 1, now));
}

/** Places an order. Refuses what requireCaller refuses, then what createOrder refuses. */
export function placeOrder(tx: Tx, command: PlaceOrder, context: Context): Order {
  requireCaller(tx, command.keyId, "order", context);
  return createOrder(tx, command, byKeyOf(tx, command, context), context);
}

/**
 * Places an order like placeOrder. Returns the body of its 200 as text, unless the response depends on a provider. A
 * writer thread makes this text beside the main thread, which needs no JSON of the order. Gain: processor time of the
 * main thread × 0.87 (one reseller) and 0.90 (16), orders/s × 1.04.
 */
export function placeOrderForResponse(
  tx: Tx,
  command: PlaceOrder,
  context: Context,
): string | Order {
  const order = placeOrder(tx, command, context);
  return order.status === "PENDING" ? order : JSON.stringify(orderResponse(order));
}

export function needsOfOrder(order: PlaceOrder): Need[] {
  return [needRow(keys.byKey, order.keyId), ...needsOfPlacing(order)];
}

/** Returns the needs of an order except its key: all orders of a request have the same key. */
export function needsOfPlacing({
  resellerAccount,
  service,
  reference = null,
  limits,
}: PlaceOrder): Need[] {
  return [
    needLock(resellerAccount),
    needRow(users.byKey, resellerAccount),
    needRow(services.byKey, service),
    needRow(grants.byKey, service, resellerAccount),
    needNumbers(orders),
    needNumbers(transfers),
    ...needsOfLimits(resellerAccount, limits),
    ...(reference === null ? [] : [needRow(orders.byReference, resellerAccount, reference)]),
  ];
}

export interface PlaceOrderOnce {
  order: PlaceOrder;
  claim: Claim;
}

/** Runs placeOrder by `once`. docs/specification/http.md#idempotency-record. */
export function placeOrderOnce(tx: Tx, command: PlaceOrderOnce, context: Context): Outcome<Order> {
  const { resellerAccount, keyId } = command.order;
  const claimant = { keyId, resellerAccount, permission: "order", claim: command.claim } as const;
  const run = () => {
    const order = createOrder(tx, command.order, byKeyOf(tx, command.order, context), context);
    // The response to an order that is submitted to a provider depends on the outcome.
    const body = order.status === "PENDING" ? null : orderResponse(order);
    return { result: order, effect: { orderId: order.orderId }, body };
  };
  const current = ({ orderId }: IdempotencyRecord) => {
    const order = findOrder(tx, String(orderId));
    if (!order)
      throw new Error(`an idempotency record refers to order ${orderId}, which is missing`);
    return order;
  };
  try {
    return once(tx, claimant, { run, current }, context);
  } catch (error) {
    if (error instanceof Refusal && error.code === "idempotency_key_reused") {
      refuseFields(tx, command.order);
    }
    throw error;
  }
}

/**
 * Runs placeOrderOnce. Returns the body of the first 200 as text, as placeOrderForResponse does. Gain: processor time of the main
 * thread × 0.97 with 1 and 16 resellers.
 */
export function placeOrderOnceForResponse(
  tx: Tx,
  command: PlaceOrderOnce,
  context: Context,
): string | Outcome<Order> {
  const outcome = placeOrderOnce(tx, command, context);
  return outcome.response && !outcome.replayed ? outcome.response.body : outcome;
}

export function needsOfOrderOnce({ order, claim }: PlaceOrderOnce): Need[] {
  return [...needsOfOrder(order), ...needsOfClaim(order.resellerAccount, claim)];
}

/**
 * Reports a malformed body even if the Idempotency-Key was used before. Needs the service, because the required fields
 * depend on it.
 */
function refuseFields(tx: Tx, order: PlaceOrder): void {
  const { resellerAccount } = order;
  const refused = attempt(() => {
    const payer = payerOf(tx, tx.row(users.byKey, resellerAccount)!);
    const service = findOpenService(tx, payer, order.service);
    if (!service) throw notFound(order);
    return orderTerms(service, order);
  });
  if (refused instanceof Refusal && FIELD_REFUSALS.has(refused.code)) throw refused;
}

/** Returns the user whose prices apply: for a test account, its reseller. */
function payerOf(reader: Reader, reseller: Payer & { testOf: number | null }): Payer {
  return reseller.testOf === null ? reseller : reader.row(users.byKey, reseller.testOf)!;
}

const FIELD_REFUSALS: ReadonlySet<RefusalCode> = new Set(["field_missing", "field_invalid"]);

/**
 * Decides what a new order is and costs, and refuses what cannot be ordered. Refuses, in this order: reference_taken,
 * service_not_found, what orderTerms refuses, catalogue_changed for a charge that is no longer the confirmed one,
 * insufficient_balance, charge_too_large, what refuseByCheck refuses.
 * docs/specification/http.md#precedence, step 13.
 */
export function decideOrder(
  reader: Reader,
  command: NewOrderTerms,
  { price, route, chargeMicros: confirmed, check }: Placing,
  now: number,
) {
  const { resellerAccount, reference = null } = command;
  // First, because a retry must get the existing order even if its service or the balance is gone by now.
  refuseTakenReference(reader, resellerAccount, reference);
  const reseller = reader.row(users.byKey, resellerAccount)!;
  const service = findOpenService(reader, payerOf(reader, reseller), command.service);
  if (!service) throw notFound(command);
  const { quantity, extra } = orderTerms(service, command);
  const { priceMicros, per } = price ?? service;
  const charge = chargeMicros(priceMicros, per, quantity);
  if ((confirmed ?? charge) !== charge) throw refusal("catalogue_changed");
  refuseDebitAboveBalance(reseller.balanceMicros, charge);
  refuseChargeAboveLimit(charge);
  if (check) refuseByCheck(check, reseller, charge, now);
  if (isTest(reseller)) refuseBalanceByMagicLink(command.link);
  const delivery = isTest(reseller)
    ? newDelivery(SANDBOX_PROVIDER, service.id, now)
    : initialDelivery(
        route ?? (service.routeDelisted ? listedRoute(reader, service) : service),
        now,
      );
  return { reseller, service, quantity, extra, priceMicros, per, charge, delivery };
}

/**
 * Charges the reseller's balance and creates the order, both or neither. The caller has been checked. Refuses what
 * decideOrder refuses.
 */
export function createOrder(
  tx: Tx,
  command: NewOrderTerms,
  placing: Placing,
  context: Context,
): Order {
  const { resellerAccount } = command;
  const decided = decideOrder(tx, command, placing, context.now);
  const { reseller, service, quantity, extra, priceMicros, per, charge, delivery } = decided;
  // Nothing is refused from here on.
  const order = insertOrder(
    tx,
    {
      id: context.createId(),
      resellerAccount,
      serviceId: service.id,
      serviceName: service.name,
      priceMicros,
      per,
      link: command.link,
      quantity,
      chargeMicros: charge,
      remains: quantity,
      createdAt: context.now,
      extra,
      status: delivery ? "PENDING" : "PROCESSING",
      ...callerTexts(command),
    },
    delivery,
  );
  postTransfer(tx, {
    debitAccount: resellerAccount,
    creditAccount: salesAccount(isTest(reseller)),
    amountMicros: charge,
    kind: "order",
    orderId: order.orderId,
    actor: placing.actor,
    note: null,
    createdAt: context.now,
  });
  if (placing.check) countOrder(tx, resellerAccount, placing.check);
  else if (placing.actor.keyId === null) countOperatorOrder(tx, resellerAccount);
  recordDebitEvents(tx, reseller, charge, context);
  return order;
}

/** Reports the missing quantity instead of "service not found", so that callers cannot probe which types exist. */
function notFound({ quantity, given }: AskedOrder): Refusal {
  const isPlain = quantity === null && given === undefined;
  return isPlain
    ? new Refusal("field_missing", { field: "quantity" })
    : refusal("service_not_found");
}

/** Refuses a reference that an order of the reseller has. Refuses: reference_taken. */
function refuseTakenReference(
  reader: Reader,
  resellerAccount: number,
  reference: string | null,
): void {
  if (reference === null) return;
  const order = findOrderByReference(reader, resellerAccount, reference);
  if (order) throw new Refusal("reference_taken", { order: orderStatus(order) });
}

export interface OrderChange {
  to: OperatorTarget;
  /** Whole, not negative; for PARTIAL only. */
  remains?: number;
  /** The refund that the operator confirmed; absent: whatever it is now. */
  refundMicros?: Micros;
  /** Shown to the reseller with the refund. */
  publicNote?: string | null;
}

export interface TransitionOrder extends OrderChange {
  /** Either id of the order. */
  id: string;
  note: string | null;
  actor: Actor;
}

/**
 * Decides a transition by the operator. Refuses: order_transition_illegal, order_being_sent, remains_above_quantity,
 * order_changed, nothing_refunded.
 */
export function decideOperatorTransition(
  order: Order,
  { to, remains, refundMicros: confirmed, publicNote = null }: OrderChange,
): OrderTransition {
  refuseOperatorTransition(order, to);
  const transition = decideTransition(order, to, remains);
  const { refundMicros } = transition;
  if ((confirmed ?? refundMicros) !== refundMicros) throw refusal("order_changed");
  if (publicNote !== null && refundMicros === 0) throw refusal("nothing_refunded");
  return transition;
}

/**
 * Writes the operator's transition of an order and its refund, both or neither. Refuses: order_not_found, and what
 * decideOperatorTransition refuses.
 */
export function transitionOrder(tx: Tx, command: TransitionOrder, context: Context): Order {
  const order = requireOrder(tx, command.id);
  const transition = decideOperatorTransition(order, command);
  const { actor, note, publicNote = null } = command;
  return applyTransition(tx, order, transition, { actor, note, publicNote }, context);
}

export interface ProgressOrder {
  /** Either id of the order. */
  id: string;
  /** Whole, not negative; null leaves it as it is. */
  startCount: number | null;
  remains: number | null;
  actor: Actor;
}

/** Sets the start count and what remains. Refuses: order_not_found, order_not_processing, remains_above_quantity. */
export function progressOrder(tx: Tx, command: ProgressOrder, context: Context): Order {
  const order = requireOrder(tx, command.id);
  refuseProgress(order, command.remains);
  const startCount = command.startCount ?? order.startCount;
  const remains = command.remains ?? order.remains;
  const progressed = withProgress(order, startCount, remains);
  updateOrder(tx, progressed);
  audit(tx, context, {
    actor: command.actor,
    action: "order.progress",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: orderFacts(order),
    after: orderFacts(progressed),
  });
  if (progressed.sequence > order.sequence) recordProgressEvent(tx, progressed, context);
  return progressed;
}

/** Refuses a test order whose magic link asks for insufficient_balance. */
function refuseBalanceByMagicLink(link: string): void {
  if (parseMagicLink(link).refusal === "insufficient_balance")
    throw refusal("insufficient_balance");
}

export interface NoteOrder {
  /** Either id of the order. */
  id: string;
  note: string;
  actor: Actor;
}

/** Adds a note for other operators to the audit log. Changes nothing in the order. Refuses: order_not_found. */
export function noteOrder(tx: Tx, { id, note, actor }: NoteOrder, context: Context): null {
  const { orderId, resellerAccount: account } = requireOrder(tx, id);
  const subject = String(orderId);
  audit(tx, context, {
    actor,
    action: "order.note",
    subject,
    account,
    before: null,
    after: { note },
  });
  return null;
}

/** Returns the first state of the delivery; null for a manual service. */
function initialDelivery(
  { providerId, providerService }: Route | Pick<OpenService, "providerId" | "providerService">,
  now: number,
): Delivery | null {
  if (providerId === null || providerService === null) return null;
  return newDelivery(providerId, providerService, now);
}

/** Returns the order by either id. Refuses: order_not_found. */
export function requireOrder(reader: Reader, id: string): Order {
  const order = findOrder(reader, id);
  if (!order) throw refusal("order_not_found");
  return order;
}

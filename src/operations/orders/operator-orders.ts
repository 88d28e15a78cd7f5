// Orders that the operator places for resellers: new ones, and failed ones again. Also corrects links.
// docs/specification/orders.md#operator-orders.

import type { Actor } from "../../domain/ledger/ledger.ts";
import type { AskedOrder } from "../../domain/orders/order-fields.ts";
import {
  askedAgain,
  refuseLinkCorrection,
  refuseResend,
  type ResendPrice,
} from "../../domain/orders/operator-orders.ts";
import type { Route } from "../../domain/catalogue/service-routes.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { listRoutes } from "../../db/catalogue/service-routes.ts";
import { findService } from "../../db/catalogue/services.ts";
import type { Order } from "../../db/orders/orders.ts";
import type { Reader, Tx } from "../../db/port/port.ts";
import { orders, resentOrders } from "../../db/tables/orders.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireProvider } from "../providers/providers.ts";
import { requireUser } from "../users/users.ts";
import { SYSTEM_ACTOR } from "./order-transitions.ts";
import {
  createOrder,
  decideOrder,
  type NewOrderTerms,
  type Placing,
  requireOrder,
} from "./orders.ts";

/** The route that the operator chose; `provider: null`: the service's first one. */
export interface RouteChoice {
  provider: string | null;
  /** The service's id at the provider, if the service has several routes to it. */
  providerService: string | null;
}

/** What previewOrderFor decides. */
export interface OrderFor extends AskedOrder, RouteChoice {
  username: string;
  service: string;
  /** Trimmed, 1 to LINK_LENGTH_LIMIT UTF-16 units, no control characters. */
  link: string;
  /** Unique among the reseller's orders: a second order with the same reference is not placed. */
  reference: string | null;
  note: string | null;
}

/** What the operator confirmed, and who that is. */
interface Confirmed {
  /** The charge that the operator was shown. If the charge has changed since, the command is refused. */
  chargeMicros: number;
  actor: Actor;
}

export type PlaceOrderFor = OrderFor & Confirmed;

/**
 * Previews placeOrderFor: decides the order without placing it. Returns its charge. Refuses what placeOrderFor refuses.
 */
export function previewOrderFor(reader: Reader, command: OrderFor, now: number): Preview {
  const { terms, placing } = placingFor(reader, command, { actor: SYSTEM_ACTOR });
  return previewOf(reader, terms, placing, now);
}

/**
 * Places an order for a reseller, at its price and from its balance. Refuses user_not_found, what refuseNoReseller and
 * requireRoute refuse, then what createOrder refuses.
 */
export function placeOrderFor(tx: Tx, command: PlaceOrderFor, context: Context): Order {
  const { actor, chargeMicros, note } = command;
  const { terms, placing } = placingFor(tx, command, { actor, chargeMicros });
  tx.lock(terms.resellerAccount);
  const order = createOrder(tx, terms, placing, context);
  auditPlacing(tx, order, { actor, note }, context);
  return order;
}

function placingFor(reader: Reader, command: OrderFor, confirmed: Placing) {
  const { username, note: _, provider, providerService, ...asked } = command;
  const user = requireUser(reader, username);
  refuseNoReseller(user);
  const route = requireRoute(reader, asked.service, { provider, providerService });
  const terms: NewOrderTerms = { ...asked, resellerAccount: user.account };
  const placing: Placing = { ...confirmed, ...(route && { route }) };
  return { terms, placing };
}

/** What an order would charge, and the reseller's balance before it. */
export interface Preview {
  resellerAccount: number;
  serviceName: string;
  quantity: number;
  chargeMicros: number;
  balanceMicros: bigint;
}

function previewOf(reader: Reader, terms: NewOrderTerms, placing: Placing, now: number): Preview {
  const { service, quantity, charge, reseller } = decideOrder(reader, terms, placing, now);
  const { balanceMicros } = reseller;
  const { resellerAccount } = terms;
  return {
    resellerAccount,
    serviceName: service.name,
    quantity,
    chargeMicros: charge,
    balanceMicros,
  };
}

/** What previewResend decides. */
export interface Resending extends RouteChoice {
  /** Either id of the failed order. */
  id: string;
  price: ResendPrice;
  /** The corrected link; null: the link of the failed order. */
  link: string | null;
  note: string | null;
}

export type ResendOrder = Resending & Confirmed;

/** Previews resendOrder: decides the order without placing it. Refuses what resendOrder refuses. */
export function previewResend(reader: Reader, command: Resending, now: number): Preview {
  const { terms, placing } = resendingOf(reader, command, { actor: SYSTEM_ACTOR });
  return previewOf(reader, terms, placing, now);
}

/**
 * Places a failed order anew for its reseller, and records which order replaces it. Refuses order_not_found, what
 * refuseResend refuses, order_resent, what refuseNoReseller and requireRoute refuse, then what createOrder refuses.
 */
export function resendOrder(tx: Tx, command: ResendOrder, context: Context): Order {
  const { actor, chargeMicros, note } = command;
  // With the lock, a second command for the same order finds what the first one wrote.
  tx.lock(requireOrder(tx, command.id).resellerAccount);
  const { orderId, terms, placing } = resendingOf(tx, command, { actor, chargeMicros });
  const order = createOrder(tx, terms, placing, context);
  tx.insert(resentOrders, { orderId, resentAs: order.orderId });
  auditPlacing(tx, order, { actor, note, resends: orderId }, context);
  return order;
}

function resendingOf(reader: Reader, command: Resending, confirmed: Placing) {
  const failed = requireOrder(reader, command.id);
  const { orderId, resellerAccount, serviceId: service, priceMicros, per } = failed;
  refuseResend(failed, findService(reader, service)!.type);
  const resent = reader.row(resentOrders.byKey, orderId);
  if (resent) throw new Refusal("order_resent", { orderId, resentAs: resent.resentAs });
  refuseNoReseller(findUserByAccount(reader, resellerAccount)!);
  const route = requireRoute(reader, service, command);
  const link = command.link ?? failed.link;
  const terms: NewOrderTerms = { ...askedAgain(failed), resellerAccount, service, link };
  const price = command.price === "then" && { price: { priceMicros, per } };
  const placing: Placing = { ...confirmed, ...price, ...(route && { route }) };
  return { orderId, terms, placing };
}

export interface CorrectLink {
  /** Either id of the order. */
  id: string;
  link: string;
  actor: Actor;
}

/** Corrects the link of an order that no provider has yet. Refuses: order_not_found, order_link_fixed. */
export function correctLink(tx: Tx, { id, link, actor }: CorrectLink, context: Context): Order {
  const order = requireOrder(tx, id);
  refuseLinkCorrection(order);
  tx.update(orders, order, { link });
  audit(tx, context, {
    actor,
    action: "order.link",
    subject: String(order.orderId),
    account: order.resellerAccount,
    before: { link: order.link },
    after: { link },
  });
  return { ...order, link };
}

/** Refuses a user that could not place the order itself. Refuses: child_places_no_orders, user_inactive. */
function refuseNoReseller({ parentAccount, active }: User): void {
  if (parentAccount !== null) throw refusal("child_places_no_orders");
  if (!active) throw refusal("user_inactive");
}

/**
 * Returns the chosen route of a service; null without a choice. Refuses: provider_not_found, provider_inactive,
 * route_not_found, also for a route that its provider no longer lists.
 */
function requireRoute(
  reader: Reader,
  serviceId: string,
  { provider: name, providerService }: RouteChoice,
): Route | null {
  if (name === null) return null;
  const { providerId, active } = requireProvider(reader, name);
  if (!active) throw refusal("provider_inactive");
  const service = findService(reader, serviceId);
  const route = (service ? listRoutes(reader, service) : []).find(
    (each) =>
      each.providerId === providerId &&
      !each.delisted &&
      (providerService === null || each.providerService === providerService),
  );
  if (!route) throw refusal("route_not_found");
  return { providerId, providerService: route.providerService };
}

function auditPlacing(
  tx: Tx,
  { orderId, resellerAccount, serviceId, chargeMicros }: Order,
  { actor, note, resends = null }: { actor: Actor; note: string | null; resends?: number | null },
  context: Context,
): void {
  audit(tx, context, {
    actor,
    action: "order.place",
    subject: String(orderId),
    account: resellerAccount,
    before: null,
    after: { service: serviceId, chargeMicros, resends, note },
  });
}

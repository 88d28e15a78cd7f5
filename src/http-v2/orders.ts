// `add` places an order by the operation of POST /orders, `status` tells what became of orders.
// docs/specification.md#v2-add, #v2-status.

import type { Order } from "../db/orders.ts";
import { type Awaitable, type Reader, type Synchronous, TransientError } from "../db/port.ts";
import { findOrderByReference, listOrderOutcomes, type OrderOutcome } from "../db/public-orders.ts";
import { findOpenServiceByNumber, type OpenService } from "../db/services.ts";
import { IDS_LIMIT } from "../domain/limits.ts";
import { formatMicros } from "../domain/money.ts";
import { DRIP_FIELDS, type GivenFields } from "../domain/order-fields.ts";
import { isReference, type OrderStatus, QUANTITY_LIMIT, REFERENCE_FORM } from "../domain/orders.ts";
import { Refusal, refusal } from "../domain/refusals.ts";
import { typeTerms } from "../domain/service-types.ts";
import { panelTerms } from "../domain/services.ts";
import { invalidField, linkField } from "../http/body.ts";
import { LostResponse } from "../http/endpoint.ts";
import { isLostOrder, refuseAsAsked } from "../http/sandbox.ts";
import type { ActionDeps, PanelCall } from "./actions.ts";
import { INCORRECT_ORDER } from "./errors.ts";
import { type Fields, NUMBER } from "./fields.ts";

const DIGITS = /^\d+$/;
/** What decoding a form puts in the place of bytes that are no UTF-8. */
const REPLACEMENT = "\ufffd";

/**
 * Responds once the order is committed: panels place one after the other and must not wait for the provider. No other
 * member than `order`: a client takes any other for a failure and places the order again.
 */
export async function addOrder(deps: ActionDeps, { fields, key }: PanelCall): Promise<object> {
  const { resellerAccount } = key;
  const reference = referenceOf(fields);
  const { first, service } = await readBefore(deps, (reader) => ({
    first: reference ? findOrderByReference(reader, resellerAccount, reference) : undefined,
    service: openService(reader, key.testOf ?? resellerAccount, fields),
  }));
  if (first) return { order: first.orderId };
  if (!service) throw refusal("service_not_found");
  const link = linkOf(fields);
  const quantity = quantityOf(fields, service);
  if (reference === undefined) throw invalidField("reference", REFERENCE_FORM);
  const order = {
    resellerAccount,
    keyId: key.id,
    service: service.id,
    link,
    quantity,
    reference,
    ...extraFieldsOf(fields, service),
  };
  refuseAsAsked(key, [order]);
  try {
    const placed = await deps.writer.submit("placeOrder", order);
    beginSubmission(deps, placed);
    return isLostOrder(placed) ? new LostResponse() : { order: placed.orderId };
  } catch (error) {
    // Another request with the reference was committed since it was looked up.
    if (!(error instanceof Refusal) || error.code !== "reference_taken") throw error;
    return { order: (error as Refusal<"reference_taken">).details.order.orderId };
  }
}

/** Not awaited. Where it fails, the next tick of the delivery begins it. */
function beginSubmission(deps: ActionDeps, order: Order): void {
  deps.placed(order).catch((error: unknown) => {
    deps.log.warn(
      { order: order.orderId, error: String(error) },
      "a submission was not begun at once",
    );
  });
}

/** Nothing was written yet: where the database cannot be read, the same request may be sent again. */
async function readBefore<T>(
  { store }: ActionDeps,
  body: (reader: Reader) => Synchronous<T>,
): Promise<T> {
  try {
    return await store.read(body);
  } catch (error) {
    throw error instanceof TransientError ? refusal("service_unavailable") : error;
  }
}

/**
 * Null where none was given; undefined for what none can be. Bytes that are no UTF-8 cannot be distinguished once they were
 * decoded: two references would become one, and the second order would not be placed.
 */
function referenceOf(fields: Fields): string | null | undefined {
  const reference = fields.text("reference");
  if (reference === null) return fields.isList("reference") ? undefined : null;
  return isReference(reference) && !reference.includes(REPLACEMENT) ? reference : undefined;
}

/** Undefined too for a service that panels have no words for. */
function openService(reader: Reader, account: number, fields: Fields): OpenService | undefined {
  const [, digits] = NUMBER.exec(fields.text("service") ?? "") ?? [];
  const service = digits && findOpenServiceByNumber(reader, account, Number(digits));
  return service && panelTerms(service) ? service : undefined;
}

/** Refuses: field_missing, field_invalid. */
function linkOf(fields: Fields): string {
  const link = linkField({ link: fields.text("link") });
  if (link.includes(REPLACEMENT)) throw invalidField("link", "UTF-8");
  return link;
}

/**
 * Null for the types without one. What is a package to panels alone has the quantity that it is sold with.
 * Refuses: field_invalid, quantity_above_maximum.
 */
function quantityOf(fields: Fields, service: OpenService): number | null {
  const { type, per, min, max } = service;
  if (typeTerms(type).quantity !== "named") return null;
  if (per === "order") return min;
  const text = fields.text("quantity") ?? "";
  if (!DIGITS.test(text)) throw invalidField("quantity", "a whole number");
  if (Number(text) > QUANTITY_LIMIT) throw new Refusal("quantity_above_maximum", { max });
  return Number(text);
}

/** Panels send the fields of a drip-feed as 0 for an order without one. Refuses: field_invalid. */
function extraFieldsOf(fields: Fields, { type }: OpenService): { given?: GivenFields } {
  // An empty field is as good as absent here, so one that may be empty is so where it is absent.
  const given: Record<string, string | number> =
    type === "web_traffic" ? { google_keyword: "", referring_url: "" } : {};
  const isFed = !/^0*$/.test(fields.text("runs") ?? "");
  const names = [...typeTerms(type).fields, ...(isFed ? DRIP_FIELDS : [])];
  for (const name of names) {
    const text = fields.text(name);
    if (text === null) continue;
    if (text.includes(REPLACEMENT)) throw invalidField(name, "UTF-8");
    given[name] = name === "runs" || name === "interval" ? numberOf(text) : text;
  }
  return Object.keys(given).length === 0 ? {} : { given };
}

/** What are no digits stays what it is, to be refused. */
function numberOf(text: string): string | number {
  return DIGITS.test(text) ? Number(text) : text;
}

export function getStatus({ store }: ActionDeps, { fields, key }: PanelCall): Awaitable<object> {
  const { resellerAccount } = key;
  const ids = fields.list("orders");
  if (ids.length > IDS_LIMIT) throw invalidField("orders", `at most ${IDS_LIMIT} orders`);
  if (ids.length > 0) {
    return store.read((reader) => {
      const statuses = listStatuses(reader, resellerAccount, ids);
      return Object.fromEntries(ids.map((id) => [id, statuses(id) ?? { error: INCORRECT_ORDER }]));
    });
  }
  const id = fields.text("order");
  if (id === null) throw refusal("order_not_found");
  return store.read((reader) => {
    const status = listStatuses(reader, resellerAccount, [id])(id);
    if (!status) throw refusal("order_not_found");
    return status;
  });
}

/** The status of each order by its id as it was sent; undefined where it is not one of the reseller's orders. */
function listStatuses(reader: Reader, resellerAccount: number, ids: readonly string[]) {
  const idOf = (sent: string) => NUMBER.exec(sent)?.[1] ?? sent;
  const orders = listOrderOutcomes(reader, ids.map(idOf));
  return (sent: string) => {
    const order = orders.get(idOf(sent));
    return order?.resellerAccount === resellerAccount ? statusOf(order) : undefined;
  };
}

const WORDS: Readonly<Record<OrderStatus, string>> = {
  PENDING: "Pending",
  PROCESSING: "In progress",
  COMPLETED: "Completed",
  PARTIAL: "Partial",
  CANCELLED: "Canceled",
  FAILED: "Canceled",
  REFUNDED: "Canceled",
};

/** Clients refund the remaining part of what they charged: all of it for an order that was undone. */
function statusOf(order: OrderOutcome) {
  const { quantity, chargeMicros, refundedMicros, status } = order;
  const word = WORDS[status];
  const remains = word === "Canceled" ? quantity : order.remains;
  return {
    charge: formatMicros(chargeMicros - refundedMicros),
    start_count: String(order.startCount),
    // A client takes one with nothing left to deliver for cancelled, without a refund.
    status: status === "PARTIAL" && remains === 0 ? WORDS.COMPLETED : word,
    remains: String(remains),
    currency: "USD",
  };
}

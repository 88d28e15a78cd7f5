// `add` places an order with the operation of POST /orders; `status` returns the states of orders.
// docs/specification/smm-api.md#v2-add, #v2-status.

import { REFERENCE } from "../../domain/values/kinds.ts";
import type { Order } from "../../db/orders/orders.ts";
import {
  type Awaitable,
  type Reader,
  type Synchronous,
  TransientError,
} from "../../db/port/port.ts";
import {
  findOrderByReference,
  listOrderOutcomes,
  type OrderOutcome,
} from "../../db/orders/public-orders.ts";
import { findOpenServiceByNumber, type OpenService } from "../../db/catalogue/services.ts";
import { IDS_LIMIT } from "../../domain/values/limits.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import {
  DRIP_FIELDS,
  type ExtraField,
  type GivenFields,
  givenFields,
  MAY_BE_EMPTY,
} from "../../domain/orders/order-fields.ts";
import { QUANTITY_LIMIT } from "../../domain/orders/orders.ts";
import { SMM_ORDER_WORDS } from "../../domain/orders/smm-words.ts";
import { Refusal, refusal } from "../../domain/values/error-table.ts";
import { typeTerms } from "../../domain/catalogue/service-types.ts";
import { smmTerms } from "../../domain/catalogue/services.ts";
import { invalidField, linkField } from "../read/body.ts";
import { LostResponse } from "../server/endpoint.ts";
import { isLostOrder, refuseByMagicLink } from "../api/sandbox.ts";
import type { ActionDeps, SmmCall } from "./call.ts";
import { INCORRECT_ORDER } from "./errors.ts";
import { type Fields, NUMBER } from "./fields.ts";

const DIGITS = /^\d+$/;
/** Replaces bytes that are not UTF-8 when a form is decoded. */
const REPLACEMENT = "\ufffd";

/**
 * Places an order. Responds once it is committed: panels place orders one after another and must not wait for the
 * provider. The response has only the member `order`: clients treat any other response as a failure and place the order
 * again.
 */
export async function addOrder(deps: ActionDeps, { fields, key }: SmmCall): Promise<object> {
  const { resellerAccount } = key;
  const reference = referenceOf(fields);
  const { first, service } = await readBefore(deps, (reader) => ({
    first: reference ? findOrderByReference(reader, resellerAccount, reference) : undefined,
    service: openService(reader, key.testOf ?? resellerAccount, fields),
  }));
  if (first) return { order: first.orderId };
  if (!service) throw refusal("service_not_found");
  const link = linkOf(fields, key);
  const quantity = quantityOf(fields, service);
  if (reference === undefined) throw invalidField("reference", REFERENCE.form);
  const limits = deps.limits.orderLimitsOf(key);
  const order = {
    resellerAccount,
    keyId: key.id,
    service: service.id,
    link,
    quantity,
    reference,
    ...extraFieldsOf(fields, service),
    ...(limits && { limits }),
  };
  refuseByMagicLink(key, [order]);
  try {
    const placed = await deps.writer.submit("placeOrder", order);
    beginSubmission(deps, placed);
    return isLostOrder(placed) ? new LostResponse() : { order: placed.orderId };
  } catch (error) {
    // Another request with the same reference was committed after the look-up.
    if (!(error instanceof Refusal) || error.code !== "reference_taken") throw error;
    return { order: (error as Refusal<"reference_taken">).details.order.orderId };
  }
}

/** Begins the submission without waiting for it. If that fails, the next tick of the delivery begins it. */
function beginSubmission(deps: ActionDeps, order: Order): void {
  deps.awaitProvider(order).catch((error: unknown) => {
    deps.log.warn(
      { order: order.orderId, error: String(error) },
      "a submission was not begun at once",
    );
  });
}

/** Reads before anything is written: if the database cannot be read, the same request may be sent again. */
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
 * Reads the reference: null if none was given, undefined if it is malformed. Bytes that are not UTF-8 all decode to
 * the same character: two references would become one, and the second order would not be placed.
 */
function referenceOf(fields: Fields): string | null | undefined {
  const reference = fields.text("reference");
  if (reference === null) return fields.isList("reference") ? undefined : null;
  const found = REFERENCE.read(reference);
  return "must" in found || reference.includes(REPLACEMENT) ? undefined : found.value;
}

/** Finds the service of an order; undefined also for a service that the terms of panels cannot describe. */
function openService(reader: Reader, account: number, fields: Fields): OpenService | undefined {
  const [, digits] = NUMBER.exec(fields.text("service") ?? "") ?? [];
  const service = digits && findOpenServiceByNumber(reader, account, Number(digits));
  return service && smmTerms(service) ? service : undefined;
}

/** Reads the link. Refuses: field_missing, field_invalid. */
function linkOf(fields: Fields, key: SmmCall["key"]): string {
  const link = linkField({ link: fields.text("link") }, key);
  if (link.includes(REPLACEMENT)) throw invalidField("link", "UTF-8");
  return link;
}

/**
 * Reads the quantity: null for service types without one. Panels see a service priced per order as a package, so its
 * only quantity is its minimum. Refuses: field_invalid, quantity_above_maximum.
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

/** Reads the extra fields. Without a drip-feed, panels send `runs` and `interval` as 0. Refuses: field_invalid. */
function extraFieldsOf(fields: Fields, { type }: OpenService): { given?: GivenFields } {
  const texts: Partial<Record<ExtraField, string>> = {};
  const hasDripFeed = !/^0*$/.test(fields.text("runs") ?? "");
  const names = [...typeTerms(type).fields, ...(hasDripFeed ? DRIP_FIELDS : [])];
  for (const name of names) {
    // Empty and absent mean the same here.
    const text = fields.text(name) ?? (MAY_BE_EMPTY.has(name) ? "" : null);
    if (text === null) continue;
    if (text.includes(REPLACEMENT)) throw invalidField(name, "UTF-8");
    texts[name] = text;
  }
  return givenFields(texts);
}

export function getStatus({ store }: ActionDeps, { fields, key }: SmmCall): Awaitable<object> {
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

/** Returns a look-up of statuses by order id as sent; undefined for an id that is not one of the reseller's orders. */
function listStatuses(reader: Reader, resellerAccount: number, ids: readonly string[]) {
  const idOf = (sent: string) => NUMBER.exec(sent)?.[1] ?? sent;
  const orders = listOrderOutcomes(reader, ids.map(idOf));
  return (sent: string) => {
    const order = orders.get(idOf(sent));
    return order?.resellerAccount === resellerAccount ? statusOf(order) : undefined;
  };
}

/**
 * Returns an order's status. Panels refund their own customers for `remains`, so a cancelled, failed or refunded order
 * reports its whole quantity as remaining.
 */
function statusOf(order: OrderOutcome) {
  const { quantity, chargeMicros, refundedMicros, status } = order;
  const word = SMM_ORDER_WORDS[status];
  const remains = word === "Canceled" ? quantity : order.remains;
  return {
    charge: formatMicros(chargeMicros - refundedMicros),
    start_count: String(order.startCount),
    // Some clients would treat Partial with 0 remaining as cancelled without a refund.
    status: status === "PARTIAL" && remains === 0 ? SMM_ORDER_WORDS.COMPLETED : word,
    remains: String(remains),
    currency: "USD",
  };
}

// `cancel`, `refill` and `refill_status`. docs/specification/smm-api.md#v2-requests.

import { listRequestStates } from "../../db/orders/order-requests.ts";
import type { Awaitable } from "../../db/port/port.ts";
import { IDS_LIMIT } from "../../domain/values/limits.ts";
import type { RequestKind } from "../../domain/orders/order-requests.ts";
import { SMM_REFILL_WORDS } from "../../domain/orders/smm-words.ts";
import { Refusal, type RefusalCode, refusal } from "../../domain/values/error-table.ts";
import { invalidField } from "../read/body.ts";
import { errorResponseOf, INTERNAL } from "../server/errors.ts";
import type { ActionDeps, SmmCall } from "./call.ts";
import { smmErrorOf, REFILL_NOT_FOUND } from "./errors.ts";
import { type Fields, NUMBER } from "./fields.ts";

/** The result for one id: its request, or why it was refused. */
type Requested = { request: { requestId: number } } | { refused: RefusalCode; details: unknown };

/** Requests cancellations. Returns a list even for one order, because clients accept no other form. */
export async function cancelOrders(deps: ActionDeps, call: SmmCall): Promise<object> {
  const ids = orderIdsIn(call.fields);
  const requests = await makeRequests(deps, call, "cancel", ids);
  return requests.map((requested, index) => ({
    order: shown(ids[index]!),
    cancel: "request" in requested ? 1 : { error: wordsOf(requested) },
  }));
}

/** Requests refills. A refill's number is the number of its request. */
export async function refillOrders(deps: ActionDeps, call: SmmCall): Promise<object> {
  const ids = orderIdsIn(call.fields);
  const requests = await makeRequests(deps, call, "refill", ids);
  const [first] = requests;
  if (!isMany(call.fields, "orders")) {
    if ("request" in first!) return { refill: String(first.request.requestId) };
    throw new Refusal(first!.refused, first!.details as never);
  }
  return requests.map((requested, index) => ({
    order: shown(ids[index]!),
    refill: "request" in requested ? requested.request.requestId : { error: wordsOf(requested) },
  }));
}

export function getRefillStatus(
  { store }: ActionDeps,
  { fields, key }: SmmCall,
): Awaitable<object> {
  // A missing id is treated as an unknown one.
  const ids = isMany(fields, "refills") ? listIn(fields, "refills") : [fields.text("refill") ?? ""];
  const numbers = ids.map((id) => Number(NUMBER.exec(id)?.[1] ?? 0));
  return store.read((reader) => {
    const found = listRequestStates(reader, numbers);
    const statuses = numbers.map((number) => {
      const request = found.get(number);
      const isOwn = request?.resellerAccount === key.resellerAccount && request.kind === "refill";
      return isOwn ? SMM_REFILL_WORDS[request.state] : { error: REFILL_NOT_FOUND };
    });
    if (isMany(fields, "refills")) {
      return statuses.map((status, index) => ({ refill: shown(ids[index]!), status }));
    }
    const [status] = statuses;
    return typeof status === "string" ? { status } : status!;
  });
}

/** Returns the ids in `orders`, or else the one in `order`. Refuses: field_invalid, order_not_found. */
function orderIdsIn(fields: Fields): string[] {
  const ids = listIn(fields, "orders");
  if (ids.length > 0) return ids;
  const id = fields.text("order");
  if (id === null) throw refusal("order_not_found");
  return [id];
}

function listIn(fields: Fields, many: string): string[] {
  const ids = fields.list(many);
  if (ids.length > IDS_LIMIT) throw invalidField(many, `at most ${IDS_LIMIT} ids`);
  return ids;
}

const isMany = (fields: Fields, many: string) => fields.list(many).length > 0;

/** Returns the id as a number if it is one, because clients compare it with theirs. */
function shown(id: string): number | string {
  const [, digits] = NUMBER.exec(id) ?? [];
  return digits === undefined ? id : Number(digits);
}

function makeRequests(
  { writer }: ActionDeps,
  { key }: SmmCall,
  kind: RequestKind,
  ids: readonly string[],
): Promise<Requested[]> {
  const { resellerAccount, id: keyId } = key;
  const named = ids.map((id) => NUMBER.exec(id)?.[1] ?? id.replaceAll("\0", "\ufffd"));
  return writer.submit("makeRequests", { resellerAccount, keyId, kind, ids: named });
}

function wordsOf({ refused, details }: Exclude<Requested, { request: unknown }>): string {
  const response = errorResponseOf(new Refusal(refused, details as never)) ?? INTERNAL;
  return (smmErrorOf(response) ?? smmErrorOf(INTERNAL)!).words;
}

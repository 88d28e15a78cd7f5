// Parses replies to `cancel`, `refill` and `refill_status`. Panels reply in several forms: for one order or for many,
// with the outcome as a number, a text or an object with an error. A reply that is neither yes nor no is unknown.

import * as v from "valibot";
import { isProviderOrder } from "../domain/delivery/deliveries.ts";
import { LongNumber } from "../domain/values/json-numbers.ts";
import type { RefillReport, RequestResult } from "../domain/orders/order-requests.ts";
import type { Reply } from "./call.ts";
import type { Mask } from "./mask.ts";
import type { RefillReply } from "./provider.ts";
import { mapInSlices, numberText, type Turn } from "./reply-json.ts";
import { WORD_LIMIT } from "./smm-api-replies.ts";

type JsonReply = Pick<Extract<Reply, { kind: "json" }>, "json" | "status">;

const errorText = v.pipe(v.string(), v.trim(), v.nonEmpty());
const answer = v.object({
  cancel: v.optional(v.unknown()),
  refill: v.optional(v.unknown()),
  error: v.optional(v.unknown()),
  order: v.optional(v.unknown()),
});
const withError = v.object({ error: errorText });
const refillEntry = v.object({ refill: v.union([v.string(), v.number(), v.instance(LongNumber)]) });
const statusEntry = v.object({ status: v.string(), error: v.optional(v.null()) });

/** Reads `[{"order":9,"cancel":1}]` or `{"order":9,"cancel":1}`. */
export function readCancel(reply: JsonReply, providerOrder: string, mask: Mask): RequestResult {
  return readAnswer(reply, providerOrder, mask, "cancel", (value) =>
    value === true || isNumber(value) ? { outcome: "accepted", refill: null } : null,
  );
}

/** Reads `{"refill":"1"}` or a list with one such entry. */
export function readRefill(reply: JsonReply, providerOrder: string, mask: Mask): RequestResult {
  return readAnswer(reply, providerOrder, mask, "refill", (value) =>
    isNumber(value) ? { outcome: "accepted", refill: numberText(value) } : null,
  );
}

function readAnswer(
  { json, status }: JsonReply,
  providerOrder: string,
  mask: Mask,
  name: "cancel" | "refill",
  accepted: (value: unknown) => RequestResult | null,
): RequestResult {
  const text = mask(JSON.stringify(json) ?? "nothing");
  const unknown = (why: string): RequestResult => ({
    outcome: "unknown",
    cause: `${why}: ${text}`,
  });
  if (status >= 500) return unknown(`HTTP ${status}`);
  // The request was for one order, so a list must have one entry.
  const entry: unknown = Array.isArray(json) && json.length === 1 ? json[0] : json;
  const parsed = Array.isArray(entry) ? null : v.safeParse(answer, entry);
  if (!parsed?.success) return unknown("a reply that is not an object");
  const { [name]: value = null, error = null, order = null } = parsed.output;
  if (order !== null && numberText(order) !== providerOrder) {
    return unknown("a reply about another order");
  }
  const refused = value === null ? errorIn({ error }) : error === null ? errorIn(value) : null;
  if (refused !== null) return { outcome: "refused", cause: mask(refused) };
  const result = error === null ? accepted(value) : null;
  return result ?? unknown("neither accepted nor refused");
}

function errorIn(value: unknown): string | null {
  const parsed = v.safeParse(withError, value);
  return parsed.success ? parsed.output.error : null;
}

function isNumber(value: unknown): boolean {
  return isProviderOrder(numberText(value));
}

/** Reads `{"status":"Completed"}` for one refill, a list for many. A refill that is missing gets no report. */
export async function readRefillReports(
  json: unknown,
  refills: readonly string[],
  mask: Mask,
  turn: Turn,
): Promise<RefillReply> {
  const reports = new Map<string, RefillReport>();
  if (Array.isArray(json)) {
    await mapInSlices(json as unknown[], turn, (entry) => {
      const named = v.safeParse(refillEntry, entry);
      if (!named.success) return;
      const refill = numberText(named.output.refill);
      if (refills.includes(refill)) reports.set(refill, reportOf(entry, mask));
    });
  } else if (refills.length === 1 && typeof json === "object" && json !== null) {
    reports.set(refills[0]!, reportOf(json, mask));
  }
  if (reports.size > 0) return { reports };
  return { failed: `no statuses: ${mask(JSON.stringify(json) ?? "nothing")}` };
}

function reportOf(entry: unknown, mask: Mask): RefillReport {
  const parsed = v.safeParse(statusEntry, entry);
  const text = mask(JSON.stringify(entry) ?? "nothing");
  const word =
    parsed.success && parsed.output.status.length <= WORD_LIMIT ? parsed.output.status : null;
  return { word, text };
}

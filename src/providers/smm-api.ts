// The client of the "API v2" that most panels offer: one URL, a form with `key` and `action`, a JSON reply. Errors too
// have status 200.

import type { RequestResult } from "../domain/orders/order-requests.ts";
import { type CallOptions, type Reply, REPLY_LIMIT_BYTES, type Send } from "./call.ts";
import { createMask, type Mask } from "./mask.ts";
import { type ProviderApi, ProviderFailure } from "./provider.ts";
import { nextTurn, type Turn } from "./reply-json.ts";
import {
  readBalance,
  readError,
  readManyReports,
  readOneReport,
  readSubmission,
  readServices,
} from "./smm-api-replies.ts";
import { readCancel, readRefill, readRefillReports } from "./smm-api-request-replies.ts";

const SERVICES_LIMIT_BYTES = 32 * 1024 * 1024;
/** Limit for a reply about up to STATUS_BATCH_LIMIT orders or refills. */
const STATUSES_LIMIT_BYTES = 256 * 1024;

export function smmApi(send: Send, key: string, turn: Turn = nextTurn): ProviderApi {
  const mask = createMask(key);
  const act = (action: string, form: Record<string, string>, options: CallOptions) =>
    send({ key, action, ...form }, options);

  /** Returns the JSON of a reply. Throws ProviderFailure if it cannot be used. */
  const ask = async (action: string, options: CallOptions): Promise<unknown> => {
    const reply = await act(action, {}, options);
    const failure = failureOf(reply, mask);
    if (failure !== null) throw new ProviderFailure(failure);
    return (reply as { json: unknown }).json;
  };

  /** Returns the result of a request that got no JSON reply. */
  const withoutReply = ({ failure, cause }: Extract<Reply, { kind: "failure" }>): RequestResult => {
    const isNotSent = failure === "not_sent" || failure === "not_called";
    return { outcome: isNotSent ? "not_sent" : "unknown", cause: mask(cause) };
  };

  return {
    async submit({ service, link, fields }, stop) {
      const form = { service, link, ...fields };
      const reply = await act("add", form, { stop, once: true });
      if (reply.kind === "json") return readSubmission(reply.json, reply.status, mask);
      const cause = mask(reply.cause);
      if (reply.failure === "not_called")
        return { outcome: "not_sent", cause, providerNotCalled: true };
      return { outcome: reply.failure === "not_sent" ? "not_sent" : "unknown", cause };
    },

    async status(providerOrders, stop) {
      const [only] = providerOrders;
      const isOne = providerOrders.length === 1;
      const form: Record<string, string> = isOne
        ? { order: only! }
        : { orders: providerOrders.join(",") };
      const limitBytes = isOne ? REPLY_LIMIT_BYTES : STATUSES_LIMIT_BYTES;
      const reply = await act("status", form, { stop, limitBytes });
      if (reply.kind === "failure") {
        return { failed: mask(reply.cause), answered: reply.failure === "unreadable" };
      }
      if (reply.status >= 400) return { failed: `HTTP ${reply.status}`, answered: true };
      if (isOne) return readOneReport(reply.json, only!, mask);
      return readManyReports(reply.json, providerOrders, mask, turn);
    },

    async cancel({ providerOrder }, stop) {
      const reply = await act("cancel", { orders: providerOrder }, { stop, once: true });
      return reply.kind === "json" ? readCancel(reply, providerOrder, mask) : withoutReply(reply);
    },

    async refill({ providerOrder }, stop) {
      const reply = await act("refill", { order: providerOrder }, { stop, once: true });
      return reply.kind === "json" ? readRefill(reply, providerOrder, mask) : withoutReply(reply);
    },

    async refillStatus(refills, stop) {
      const [only] = refills;
      const isOne = refills.length === 1;
      const form: Record<string, string> = isOne
        ? { refill: only! }
        : { refills: refills.join(",") };
      const limitBytes = isOne ? REPLY_LIMIT_BYTES : STATUSES_LIMIT_BYTES;
      const reply = await act("refill_status", form, { stop, limitBytes });
      if (reply.kind === "failure") return { failed: mask(reply.cause) };
      if (reply.status >= 400) return { failed: `HTTP ${reply.status}` };
      return readRefillReports(reply.json, refills, mask, turn);
    },

    async services(stop, onBytes) {
      const limitBytes = SERVICES_LIMIT_BYTES;
      const options = { stop, limitBytes, isList: true, ...(onBytes ? { onBytes } : {}) };
      return readServices(await ask("services", options), mask, turn);
    },

    async balance(stop) {
      return readBalance(await ask("balance", { stop }), mask);
    },
  };
}

/** Returns why a reply cannot be used, or null if it can. */
function failureOf(reply: Reply, mask: Mask): string | null {
  if (reply.kind === "failure") return mask(reply.cause);
  const error = readError(reply.json);
  if (error !== null) return `it says: ${mask(error)}`;
  return reply.status >= 400 ? `HTTP ${reply.status}` : null;
}

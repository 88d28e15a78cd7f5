// The "API v2" that most panels share: one URL, a form with `key` and `action`, a JSON reply, errors with status 200.

import type { RequestResult } from "../domain/order-requests.ts";
import { type CallOptions, type Reply, type Send } from "./call.ts";
import { createMask, type Mask } from "./mask.ts";
import { type ProviderApi, ProviderFailure } from "./provider.ts";
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

export function smmApi(send: Send, key: string): ProviderApi {
  const mask = createMask(key);
  const act = (action: string, form: Record<string, string>, options: CallOptions) =>
    send({ key, action, ...form }, options);

  /** The JSON reply to a call of the command line. Throws ProviderFailure. */
  const ask = async (action: string, options: CallOptions): Promise<unknown> => {
    const reply = await act(action, {}, options);
    const failure = failureOf(reply, mask);
    if (failure !== null) throw new ProviderFailure(failure);
    return (reply as { json: unknown }).json;
  };

  /** Of a call without a reply that could be read. */
  const withoutReply = ({ failure, cause }: Extract<Reply, { kind: "failure" }>): RequestResult => {
    return { outcome: failure === "not_sent" ? "not_sent" : "unknown", cause: mask(cause) };
  };

  return {
    async add({ service, link, fields }, stop) {
      const form = { service, link, ...fields };
      const reply = await act("add", form, { stop, once: true });
      if (reply.kind === "json") return readSubmission(reply.json, reply.status, mask);
      const outcome = reply.failure === "not_sent" ? "not_sent" : "unknown";
      return { outcome, cause: mask(reply.cause) };
    },

    async status(providerOrders, stop) {
      const [only] = providerOrders;
      const isOne = providerOrders.length === 1;
      const form: Record<string, string> = isOne
        ? { order: only! }
        : { orders: providerOrders.join(",") };
      const reply = await act("status", form, { stop });
      if (reply.kind === "failure") {
        return { failed: mask(reply.cause), answered: reply.failure === "unreadable" };
      }
      if (reply.status >= 400) return { failed: `HTTP ${reply.status}`, answered: true };
      if (isOne) return readOneReport(reply.json, only!, mask);
      return readManyReports(reply.json, providerOrders, mask);
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
      const reply = await act("refill_status", form, { stop });
      if (reply.kind === "failure") return { failed: mask(reply.cause) };
      if (reply.status >= 400) return { failed: `HTTP ${reply.status}` };
      return readRefillReports(reply.json, refills, mask);
    },

    async services(stop, onBytes) {
      const limitBytes = SERVICES_LIMIT_BYTES;
      const options = { stop, limitBytes, ...(onBytes ? { onBytes } : {}) };
      return readServices(await ask("services", options), mask);
    },

    async balance(stop) {
      return readBalance(await ask("balance", { stop }), mask);
    },
  };
}

/** Why a reply cannot be used; null when it can. */
function failureOf(reply: Reply, mask: Mask): string | null {
  if (reply.kind === "failure") return mask(reply.cause);
  const error = readError(reply.json);
  if (error !== null) return `it says: ${mask(error)}`;
  return reply.status >= 400 ? `HTTP ${reply.status}` : null;
}

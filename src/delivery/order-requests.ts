// Sends requests to cancel or refill orders to one provider, each once when it is due, and asks about its refills.
// The queue is in the database; memory holds only the calls in flight.

import { listDueRequests } from "../db/orders/order-requests.ts";
import type { RequestResult } from "../domain/orders/order-requests.ts";
import { errorCode, Refusal } from "../domain/values/error-table.ts";
import type { CommandInput } from "../operations/batch/commands.ts";
import type { StartedRequest } from "../operations/delivery/order-request-deliveries.ts";
import { STATUS_BATCH_LIMIT } from "../providers/provider.ts";
import { submitBackoffMs, writeBackoffMs } from "../scheduling/backoff.ts";
import { sleep } from "../scheduling/clock.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import { REQUEST_NOT_SENT, REQUEST_UNKNOWN } from "./logged.ts";
import { type ProviderWorker, unknownAfter } from "./provider-worker.ts";
import { CALL_WITHIN_MS } from "./submission.ts";

/** Limit for the requests to one provider in flight. */
const REQUESTS_LIMIT = 4;
const TOO_LATE: RequestResult = {
  outcome: "not_sent",
  cause: `the call took more than ${CALL_WITHIN_MS / 1000} seconds to begin`,
  providerNotCalled: true,
};

export interface Requester {
  /** Sends the requests that are due, up to REQUESTS_LIMIT in flight, and asks about due refills. Never rejects. */
  begin(): Promise<void>;
  /** Whether a call for the request is under way. */
  isInFlight(requestId: number): boolean;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createRequester(worker: ProviderWorker): Requester {
  const { store, log, clock } = worker.deps;
  const inFlight = new Map<number, Promise<void>>();
  const failed = (error: unknown, fields: object = {}) =>
    log.error({ provider: worker.name, ...fields, error: String(error) }, "a request failed");

  const run = async (requestId: number) => {
    let again = true;
    try {
      await sendRequest(worker, requestId);
    } catch (error) {
      // A request that was being sent is marked unknown later, like a submission.
      again = false;
      failed(error, { request: requestId });
    } finally {
      inFlight.delete(requestId);
      worker.wake();
    }
    if (again) void beginning.run();
  };

  const beginDue = async () => {
    if (worker.stopping || inFlight.size >= REQUESTS_LIMIT) return;
    const { providerId } = worker;
    const now = clock.now();
    const due = await store.read((reader) =>
      listDueRequests(reader, providerId, now, REQUESTS_LIMIT * 2),
    );
    for (const requestId of due) {
      if (worker.stopping || inFlight.size >= REQUESTS_LIMIT) return;
      if (!inFlight.has(requestId)) inFlight.set(requestId, run(requestId));
    }
  };

  const beginning = oneAtATime(() => beginDue().catch((error: unknown) => failed(error)));
  const asking = oneAtATime(() => askRefills(worker).catch((error: unknown) => failed(error)));

  return {
    async begin() {
      void asking.run();
      await beginning.run();
    },
    isInFlight: (requestId) => inFlight.has(requestId),
    async idle() {
      await Promise.all([beginning.idle(), asking.idle()]);
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}

/** Sends one request, from its row in the database to its outcome. */
async function sendRequest(worker: ProviderWorker, requestId: number): Promise<void> {
  const { writer, settings, random, clock, serverId: server, log } = worker.deps;
  const { placeRetryMs, pollIntervalMs } = settings;
  const begunAt = clock.now();
  const start = { requestId, providerId: worker.providerId, server, placeRetryMs };
  const started = await writer.submit("startRequest", start);
  if (!started.send) return;
  // If the start took long, other servers may regard this process as dead: see submission.ts.
  const isTooLate = Math.abs(clock.now() - begunAt) > CALL_WITHIN_MS;
  const result = isTooLate ? TOO_LATE : await sendOnce(worker, started);
  const backoffMs = submitBackoffMs(started.tries, random);
  await finish(worker, { requestId, result, backoffMs, pollIntervalMs });
  const { outcome } = result;
  const fields = { provider: worker.name, order: started.orderId, request: requestId };
  const logged = "cause" in result ? { ...fields, cause: result.cause } : fields;
  worker.deps.onRequest?.(started.kind, outcome);
  if (outcome === "unknown") log.error(logged, REQUEST_UNKNOWN);
  else if (outcome === "refused") log.warn(logged, "the provider declined a request");
  else if (outcome === "not_sent") log.warn(logged, REQUEST_NOT_SENT);
}

/** Sends the request once. After an internal error in the call it is unknown whether it was sent. */
async function sendOnce(
  worker: ProviderWorker,
  { requestId, orderId, kind, providerOrder, link }: Extract<StartedRequest, { send: true }>,
): Promise<RequestResult> {
  try {
    return await worker.api[kind]({ providerOrder, requestId, link }, worker.stop.signal);
  } catch (error) {
    return unknownAfter(worker, orderId, error);
  }
}

/**
 * Stores the outcome. Retries until the database accepts it. If the process ends first, the request becomes unknown.
 */
async function finish(
  { deps, stop, name }: ProviderWorker,
  input: CommandInput<"finishRequest">,
): Promise<void> {
  const { writer, clock, random, log } = deps;
  let { result } = input;
  for (let tries = 0; ; tries += 1) {
    try {
      await writer.submit("finishRequest", { ...input, result });
      return;
    } catch (error) {
      if (stop.signal.aborted) throw error;
      const fields = { provider: name, request: input.requestId, error: String(error) };
      log.warn(fields, "the outcome of a request could not be stored yet");
      if (!(error instanceof Refusal) && errorCode(error) !== "outcome_unknown") {
        result = { outcome: "unknown", cause: "an internal error, see the log" };
      }
      await sleep(clock, writeBackoffMs(tries, random));
    }
  }
}

/** Asks about a batch of due refills. The next poll of each is already scheduled, whatever the reply. */
async function askRefills(worker: ProviderWorker): Promise<void> {
  const { writer, settings, random, log } = worker.deps;
  if (worker.stopping) return;
  const { providerId } = worker;
  const { pollIntervalMs } = settings;
  const due = await writer.submit("takeDueRefills", {
    providerId,
    limit: STATUS_BATCH_LIMIT,
    pollIntervalMs,
    jitter: random(),
  });
  if (due.length === 0) return;
  const refills = [...new Set(due.map(({ providerRefill }) => providerRefill))];
  const reply = await worker.api.refillStatus(refills, worker.stop.signal);
  if ("failed" in reply) {
    log.warn(
      { provider: worker.name, refills: refills.length, cause: reply.failed },
      "a poll failed",
    );
    return;
  }
  const reports = due.flatMap(({ requestId, providerRefill }) => {
    const report = reply.reports.get(providerRefill);
    return report ? [{ requestId, report }] : [];
  });
  const notices = await writer.submit("recordRefillReports", { providerId, reports });
  for (const { requestId, text } of notices) {
    const fields = { provider: worker.name, request: requestId, reported: text };
    log.warn(fields, "the reported status of a refill was rejected: the refill is unchanged");
  }
}

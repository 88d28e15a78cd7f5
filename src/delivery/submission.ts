// Submits the queued orders of one provider, longest waiting first, each once.
// The queue is in the database; memory holds only the attempts in flight.

import type { Order } from "../db/orders/orders.ts";
import {
  listDueOnProbation,
  listDueSubmissions,
  type OrderWithDelivery,
} from "../db/delivery/deliveries.ts";
import { getProvider } from "../db/providers/providers.ts";
import type { SubmissionResult } from "../domain/delivery/deliveries.ts";
import { upstreamFields } from "../domain/orders/order-fields.ts";
import { isOnProbation } from "../domain/providers/provider-pauses.ts";
import { errorCode, Refusal } from "../domain/values/error-table.ts";
import type { CommandInput } from "../operations/batch/commands.ts";
import type { FinishedAttempt } from "../operations/delivery/deliveries.ts";
import { sleep } from "../scheduling/clock.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import { NOT_SENT, SUBMISSION_UNKNOWN } from "./logged.ts";
import { type ProviderWorker, unknownAfter } from "./provider-worker.ts";
import { submitBackoffMs, writeBackoffMs } from "../scheduling/backoff.ts";

/** Limit for the submissions to one provider in flight. */
export const SUBMISSIONS_LIMIT = 32;

/**
 * Limit for the time between the start of an attempt and its call: a third of a server's lease. After a longer time the
 * call is not made, because other servers may regard this process as dead and have marked the attempt as unknown.
 */
export const CALL_WITHIN_MS = 10_000;
const TOO_LATE: SubmissionResult = {
  outcome: "not_sent",
  providerNotCalled: true,
  cause: `the attempt took more than ${CALL_WITHIN_MS / 1000} seconds to start`,
};

export interface Submitter {
  /** Starts the submissions that are due, up to SUBMISSIONS_LIMIT in flight. Never rejects. */
  begin(): Promise<void>;
  /** Whether an attempt of the order is under way. */
  isInFlight(orderId: number): boolean;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

/** Functions that are called after an attempt. */
export interface AttemptListener {
  /** Called if no other provider is tried now. The request that waits for the submission gets its response. */
  ended(order: Order): void;
  /** Called if another provider is tried now. */
  passedOn(order: Order): void;
}

export function createSubmitter(worker: ProviderWorker, listener: AttemptListener): Submitter {
  const { deps } = worker;
  const { store, log, clock } = deps;
  const inFlight = new Map<number, Promise<void>>();

  const run = async (orderId: number) => {
    let again = true;
    try {
      const { order, isPassedOn } = await submitOnce(worker, orderId);
      if (isPassedOn && !worker.stopping) listener.passedOn(order);
      else if (!isBeingSent(order) || worker.stopping) listener.ended(order);
    } catch (error) {
      // A queued order stays queued for the next tick. An order that was being sent is marked as unknown at the next
      // start.
      again = false;
      log.error(
        { provider: worker.name, order: orderId, error: String(error) },
        "submission failed",
      );
    } finally {
      inFlight.delete(orderId);
      worker.wake();
    }
    if (again) void beginning.run();
  };

  const beginning = oneAtATime(async () => {
    try {
      await beginDue();
    } catch (error) {
      log.error({ provider: worker.name, error: String(error) }, "the queue could not be read");
    }
  });

  const limit = () => {
    const { provider } = worker;
    return isOnProbation(provider, deps.settings.pauseAfter) ? 1 : SUBMISSIONS_LIMIT;
  };
  const beginDue = async () => {
    if (worker.stopping || inFlight.size >= limit()) return;
    // Orders in flight may still be queued in the database, so twice as many are read.
    const { providerId } = worker;
    const now = clock.now();
    const due = await store.read((reader) => {
      // Reads the provider anew, because a pause may have begun or ended since the worker last read it. During a pause
      // these orders are not sent: each takes another route, waits or expires, so their sequence does not matter.
      const isProbed = limit() === 1 && getProvider(reader, providerId).pausedAt === null;
      const list = isProbed ? listDueOnProbation : listDueSubmissions;
      return list(reader, providerId, now, SUBMISSIONS_LIMIT * 2);
    });
    for (const orderId of due) {
      if (worker.stopping || inFlight.size >= limit()) return;
      if (!inFlight.has(orderId)) inFlight.set(orderId, run(orderId));
    }
  };

  return {
    begin: () => beginning.run(),
    isInFlight: (orderId) => inFlight.has(orderId),
    async idle() {
      await beginning.idle();
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}

/** The order as committed, and whether another provider is tried now. */
interface Submitted {
  order: Order;
  isPassedOn: boolean;
}

/** Returns whether another server is sending the order. Call it only after this server's own attempt has ended. */
function isBeingSent({ status, delivery }: Order): boolean {
  return status === "PENDING" && delivery?.placement === "sending";
}

/** Submits an order once. A deactivated provider gets the order only if no other provider is left for it. */
async function submitOnce(worker: ProviderWorker, orderId: number): Promise<Submitted> {
  const passed = worker.provider.active ? null : await passOn(worker, orderId);
  return passed ?? attempt(worker, orderId);
}

/** Moves the order to the next provider. Returns null if none is left. */
async function passOn(worker: ProviderWorker, orderId: number): Promise<Submitted | null> {
  const { providerId, deps, name: provider } = worker;
  const passed = await deps.writer.submit("moveToNextRoute", { orderId, providerId });
  if (passed === null) return null;
  const { order, passedTo: next } = passed;
  if (next !== null) deps.log.info({ provider, order: orderId, next }, "passed on");
  return { order, isPassedOn: next !== null };
}

/** Makes one attempt, from its row to its outcome. */
async function attempt(worker: ProviderWorker, orderId: number): Promise<Submitted> {
  const { providerId, deps } = worker;
  const { writer, settings, random, clock, serverId: server, log, onSubmission } = deps;
  const { placeRetryMs } = settings;
  const begunAt = clock.now();
  const start = { orderId, providerId, server, placeRetryMs };
  const started = await writer.submit("startAttempt", start);
  const { tries } = started;
  if (!started.send) {
    const { order, isGivenUp, passedTo: next } = started;
    if (isGivenUp) {
      log.warn({ provider: worker.name, order: orderId, tries }, "given up and refunded");
      onSubmission?.(worker.name, "expired");
    }
    if (next !== null) log.info({ provider: worker.name, order: orderId, next }, "passed on");
    // The order has left this provider: another server got a refusal and moved it on.
    const isElsewhere = order.delivery!.providerId !== providerId;
    const isQueuedElsewhere = isElsewhere && order.delivery!.placement === "queued";
    return { order, isPassedOn: next !== null || isQueuedElsewhere };
  }
  const { attemptId, order } = started;
  const isTooLate = Math.abs(clock.now() - begunAt) > CALL_WITHIN_MS;
  const received = isTooLate ? TOO_LATE : await sendOnce(worker, order);
  const retryInMs = received.outcome === "not_sent" ? received.retryInMs : undefined;
  const backoffMs = retryInMs ?? submitBackoffMs(tries, random);
  // An outcome that is unknown only because this server is stopping says nothing about the provider.
  const pauseAfter = worker.stop.signal.aborted ? 0 : settings.pauseAfter;
  const input = { orderId, attemptId, result: received, placeRetryMs, backoffMs, pauseAfter };
  const { finished, result } = await finish(worker, input);
  logResult(worker, result, finished);
  onSubmission?.(worker.name, finished.held ? "not_sent" : result.outcome);
  return { order: finished.order, isPassedOn: finished.passedTo !== null };
}

/** Sends the order once. After an internal error in the call it is unknown whether it was sent. */
async function sendOnce(
  worker: ProviderWorker,
  order: OrderWithDelivery,
): Promise<SubmissionResult> {
  const { orderId, link, createdAt, delivery } = order;
  try {
    const service = delivery.providerService;
    const placed = { service, link, fields: upstreamFields(order), orderId, createdAt };
    return await worker.api.submit(placed, worker.stop.signal);
  } catch (error) {
    return unknownAfter(worker, orderId, error);
  }
}

/**
 * Stores the outcome and returns the result that was stored. Retries until the database accepts it. After an internal
 * error the attempt is stored as unknown, because an order must not stay `sending`. If the process ends first, the next
 * start marks the attempt as unknown.
 */
async function finish(
  worker: ProviderWorker,
  input: CommandInput<"finishAttempt">,
): Promise<{ finished: FinishedAttempt; result: SubmissionResult }> {
  const { writer, clock, random, log } = worker.deps;
  let { result } = input;
  for (let tries = 0; ; tries += 1) {
    try {
      return { finished: await writer.submit("finishAttempt", { ...input, result }), result };
    } catch (error) {
      if (worker.stop.signal.aborted) throw error;
      const fields = { provider: worker.name, order: input.orderId };
      if (error instanceof Refusal || errorCode(error) === "outcome_unknown") {
        // Tries again: storing an outcome twice changes nothing.
        log.warn(fields, "an outcome could not be stored yet");
      } else {
        log.error({ ...fields, error: String(error) }, "an outcome could not be stored");
        result = unrecorded(input.result);
      }
      await sleep(clock, writeBackoffMs(tries, random));
    }
  }
}

/** Returns an unknown result whose cause says what the outcome was, so that the operator can settle the order. */
function unrecorded(result: SubmissionResult): SubmissionResult {
  const what =
    result.outcome === "accepted"
      ? `accepted as ${result.providerOrder}`
      : `${result.outcome.replace("_", " ")} (${result.cause})`;
  return { outcome: "unknown", cause: `an internal error, see the log; the outcome was: ${what}` };
}

function logResult(
  worker: ProviderWorker,
  result: SubmissionResult,
  { order, sameNumberAs, late, passedTo, pausedAfter, held }: FinishedAttempt,
): void {
  const { log } = worker.deps;
  const next = passedTo === null ? {} : { next: passedTo };
  const fields = { provider: worker.name, order: order.orderId, ...next };
  if (pausedAfter !== undefined) {
    const paused = { provider: worker.name, unknownInRow: pausedAfter };
    log.error(paused, "submissions paused after consecutive unknown outcomes");
  }
  if (late !== null) logLate(worker, result, order, late);
  if (late === "ignored") return;
  switch (result.outcome) {
    case "unknown":
      log.error({ ...fields, cause: result.cause }, SUBMISSION_UNKNOWN);
      break;
    case "refused":
      if (held?.isFirst)
        log.error({ provider: worker.name }, "paused until the provider has funds");
      if (held) log.warn({ ...fields, cause: result.cause }, "not sent for lack of funds there");
      else if (result.outOfFunds) {
        log.error({ ...fields, cause: result.cause }, "refused for lack of funds at the provider");
      } else log.warn({ ...fields, cause: result.cause }, "the provider refused an order");
      break;
    case "not_sent":
      log.warn(
        { ...fields, cause: result.cause },
        passedTo === null ? NOT_SENT : "not sent, passed on",
      );
      break;
    case "accepted":
      if (sameNumberAs !== null) {
        const { providerOrder } = result;
        log.error(
          { ...fields, providerOrder, sameNumberAs },
          "duplicate order number from the provider",
        );
      }
  }
}

/** Logs an outcome that came after its attempt was marked unknown. */
function logLate(
  worker: ProviderWorker,
  result: SubmissionResult,
  { orderId, status, delivery }: Order,
  late: "applied" | "ignored",
): void {
  const { log } = worker.deps;
  const fields = { provider: worker.name, order: orderId, ...result };
  if (late === "applied") log.warn(fields, "a late outcome settled an unknown submission");
  else {
    const { placement } = delivery!;
    log.error(
      { ...fields, status, placement },
      "a late outcome was not applied: compare the order with the provider's",
    );
  }
}

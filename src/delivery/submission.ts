// Submission: takes the queued orders of one provider, longest waiting first, and sends each once.
// The queue is in the database; memory holds only the attempts in flight.

import type { Order } from "../db/orders.ts";
import { listDueSubmissions, type OrderWithDelivery } from "../db/deliveries.ts";
import type { SubmissionResult } from "../domain/deliveries.ts";
import { upstreamFields } from "../domain/order-fields.ts";
import { errorCode, Refusal } from "../domain/refusals.ts";
import type { CommandInput } from "../operations/commands.ts";
import type { FinishedAttempt } from "../operations/deliveries.ts";
import { sleep } from "./clock.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import type { ProviderWorker } from "./provider-worker.ts";
import { submitBackoffMs, writeBackoffMs } from "./backoff.ts";

/** Submissions to one provider that may be in flight at once. */
export const SUBMISSIONS_LIMIT = 32;

/**
 * An attempt that takes longer to start is not sent: this process may have been suspended until others took it for dead
 * and marked the attempt unknown. A third of a server's lease.
 */
export const CALL_WITHIN_MS = 10_000;
const TOO_LATE: SubmissionResult = {
  outcome: "not_sent",
  isUncalled: true,
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

/** What follows an attempt. */
export interface AttemptListener {
  /** Nothing more is tried at once: the request that waits for the submission gets its response. */
  ended(order: Order): void;
  /** Another provider is tried at once. */
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
      else listener.ended(order);
    } catch (error) {
      // A queued order stays queued for the next tick; one that was being sent is marked unknown at the next start.
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

  const beginDue = async () => {
    if (worker.stopping || inFlight.size >= SUBMISSIONS_LIMIT) return;
    // Orders in flight may still be queued in the database: read as many more.
    const { providerId } = worker;
    const now = clock.now();
    const due = await store.read((reader) =>
      listDueSubmissions(reader, providerId, now, SUBMISSIONS_LIMIT * 2),
    );
    for (const orderId of due) {
      if (worker.stopping || inFlight.size >= SUBMISSIONS_LIMIT) return;
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

/** The order as committed, and whether another provider is tried at once. */
interface Submitted {
  order: Order;
  isPassedOn: boolean;
}

/** One attempt, from its row in the database to its outcome; none at a provider that was deactivated while another is left. */
async function submitOnce(worker: ProviderWorker, orderId: number): Promise<Submitted> {
  return (worker.provider.active ? null : await pass(worker, orderId)) ?? attempt(worker, orderId);
}

/** Null: no other provider is left for it. */
async function pass(worker: ProviderWorker, orderId: number): Promise<Submitted | null> {
  const { providerId, deps, name: provider } = worker;
  const passed = await deps.writer.submit("passRoute", { orderId, providerId });
  if (passed === null) return null;
  const { order, passedTo: next } = passed;
  if (next !== null) deps.log.info({ provider, order: orderId, next }, "passed on");
  return { order, isPassedOn: next !== null };
}

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
    // Another server had it refused meanwhile.
    const isElsewhere = order.delivery!.providerId !== providerId;
    const isQueuedElsewhere = isElsewhere && order.delivery!.placement === "queued";
    return { order, isPassedOn: next !== null || isQueuedElsewhere };
  }
  const { attemptId, order } = started;
  const isTooLate = Math.abs(clock.now() - begunAt) > CALL_WITHIN_MS;
  const received = isTooLate ? TOO_LATE : await sendOnce(worker, order);
  const retryInMs = received.outcome === "not_sent" ? received.retryInMs : undefined;
  const backoffMs = retryInMs ?? submitBackoffMs(tries, random);
  const input = { orderId, attemptId, result: received, placeRetryMs, backoffMs };
  const { finished, result } = await finish(worker, input);
  logResult(worker, result, finished);
  onSubmission?.(worker.name, result.outcome);
  return { order: finished.order, isPassedOn: finished.passedTo !== null };
}

/** An internal error while it is sent leaves open whether it was. */
async function sendOnce(
  worker: ProviderWorker,
  order: OrderWithDelivery,
): Promise<SubmissionResult> {
  const { orderId, link, createdAt, delivery } = order;
  try {
    const service = delivery.providerService;
    const placed = { service, link, fields: upstreamFields(order), orderId, createdAt };
    return await worker.api.add(placed, worker.stop.signal);
  } catch (error) {
    const fields = { provider: worker.name, order: orderId, error: String(error) };
    worker.deps.log.error(fields, "internal error in a call to a provider");
    return { outcome: "unknown", cause: "an internal error in the call, see the log" };
  }
}

/**
 * Stores the outcome, retried until the database accepts it. If an internal error keeps it out, the attempt is stored as
 * unknown: an order must not stay `sending`. If the process ends before that, the attempt is marked unknown at the next
 * start. Returns the result that was stored.
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
        // Stored twice, it changes nothing.
        log.warn(fields, "an outcome could not be stored yet");
      } else {
        log.error({ ...fields, error: String(error) }, "an outcome could not be stored");
        result = unrecorded(input.result);
      }
      await sleep(clock, writeBackoffMs(tries, random));
    }
  }
}

/** What the operator needs to settle an order whose outcome an internal error kept out of the database. */
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
  { order, sameNumberAs, late, passedTo }: FinishedAttempt,
): void {
  const { log } = worker.deps;
  const next = passedTo === null ? {} : { next: passedTo };
  const fields = { provider: worker.name, order: order.orderId, ...next };
  if (late !== null) logLate(worker, result, order, late);
  if (late === "ignored") return;
  switch (result.outcome) {
    case "unknown":
      log.error({ ...fields, cause: result.cause }, "submission unknown: settle it by hand");
      break;
    case "refused":
      if (result.outOfFunds) {
        log.error({ ...fields, cause: result.cause }, "refused for lack of funds at the provider");
      } else log.warn({ ...fields, cause: result.cause }, "the provider refused an order");
      break;
    case "not_sent":
      log.warn(
        { ...fields, cause: result.cause },
        passedTo === null ? "not sent, tried again later" : "not sent, passed on",
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

/** An outcome that came after its attempt was marked unknown. */
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
    log.error({ ...fields, status, placement }, "a late outcome was not applied: compare by hand");
  }
}

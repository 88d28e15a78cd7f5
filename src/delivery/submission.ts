// Placing: takes queued orders of one provider, longest waiting first, and sends each once.
// The queue is the database; what is in memory is only what is under way.

import type { Order } from "../db/orders.ts";
import { listDueSubmissions, type OrderWithDelivery } from "../db/deliveries.ts";
import type { SubmissionResult } from "../domain/deliveries.ts";
import { Refusal } from "../domain/errors.ts";
import type { CommandInput, CommandOutput } from "../operations/commands.ts";
import { sleep } from "./clock.ts";
import type { ProviderWorker } from "./provider-worker.ts";
import { submitBackoffMs, writeBackoffMs } from "./backoff.ts";

/** Orders of one provider that may be under way at once. */
export const SUBMISSIONS_LIMIT = 32;

export interface Submitter {
  /** Begins what is due and has room. Never throws. */
  begin(): void;
  /** Calls back with the order once its next attempt has ended, whatever it came to. */
  watch(order: Order, callback: (order: Order) => void): () => void;
  /** Tells those who watch an order that is not under way that it stays as it was. */
  release(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createSubmitter(worker: ProviderWorker): Submitter {
  const { deps } = worker;
  const { connection, log, clock } = deps;
  const inFlight = new Map<number, Promise<void>>();
  const watchers = new Map<number, { order: Order; callback: (order: Order) => void }>();

  const tell = (order: Order) => watchers.get(order.orderId)?.callback(order);

  const run = async (orderId: number) => {
    let again = true;
    try {
      tell(await submitOnce(worker, orderId));
    } catch (error) {
      // What is queued stays queued and what is sending becomes unknown; the next tick goes on.
      again = false;
      log.error({ provider: worker.name, order: orderId, error: String(error) }, "placing failed");
    } finally {
      inFlight.delete(orderId);
      worker.wake();
    }
    if (again) begin();
  };

  const begin = () => {
    try {
      beginDue();
    } catch (error) {
      log.error({ provider: worker.name, error: String(error) }, "the queue could not be read");
    }
  };

  const beginDue = () => {
    if (worker.stopping || inFlight.size >= SUBMISSIONS_LIMIT) return;
    // Those under way may still read as queued, so as many more are looked for.
    const due = listDueSubmissions(
      connection,
      worker.providerId,
      clock.now(),
      SUBMISSIONS_LIMIT * 2,
    );
    for (const orderId of due) {
      if (inFlight.size >= SUBMISSIONS_LIMIT) return;
      if (!inFlight.has(orderId)) inFlight.set(orderId, run(orderId));
    }
  };

  return {
    begin,
    watch(order, callback) {
      watchers.set(order.orderId, { order, callback });
      return () => watchers.delete(order.orderId);
    },
    release() {
      for (const [orderId, { order, callback }] of watchers) {
        if (!inFlight.has(orderId)) callback(order);
      }
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight.values());
    },
  };
}

/** One attempt from its row to its outcome. What it returns is the order as it was committed. */
async function submitOnce(worker: ProviderWorker, orderId: number): Promise<Order> {
  const { writer, settings, random } = worker.deps;
  const { placeRetryMs } = settings;
  const started = await writer.submit("startAttempt", { orderId, placeRetryMs });
  const { tries } = started;
  if (!started.send) {
    const { order } = started;
    const fields = { provider: worker.name, order: orderId, tries };
    if (order.delivery?.placement === "expired") {
      worker.deps.log.warn(fields, "given up and refunded");
      worker.deps.onSubmission?.("expired");
    }
    return order;
  }
  const backoffMs = submitBackoffMs(tries, random);
  const received = await sendOnce(worker, started.order);
  const { finished, result } = await finish(worker, {
    orderId,
    result: received,
    placeRetryMs,
    backoffMs,
  });
  logResult(worker, orderId, result, finished.sameNumberAs);
  worker.deps.onSubmission?.(result.outcome);
  return finished.order;
}

/** An internal error while it is sent leaves open whether it was. */
async function sendOnce(
  worker: ProviderWorker,
  { orderId, link, quantity, delivery }: OrderWithDelivery,
): Promise<SubmissionResult> {
  try {
    const service = delivery.providerService;
    return await worker.api.add({ service, link, quantity }, worker.stop.signal);
  } catch (error) {
    const fields = { provider: worker.name, order: orderId, error: String(error) };
    worker.deps.log.error(fields, "internal error in a call to a provider");
    return { outcome: "unknown", cause: "an internal error in the call, see the log" };
  }
}

/**
 * The outcome must be written down: it is tried until the database takes it. One that an internal error keeps out is
 * unknown: the order must not stay `sending`, which nobody settles and no one sends. Should the process end before,
 * the attempt is unknown at the next start. Returns the result that was written down.
 */
async function finish(
  worker: ProviderWorker,
  input: CommandInput<"finishAttempt">,
): Promise<{ finished: CommandOutput<"finishAttempt">; result: SubmissionResult }> {
  const { writer, clock, random, log } = worker.deps;
  let { result } = input;
  for (let tries = 0; ; tries += 1) {
    try {
      return { finished: await writer.submit("finishAttempt", { ...input, result }), result };
    } catch (error) {
      if (worker.stop.signal.aborted) throw error;
      const fields = { provider: worker.name, order: input.orderId };
      if (error instanceof Refusal) {
        log.warn(fields, "an outcome could not be written down yet");
      } else {
        log.error({ ...fields, error: String(error) }, "an outcome could not be written down");
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
  order: number,
  result: SubmissionResult,
  sameNumberAs: number | null,
): void {
  const { log } = worker.deps;
  const fields = { provider: worker.name, order };
  switch (result.outcome) {
    case "unknown":
      log.error({ ...fields, cause: result.cause }, "placement unknown: settle it by hand");
      break;
    case "refused":
      if (result.outOfFunds) {
        log.error({ ...fields, cause: result.cause }, "refused for lack of funds at the provider");
      } else log.warn({ ...fields, cause: result.cause }, "the provider refused an order");
      break;
    case "not_sent":
      log.warn({ ...fields, cause: result.cause }, "not sent, tried again later");
      break;
    case "accepted":
      if (sameNumberAs !== null) {
        const { providerOrder } = result;
        log.error({ ...fields, providerOrder, sameNumberAs }, "the provider gave a number twice");
      }
  }
}

// Placing: takes queued orders of one provider, longest waiting first, and sends each once.
// The queue is the database; what is in memory is only what is under way.

import type { Order } from "../db/orders.ts";
import { listDuePlacements } from "../db/deliveries.ts";
import type { PlacementResult } from "../domain/deliveries.ts";
import { Refusal } from "../domain/errors.ts";
import type { CommandInput, CommandOutput } from "../operations/commands.ts";
import { sleep } from "./clock.ts";
import type { Lane } from "./provider-worker.ts";
import { placePauseMs, writePauseMs } from "./backoff.ts";

/** Orders of one provider that may be under way at once. */
export const PLACING_LIMIT = 32;

export interface Placing {
  /** Begins what is due and has room. Never throws. */
  begin(): void;
  /** Calls back with the order once its next attempt has ended, whatever it came to. */
  watch(order: Order, callback: (order: Order) => void): () => void;
  /** Tells those who watch an order that is not under way that it stays as it was. */
  release(): void;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createPlacing(lane: Lane): Placing {
  const { works } = lane;
  const { connection, log, clock } = works;
  const underWay = new Map<number, Promise<void>>();
  const watchers = new Map<number, { order: Order; callback: (order: Order) => void }>();

  const tell = (order: Order) => watchers.get(order.orderId)?.callback(order);

  const run = async (orderId: number) => {
    let again = true;
    try {
      tell(await placeOnce(lane, orderId));
    } catch (error) {
      // What is queued stays queued and what is sending becomes unknown; the next tick goes on.
      again = false;
      log.error({ provider: lane.name, order: orderId, error: String(error) }, "placing failed");
    } finally {
      underWay.delete(orderId);
      lane.wake();
    }
    if (again) begin();
  };

  const begin = () => {
    try {
      beginDue();
    } catch (error) {
      log.error({ provider: lane.name, error: String(error) }, "the queue could not be read");
    }
  };

  const beginDue = () => {
    if (lane.stopping || underWay.size >= PLACING_LIMIT) return;
    // Those under way may still read as queued, so as many more are looked for.
    const due = listDuePlacements(connection, lane.providerId, clock.now(), PLACING_LIMIT * 2);
    for (const orderId of due) {
      if (underWay.size >= PLACING_LIMIT) return;
      if (!underWay.has(orderId)) underWay.set(orderId, run(orderId));
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
        if (!underWay.has(orderId)) callback(order);
      }
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay.values());
    },
  };
}

/** One attempt from its row to its outcome. What it returns is the order as it was committed. */
async function placeOnce(lane: Lane, orderId: number): Promise<Order> {
  const { writer, settings, random } = lane.works;
  const { placeRetryMs } = settings;
  const { order, send, tries } = await writer.submit("startAttempt", { orderId, placeRetryMs });
  if (!send) {
    const fields = { provider: lane.name, order: orderId, tries };
    if (order.placement === "expired") {
      lane.works.log.warn(fields, "given up and refunded");
      lane.works.onPlacement?.("expired");
    }
    return order;
  }
  const service = order.providerService!;
  const { link, quantity } = order;
  const result = await lane.api.add({ service, link, quantity }, lane.stop.signal);
  const pauseMs = placePauseMs(tries, random);
  const finished = await finish(lane, { orderId, result, placeRetryMs, pauseMs });
  logResult(lane, orderId, result, finished.sameNumberAs);
  lane.works.onPlacement?.(result.outcome);
  return finished.order;
}

/**
 * The outcome must be written down: it is tried until the database takes it. Should the process end
 * before, the attempt is unknown at the next start.
 */
async function finish(
  lane: Lane,
  input: CommandInput<"finishAttempt">,
): Promise<CommandOutput<"finishAttempt">> {
  const { writer, clock, random, log } = lane.works;
  for (let tries = 0; ; tries += 1) {
    try {
      return await writer.submit("finishAttempt", input);
    } catch (error) {
      if (!(error instanceof Refusal) || lane.stop.signal.aborted) throw error;
      const fields = { provider: lane.name, order: input.orderId };
      log.warn(fields, "an outcome could not be written down yet");
      await sleep(clock, writePauseMs(tries, random));
    }
  }
}

function logResult(
  lane: Lane,
  order: number,
  result: PlacementResult,
  sameNumberAs: number | null,
): void {
  const { log } = lane.works;
  const fields = { provider: lane.name, order };
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

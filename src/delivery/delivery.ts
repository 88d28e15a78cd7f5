// The clock's side of orders: a lane for each provider, and one timer that keeps all of them going.
// A tick that fails is logged and the next one comes all the same.

import type { Order } from "../db/orders.ts";
import { listProviders, nextDueAt, providerOf } from "../db/providers.ts";
import { createPoller, type Poller } from "./polling.ts";
import { createProviderWorker, type ProviderWorker, type DeliveryDeps } from "./provider-worker.ts";
import { SUBMIT_BACKOFF_LIMIT_MS } from "./backoff.ts";
import { createSubmitter, type Submitter } from "./submission.ts";

/** The shortest time between two ticks: how late something that is due may begin. */
const TICK_MS = 250;
/**
 * The longest: how late what nothing in this process announces is found, which is a commit of the command line and a
 * jump of the clock. A tick a second costs an idle process about 0.03 % of a core.
 */
const QUIET_TICK_MS = 1000;
/** Between two looks at whether the following is late. */
const LATENESS_MS = 10_000;
/** A timer that has not ticked for so long has died. */
const TICK_LATE_MS = 10_000;
/** A clock that goes back by more than this was set, not adjusted. */
const CLOCK_BACK_MS = 1000;

export interface DeliveryService {
  /** Resolves with the order after its first attempt, or as it is once the caller has waited long enough. */
  placed(order: Order): Promise<Order>;
  /** Whether the timer ticks and no look is overdue that could be made. */
  isOnTime(): boolean;
  /** Begins nothing new, waits for what is under way, and after `drainMs` gives it up: that is unknown then. */
  stop(drainMs: number): Promise<void>;
}

interface Running extends ProviderWorker {
  submitter: Submitter;
  poller: Poller;
}

/** Resolves once what an earlier process left half-done is settled as unknown; only then may anything be sent. */
export async function startDelivery(deps: DeliveryDeps): Promise<DeliveryService> {
  const { connection, writer, log, clock, settings } = deps;
  const workers = new Map<number, Running>();
  const cause = "the process ended before the provider's answer was written down";
  for (const order of await writer.submit("markInterruptedUnknown", { cause })) {
    log.error({ order, cause }, "placement unknown: settle it by hand");
  }
  const clamp = () =>
    writer.submit("clampSchedules", {
      pollIntervalMs: settings.pollIntervalMs,
      submitBackoffLimitMs: SUBMIT_BACKOFF_LIMIT_MS,
    });
  await clamp();

  /** What a lane finished may have made something due before the next tick. */
  const wake = () => {
    if (isQuiet) setTimer(0);
  };

  const workerOf = (providerId: number): Running => {
    let worker = workers.get(providerId);
    if (!worker) {
      const opened = createProviderWorker(deps, providerOf(connection, providerId), wake);
      worker = Object.assign(opened, {
        submitter: createSubmitter(opened),
        poller: createPoller(opened),
      });
      workers.set(providerId, worker);
    }
    return worker;
  };

  /** One thing that goes wrong is logged and stops nothing else. */
  const guarded = (what: string, body: () => void) => {
    try {
      body();
    } catch (error) {
      log.error({ error: error instanceof Error ? error.stack : String(error) }, what);
    }
  };

  let lastNow = clock.now();
  let latenessAt = lastNow;
  /** Returns how long nothing can become due, unless a lane announces it or another process commits. */
  const tick = (): number => {
    const now = clock.now();
    if (now < lastNow - CLOCK_BACK_MS) {
      log.warn({ milliseconds: lastNow - now }, "the clock went back");
      clamp().catch((error: unknown) => log.error({ error: String(error) }, "hurrying failed"));
    }
    lastNow = now;
    const dueAt = nextDueAt(connection);
    if (dueAt !== null && dueAt <= now) beginAll();
    if (Math.abs(now - latenessAt) >= LATENESS_MS) {
      latenessAt = now;
      for (const { poller } of workers.values()) {
        guarded("a provider's lane failed", () => poller.logLateness());
      }
    }
    return dueAt === null ? QUIET_TICK_MS : dueAt - now;
  };

  const beginAll = () => {
    for (const { providerId } of listProviders(connection)) {
      guarded("a provider's lane failed", () => {
        const { submitter, poller } = workerOf(providerId);
        submitter.begin();
        poller.begin();
      });
    }
  };

  let isQuiet = false;
  const timer = clock.timer(() => {
    let dueInMs = 0;
    guarded("a tick failed", () => (dueInMs = tick()));
    setTimer(dueInMs);
  });
  const setTimer = (milliseconds: number) => {
    isQuiet = milliseconds > TICK_MS;
    timer.set(Math.min(Math.max(milliseconds, TICK_MS), QUIET_TICK_MS));
  };
  setTimer(0);

  return {
    placed(order) {
      if (!order.delivery || order.status !== "PENDING") return Promise.resolve(order);
      const { submitter, stopping } = workerOf(order.delivery.providerId);
      if (stopping) return Promise.resolve(order);
      return new Promise((resolve) => {
        const unwatch = submitter.watch(order, (attempted) => settle(attempted));
        // No answer yet: the order is as it was, and goes on.
        const endWait = clock.after(settings.placeWaitMs, () => settle(order));
        const settle = (result: Order) => {
          unwatch();
          endWait();
          resolve(result);
        };
        submitter.begin();
      });
    },
    isOnTime() {
      const isTicking = Math.abs(clock.now() - lastNow) <= TICK_LATE_MS;
      return isTicking && ![...workers.values()].some(({ poller }) => poller.isBehind());
    },
    async stop(drainMs) {
      isQuiet = false;
      timer.clear();
      for (const worker of workers.values()) {
        worker.stopping = true;
        worker.submitter.release();
      }
      const giveUp = clock.after(drainMs, () => {
        for (const worker of workers.values()) worker.stop.abort();
      });
      await Promise.all(
        [...workers.values()].flatMap(({ submitter, poller }) => [submitter.idle(), poller.idle()]),
      );
      giveUp();
    },
  };
}

// The clock's side of orders: a lane for each provider, and one timer that keeps all of them going.
// A tick that fails is logged and the next one comes all the same.

import type { Order } from "../db/orders.ts";
import { listProviders, nextDueAt, providerOf } from "../db/providers.ts";
import { createFollowing, type Following } from "./polling.ts";
import { createLane, type Lane, type Works } from "./provider-worker.ts";
import { PLACE_PAUSE_LIMIT_MS } from "./backoff.ts";
import { createPlacing, type Placing } from "./submission.ts";

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

export interface Fulfilment {
  /** Resolves with the order after its first attempt, or as it is once the caller has waited long enough. */
  placed(order: Order): Promise<Order>;
  /** Whether the timer ticks and no look is overdue that could be made. */
  isOnTime(): boolean;
  /** Begins nothing new, waits for what is under way, and after `drainMs` gives it up: that is unknown then. */
  stop(drainMs: number): Promise<void>;
}

interface Running extends Lane {
  placing: Placing;
  following: Following;
}

/** Resolves once what an earlier process left half-done is settled as unknown; only then may anything be sent. */
export async function startFulfilment(works: Works): Promise<Fulfilment> {
  const { connection, writer, log, clock, settings } = works;
  const lanes = new Map<number, Running>();
  const cause = "the process ended before the provider's answer was written down";
  for (const order of await writer.submit("abandonAttempts", { cause })) {
    log.error({ order, cause }, "placement unknown: settle it by hand");
  }
  const hurry = () =>
    writer.submit("hurryFulfilment", {
      pollIntervalMs: settings.pollIntervalMs,
      placePauseLimitMs: PLACE_PAUSE_LIMIT_MS,
    });
  await hurry();

  /** What a lane finished may have made something due before the next tick. */
  const wake = () => {
    if (isQuiet) setTimer(0);
  };

  const laneOf = (providerId: number): Running => {
    let lane = lanes.get(providerId);
    if (!lane) {
      const opened = createLane(works, providerOf(connection, providerId), wake);
      lane = Object.assign(opened, {
        placing: createPlacing(opened),
        following: createFollowing(opened),
      });
      lanes.set(providerId, lane);
    }
    return lane;
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
      hurry().catch((error: unknown) => log.error({ error: String(error) }, "hurrying failed"));
    }
    lastNow = now;
    const dueAt = nextDueAt(connection);
    if (dueAt !== null && dueAt <= now) beginAll();
    if (Math.abs(now - latenessAt) >= LATENESS_MS) {
      latenessAt = now;
      for (const { following } of lanes.values()) {
        guarded("a provider's lane failed", () => following.watchLateness());
      }
    }
    return dueAt === null ? QUIET_TICK_MS : dueAt - now;
  };

  const beginAll = () => {
    for (const { providerId } of listProviders(connection)) {
      guarded("a provider's lane failed", () => {
        const { placing, following } = laneOf(providerId);
        placing.begin();
        following.begin();
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
      const { providerId } = order;
      if (providerId === null || order.status !== "PENDING") return Promise.resolve(order);
      const { placing, stopping } = laneOf(providerId);
      if (stopping) return Promise.resolve(order);
      return new Promise((resolve) => {
        const unwatch = placing.watch(order, (attempted) => settle(attempted));
        // No answer yet: the order is as it was, and goes on.
        const endWait = clock.after(settings.placeWaitMs, () => settle(order));
        const settle = (result: Order) => {
          unwatch();
          endWait();
          resolve(result);
        };
        placing.begin();
      });
    },
    isOnTime() {
      const isTicking = Math.abs(clock.now() - lastNow) <= TICK_LATE_MS;
      return isTicking && ![...lanes.values()].some(({ following }) => following.isBehind());
    },
    async stop(drainMs) {
      isQuiet = false;
      timer.clear();
      for (const lane of lanes.values()) {
        lane.stopping = true;
        lane.placing.release();
      }
      const giveUp = clock.after(drainMs, () => {
        for (const lane of lanes.values()) lane.stop.abort();
      });
      await Promise.all(
        [...lanes.values()].flatMap(({ placing, following }) => [placing.idle(), following.idle()]),
      );
      giveUp();
    },
  };
}

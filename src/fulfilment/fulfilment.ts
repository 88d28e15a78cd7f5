// The clock's side of orders: a lane for each provider, and one timer that keeps all of them going.
// A tick that fails is logged and the next one comes all the same.

import type { Order } from "../db/orders.ts";
import { listProviders, providerOf } from "../db/providers.ts";
import { createFollowing, type Following } from "./following.ts";
import { createLane, type Lane, type Works } from "./lane.ts";
import { PLACE_PAUSE_LIMIT_MS } from "./pauses.ts";
import { createPlacing, type Placing } from "./placing.ts";

/** How often the lanes are looked after: the delay of what no event announces. */
const TICK_MS = 250;
/** Ticks between two looks at whether the following is late. */
const LATENESS_TICKS = 40;
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

  const laneOf = (providerId: number): Running => {
    let lane = lanes.get(providerId);
    if (!lane) {
      const opened = createLane(works, providerOf(connection, providerId));
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

  let ticks = 0;
  let lastNow = clock.now();
  const tick = () => {
    ticks += 1;
    const now = clock.now();
    if (now < lastNow - CLOCK_BACK_MS) {
      log.warn({ milliseconds: lastNow - now }, "the clock went back");
      hurry().catch((error: unknown) => log.error({ error: String(error) }, "hurrying failed"));
    }
    lastNow = now;
    for (const { providerId } of listProviders(connection)) {
      guarded("a provider's lane failed", () => {
        const { placing, following } = laneOf(providerId);
        placing.begin();
        following.begin();
        if (ticks % LATENESS_TICKS === 0) following.watchLateness();
      });
    }
  };
  const endTicks = clock.every(TICK_MS, () => guarded("a tick failed", tick));

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
      endTicks();
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

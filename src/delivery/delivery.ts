// Delivers orders: one worker for each provider, and one ticker that makes the workers submit and poll what is due.

import { listAttempted } from "../db/delivery/deliveries.ts";
import type { Order } from "../db/orders/orders.ts";
import {
  listAllProviders,
  nextDueTimes,
  type Provider,
  getProvider,
} from "../db/providers/providers.ts";
import type { Lateness } from "../domain/alerts/conditions.ts";
import { isTestOrder, parseMagicLink, SANDBOX_PROVIDER } from "../domain/orders/sandbox.ts";
import { SUBMIT_BACKOFF_LIMIT_MS } from "../scheduling/backoff.ts";
import { createInterruptionCheck, markInterrupted } from "./interrupted-attempts.ts";
import { createRequester, type Requester } from "./order-requests.ts";
import { createPoller, type Poller } from "./polling.ts";
import {
  createProviderWorker,
  type DeliveryDeps,
  type ProviderWorker,
  reconnect,
} from "./provider-worker.ts";
import { createSubmitter, type Submitter } from "./submission.ts";
import { startTicker, type Ticker } from "../scheduling/ticker.ts";
import { createWaiting, type Waiting } from "./waiting.ts";

/** Interval of the checks for late polls and interrupted attempts. */
const CHECK_MS = 10_000;

export interface DeliveryService {
  /**
   * Resolves with the order once a provider has taken it, all have refused it, or the next try must wait. Resolves
   * with `order` itself if that takes longer than placeWaitMs.
   */
  awaitProvider(order: Order): Promise<Order>;
  /** Whether the ticker runs and no poll is overdue, except at providers that do not respond. */
  isOnTime(): Promise<boolean>;
  /** Returns by provider name whether its polls are late. A provider is absent until something was sent to it. */
  lateness(): Promise<ReadonlyMap<string, Lateness>>;
  /** Runs other periodic work too, so that an idle server has only one timer. */
  ticker: Pick<Ticker, "add" | "wake">;
  /**
   * Starts nothing new and waits for calls in flight. Aborts them after `drainMs`, which leaves their outcomes unknown.
   */
  stop(drainMs: number): Promise<void>;
}

/**
 * Starts deliveries. First marks attempts that an earlier process left in flight as unknown; nothing is sent before
 * that.
 */
export async function startDelivery(deps: DeliveryDeps): Promise<DeliveryService> {
  const { store, clock, settings } = deps;
  await markInterrupted(deps);
  await clampSchedules(deps);

  const waiting = createWaiting();
  const workers = createWorkers(deps, waiting, () => ticker.wake());
  const clamping = createClamping(deps);
  const slowness = createSlowness(deps);
  const interruptions = createInterruptionCheck(deps, workers, workers.isStopping);
  /**
   * Ends the waits for orders that another server has submitted, because nothing announces its outcomes here. Returns
   * whether any remaining order is not in flight at this server.
   */
  const endWaits = async (now: number): Promise<boolean> => {
    const elsewhere = waiting.orderIds().filter((orderId) => !workers.isInFlight(orderId));
    if (elsewhere.length === 0) return false;
    const attempted = await store.read((reader) => listAttempted(reader, elsewhere, now));
    for (const order of attempted) waiting.notify(order);
    return attempted.length < elsewhere.length;
  };
  let checkedAt = clock.now();
  const tick = async (now: number): Promise<number | null> => {
    clamping.run();
    const [{ dueAt, requestsDueAt }, providers] = await Promise.all([
      Promise.resolve(store.read(nextDueTimes)),
      Promise.resolve(store.read(listAllProviders)),
    ]);
    workers.reconnect(providers);
    const isDue = (at: number | null) => at !== null && at <= now;
    if (isDue(dueAt)) await workers.begin(providers);
    if (isDue(requestsDueAt)) await workers.beginRequests(providers);
    if (Math.abs(now - checkedAt) >= CHECK_MS) {
      checkedAt = now;
      void interruptions.run();
      await workers.logLateness();
    }
    if (await endWaits(now)) return 0;
    const next = Math.min(dueAt ?? Infinity, requestsDueAt ?? Infinity);
    return next === Infinity ? null : next - now;
  };
  const ticker = startTicker(deps, tick, () => clamping.request());

  return {
    ticker,
    async awaitProvider(order) {
      if (!order.delivery || order.status !== "PENDING") return order;
      const worker = await workers.of(order.delivery.providerId);
      if (!worker || worker.stopping) return order;
      const begin = () => void worker.submitter.begin();
      const attempted = firstOutcome(deps, waiting, begin, order, settings.placeWaitMs);
      if (isTestOrder(order)) await slowness.wait(order.link);
      return attempted;
    },
    async isOnTime() {
      if (!ticker.isTicking()) return false;
      // Late test orders do not make the server unready.
      const live = workers.all().filter(({ providerId }) => providerId !== SANDBOX_PROVIDER);
      const behind = await Promise.all(live.map(({ poller }) => poller.isBehind()));
      return !behind.includes(true);
    },
    async lateness() {
      const all = workers.all();
      const states = await Promise.all(all.map(({ poller }) => poller.lateness()));
      return new Map(all.map(({ name }, place) => [name, states[place]!]));
    },
    async stop(drainMs) {
      ticker.stop();
      slowness.end();
      await Promise.all([workers.stop(drainMs), interruptions.idle()]);
    },
  };
}

/**
 * Moves each schedule that is later than its longest possible delay from now to that time. The clock may have been set
 * back.
 */
function clampSchedules({ writer, settings }: DeliveryDeps): Promise<unknown> {
  return writer.submit("clampSchedules", {
    pollIntervalMs: settings.pollIntervalMs,
    submitBackoffLimitMs: SUBMIT_BACKOFF_LIMIT_MS,
  });
}

/**
 * Runs clampSchedules after the clock was set back. A run that fails is repeated at the next tick; otherwise these
 * orders would wait until the clock reaches their old time.
 */
function createClamping(deps: DeliveryDeps) {
  let isRequested = false;
  let isRunning = false;
  return {
    request() {
      isRequested = true;
    },
    run() {
      if (!isRequested || isRunning) return;
      isRequested = false;
      isRunning = true;
      clampSchedules(deps)
        .catch((error: unknown) => {
          isRequested = true;
          deps.log.error({ error: String(error) }, "clamping the schedules failed; trying again");
        })
        .finally(() => (isRunning = false));
    },
  };
}

/** Starts submissions with `begin` and resolves as awaitProvider does. */
function firstOutcome(
  { clock }: DeliveryDeps,
  waiting: Waiting,
  begin: () => void,
  order: Order,
  waitMs: number,
): Promise<Order> {
  return new Promise((resolve) => {
    const unwatch = waiting.watch(order, (attempted) => settle(attempted));
    const endWait = clock.after(waitMs, () => settle(order));
    const settle = (result: Order) => {
      unwatch();
      endWait();
      resolve(result);
    };
    begin();
  });
}

/** Creates the delays that magic links ask for, each at most placeWaitMs. */
function createSlowness({ clock, settings }: DeliveryDeps) {
  const endings = new Set<() => void>();
  return {
    wait(link: string): Promise<void> {
      const { slowMs } = parseMagicLink(link);
      return new Promise((resolve) => {
        if (slowMs === 0) return resolve();
        const cancel = clock.after(Math.min(slowMs, settings.placeWaitMs), () => end());
        const end = () => {
          cancel();
          endings.delete(end);
          resolve();
        };
        endings.add(end);
      });
    },
    /** Ends all delays at once. */
    end() {
      for (const end of endings) end();
    },
  };
}

interface Worker extends ProviderWorker {
  submitter: Submitter;
  poller: Poller;
  requester: Requester;
}

/** Creates the set of workers: one for each provider, created on first use. */
function createWorkers(deps: DeliveryDeps, waiting: Waiting, wake: () => void) {
  const { store, log } = deps;
  const workers = new Map<number, Worker>();
  let isStopping = false;

  /** Returns the provider's worker, or null if there is none because the server is stopping. */
  const workerOf = async (providerId: number): Promise<Worker | null> => {
    const worker = workers.get(providerId);
    if (worker) return worker;
    const provider = await store.read((reader) => getProvider(reader, providerId));
    return isStopping ? null : (workers.get(providerId) ?? createWorker(provider));
  };
  const createWorker = (provider: Provider): Worker => {
    const isSandbox = provider.providerId === SANDBOX_PROVIDER;
    const created = createProviderWorker(isSandbox ? sandboxDeps(deps) : deps, provider, wake);
    const worker = Object.assign(created, {
      submitter: createSubmitter(created, {
        ended: (order) => waiting.notify(order),
        passedOn: passOn,
      }),
      poller: createPoller(created),
      requester: createRequester(created),
    });
    workers.set(provider.providerId, worker);
    return worker;
  };
  /** Gives the order to the next provider's worker at once. If that fails, the ticker finds it in the queue. */
  const passOn = (order: Order) =>
    void guarded(async () => {
      const next = await workerOf(order.delivery!.providerId);
      if (next && !next.stopping) await next.submitter.begin();
      else waiting.notify(order);
    });
  /** Logs the failure of one provider's worker, so that it does not stop other workers. */
  const guarded = async (body: () => Promise<unknown>) => {
    try {
      await body();
    } catch (error) {
      const text = error instanceof Error ? error.stack : String(error);
      log.error({ error: text }, "a provider's worker failed");
    }
  };
  return {
    of: workerOf,
    all: () => [...workers.values()],
    isInFlight: (orderId: number) =>
      workers.values().some(({ submitter }) => submitter.isInFlight(orderId)),
    isRequestInFlight: (requestId: number) =>
      workers.values().some(({ requester }) => requester.isInFlight(requestId)),
    isStopping: () => isStopping,
    /**
     * Applies changes of providers to their workers. Runs at each tick, because other processes do not announce
     * changes.
     */
    reconnect(providers: readonly Provider[]) {
      for (const provider of providers) {
        const worker = workers.get(provider.providerId);
        if (worker) reconnect(worker, provider);
      }
    },
    /** Starts what is due, up to the limits of calls in flight. */
    async begin(providers: readonly Provider[]) {
      await Promise.all(
        providers.map(({ providerId }) =>
          guarded(async () => {
            const worker = await workerOf(providerId);
            await Promise.all([worker?.submitter.begin(), worker?.poller.begin()]);
          }),
        ),
      );
    },
    async beginRequests(providers: readonly Provider[]) {
      await Promise.all(
        providers.map(({ providerId }) =>
          guarded(async () => (await workerOf(providerId))?.requester.begin()),
        ),
      );
    },
    async logLateness() {
      const all = [...workers.values()];
      await Promise.all(all.map(({ poller }) => guarded(() => poller.logLateness())));
    },
    stop(drainMs: number) {
      isStopping = true;
      return stopWorkers(deps, waiting, [...workers.values()], drainMs);
    },
  };
}

/** Returns dependencies for test orders, which raise no alarms: no metrics, and log level `info` only. */
function sandboxDeps(deps: DeliveryDeps): DeliveryDeps {
  const info = deps.log.info.bind(deps.log);
  return { ...deps, log: { info, warn: info, error: info }, onSubmission() {}, onRequest() {} };
}

async function stopWorkers(
  { clock }: DeliveryDeps,
  waiting: Waiting,
  workers: readonly Worker[],
  drainMs: number,
) {
  for (const worker of workers) worker.stopping = true;
  waiting.release((orderId) => workers.some(({ submitter }) => submitter.isInFlight(orderId)));
  const giveUp = clock.after(drainMs, () => {
    for (const worker of workers) worker.stop.abort();
  });
  await Promise.all(
    workers.flatMap((each) =>
      [each.submitter, each.poller, each.requester].map((one) => one.idle()),
    ),
  );
  giveUp();
}

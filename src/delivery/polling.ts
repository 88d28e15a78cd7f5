// Polling: asks one provider for the statuses of its orders, a batch at a time, most overdue first.
// The command that takes a batch also schedules each order's next poll, so a failure afterwards delays no other order.

import { countDuePolls } from "../db/delivery/polling.ts";
import type { Lateness } from "../domain/alerts/conditions.ts";
import type { Report } from "../domain/delivery/polling.ts";
import type { DuePoll } from "../operations/delivery/polling.ts";
import { STATUS_BATCH_LIMIT } from "../providers/provider.ts";
import { pollBackoffMs } from "../scheduling/backoff.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import { createPollLateness } from "./poll-lateness.ts";
import type { DeliveryDeps, ProviderWorker } from "./provider-worker.ts";

/** Limit for the batches of one provider in flight. */
const POLLS_LIMIT = 4;
/**
 * Limit for failures in a row. A refused batch is halved until the bad entry is found, which takes seven steps for 100
 * orders. After nine failures the batch is given up.
 */
const FAILURES_LIMIT = 9;

export interface Poller {
  /** Starts the polls that are due, up to POLLS_LIMIT in flight. */
  begin(): Promise<void>;
  /** Logs an error when polls are late or the provider has not responded for long. */
  logLateness(): Promise<void>;
  lateness(): Promise<Lateness>;
  /** Whether polls are overdue although the provider responds and no backoff delays them. */
  isBehind(): Promise<boolean>;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createPoller(worker: ProviderWorker): Poller {
  const { store, clock, log } = worker.deps;
  const inFlight = new Set<Promise<void>>();
  const backoff = createBackoff(worker.deps);
  const lateness = createPollLateness(worker);
  let batchSize = STATUS_BATCH_LIMIT;

  /** Polls a batch. Resolves with whether more polls may be due now. */
  const poll = async (): Promise<boolean> => {
    try {
      const outcome = await pollOnce(worker, batchSize);
      if (outcome === "nothing") return false;
      if (outcome === "answered") {
        backoff.reset();
        lateness.noteAnswered();
        batchSize = Math.min(batchSize * 2, STATUS_BATCH_LIMIT);
      } else {
        lateness.noteUnanswered(clock.now());
        // One order may make the whole batch fail, and a smaller batch may not contain it.
        batchSize = Math.ceil(batchSize / 2);
        backoff.start();
      }
      return true;
    } catch (error) {
      backoff.start();
      log.error({ provider: worker.name, error: String(error) }, "polling failed");
      return false;
    }
  };

  const beginning = oneAtATime(async () => {
    try {
      await beginDue();
    } catch (error) {
      log.error({ provider: worker.name, error: String(error) }, "due polls could not be read");
    }
  });

  const beginDue = async () => {
    const free = POLLS_LIMIT - inFlight.size;
    if (worker.stopping || backoff.isInForce() || free <= 0) return;
    const { providerId } = worker;
    const now = clock.now();
    const limit = free * batchSize;
    const due = await store.read((reader) => countDuePolls(reader, providerId, now, limit));
    if (worker.stopping) return;
    const batches = Math.min(free, Math.ceil(due / batchSize));
    for (let started = 0; started < batches; started += 1) {
      const running: Promise<void> = poll().then((more) => {
        inFlight.delete(running);
        worker.wake();
        if (more) void beginning.run();
      });
      inFlight.add(running);
    }
  };

  return {
    begin: () => beginning.run(),
    async isBehind() {
      const now = clock.now();
      if (lateness.isUnanswered() || now < backoff.until()) return false;
      return lateness.isOverdue(now);
    },
    logLateness: () => lateness.log(clock.now()),
    lateness: () => lateness.state(clock.now()),
    async idle() {
      await beginning.idle();
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** Creates the backoff after failed polls. */
function createBackoff({ clock, random }: DeliveryDeps) {
  let failures = 0;
  let until = 0;
  return {
    until: () => until,
    isInForce() {
      const left = until - clock.now();
      // A backoff that ends too far in the future was started before the clock was set back.
      return left > 0 && left <= pollBackoffMs(failures, () => 1);
    },
    start() {
      until = clock.now() + pollBackoffMs(failures, random);
      failures += 1;
    },
    reset: () => (failures = until = 0),
  };
}

/** Polls one batch, from the command that takes it to the one that records the reports. */
async function pollOnce(
  worker: ProviderWorker,
  batchSize: number,
): Promise<"nothing" | "answered" | "failed"> {
  const { writer, settings, random } = worker.deps;
  const { providerId } = worker;
  const { pollIntervalMs } = settings;
  const polls = await writer.submit("takeDuePolls", {
    providerId,
    limit: batchSize,
    pollIntervalMs,
    jitter: random(),
  });
  if (polls.length === 0) return "nothing";
  let answered = false;
  let failures = 0;
  const batches = [[...new Set(polls.map(({ providerOrder }) => providerOrder))]];
  for (let batch = batches.shift(); batch && !worker.stopping; batch = batches.shift()) {
    const reply = await worker.api.status(batch, worker.stop.signal);
    if ("reports" in reply) {
      answered = true;
      failures = 0;
      await recordReports(worker, polls, reply.reports);
      continue;
    }
    failures += 1;
    const fields = { provider: worker.name, orders: batch.length, cause: reply.failed };
    // Logs only the first failure, because halves fail until the bad entry is found.
    if (failures === 1) worker.deps.log.warn(fields, "a poll failed");
    if (!reply.answered || failures >= FAILURES_LIMIT) break;
    // One entry may make the whole reply unusable: poll each half by itself.
    if (batch.length > 1) batches.unshift(...halves(batch));
  }
  return answered ? "answered" : "failed";
}

async function recordReports(
  worker: ProviderWorker,
  polls: readonly DuePoll[],
  answered: Map<string, Report>,
): Promise<void> {
  const { writer, settings, random, log } = worker.deps;
  const { providerId } = worker;
  const { pollIntervalMs } = settings;
  const reports = polls.flatMap(({ orderId, providerOrder }) => {
    const report = answered.get(providerOrder);
    return report ? [{ orderId, providerOrder, report }] : [];
  });
  const notices = await writer.submit("recordReports", {
    providerId,
    reports,
    pollIntervalMs,
    jitter: random(),
  });
  for (const { orderId, kind, text } of notices) {
    const fields = { provider: worker.name, order: orderId, reported: text };
    if (kind === "invalid")
      log.warn(fields, "a reported status was rejected: the order is unchanged");
    else if (kind === "late")
      log.warn(fields, "a status for a closed order: recorded, not applied");
    else log.error(fields, "a status could not be stored");
  }
}

function halves(batch: string[]): string[][] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

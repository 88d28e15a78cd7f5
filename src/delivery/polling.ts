// Following: asks one provider what became of its orders, a batch at a time, those longest overdue first.
// A batch is taken by a command that moves each order's next look, so what goes wrong afterwards holds nobody up.

import { countDuePolls, oldestDuePoll } from "../db/polling.ts";
import type { Report } from "../domain/polling.ts";
import type { DuePoll } from "../operations/polling.ts";
import { STATUS_BATCH_LIMIT } from "../providers/provider.ts";
import type { ProviderWorker } from "./provider-worker.ts";
import { pollBackoffMs } from "./backoff.ts";

/** Batches of one provider that may be asked about at once. */
const POLLS_LIMIT = 4;
/** A refused batch is halved until its bad entry stands alone: 100 takes seven steps. Then the provider is at fault. */
const FAILURES_LIMIT = 9;
/** Looks that are overdue by this many poll intervals, and by this long, are late. */
const LATE_INTERVALS = 5;
const LATE_LEAST_MS = 60_000;
/** Being late is logged again after this long. */
const LATE_LOG_MS = 600_000;

export interface Poller {
  /** Begins the looks that are due and have room. */
  begin(): void;
  /** Logs an error when looks are late or the provider has not answered for long. */
  logLateness(): void;
  /** Whether looks that nothing keeps from being made are overdue: a provider that does not answer is no such thing. */
  isBehind(): boolean;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createPoller(worker: ProviderWorker): Poller {
  const { connection, clock, log, random, settings } = worker.deps;
  const inFlight = new Set<Promise<void>>();
  const lateMs = Math.max(settings.pollIntervalMs * LATE_INTERVALS, LATE_LEAST_MS);
  let batchSize = STATUS_BATCH_LIMIT;
  let failures = 0;
  let failing: { since: number; last: number } | null = null;
  let backOffUntil = 0;
  let lateLoggedAt: number | null = null;

  const backOff = () => {
    backOffUntil = clock.now() + pollBackoffMs(failures, random);
    failures += 1;
  };

  /** Whether there may be more to look at at once; when not, the next tick sees. */
  const poll = async (): Promise<boolean> => {
    try {
      const outcome = await pollOnce(worker, batchSize);
      if (outcome === "nothing") return false;
      if (outcome === "answered") {
        failures = backOffUntil = 0;
        failing = null;
        batchSize = Math.min(batchSize * 2, STATUS_BATCH_LIMIT);
      } else {
        const now = clock.now();
        failing = { since: failing?.since ?? now, last: now };
        // One order may be what keeps the provider from answering: the next batch may be without it.
        batchSize = Math.ceil(batchSize / 2);
        backOff();
      }
      return true;
    } catch (error) {
      backOff();
      log.error({ provider: worker.name, error: String(error) }, "looking at orders failed");
      return false;
    }
  };

  const begin = () => {
    try {
      beginDue();
    } catch (error) {
      log.error({ provider: worker.name, error: String(error) }, "due orders could not be read");
    }
  };

  const beginDue = () => {
    const now = clock.now();
    // A rest that lies too far ahead was set before the clock went back.
    const isBackingOff =
      backOffUntil > now && backOffUntil - now <= pollBackoffMs(failures, () => 1);
    const room = POLLS_LIMIT - inFlight.size;
    if (worker.stopping || isBackingOff || room <= 0) return;
    const due = countDuePolls(connection, worker.providerId, now, room * batchSize);
    const batches = Math.min(room, Math.ceil(due / batchSize));
    for (let started = 0; started < batches; started += 1) {
      const running: Promise<void> = poll().then((more) => {
        inFlight.delete(running);
        worker.wake();
        if (more) begin();
      });
      inFlight.add(running);
    }
  };

  return {
    begin,
    isBehind() {
      const now = clock.now();
      if (failing !== null || now < backOffUntil) return false;
      const oldest = oldestDuePoll(connection, worker.providerId);
      return oldest !== null && now - oldest > lateMs;
    },
    logLateness() {
      const now = clock.now();
      const oldest = oldestDuePoll(connection, worker.providerId);
      const overdueMs = oldest === null ? 0 : now - oldest;
      const silentMs = failing === null ? 0 : failing.last - failing.since;
      if (overdueMs <= lateMs && silentMs <= lateMs) {
        lateLoggedAt = null;
        return;
      }
      if (lateLoggedAt !== null && Math.abs(now - lateLoggedAt) < LATE_LOG_MS) return;
      lateLoggedAt = now;
      const seconds = Math.round(Math.max(overdueMs, silentMs) / 1000);
      log.error({ provider: worker.name, seconds }, "following orders is late");
    },
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** One batch, from taking it to writing down what was said. */
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
  const batches = [[...new Set(polls.map((check) => check.providerOrder))]];
  for (let batch = batches.shift(); batch && !worker.stopping; batch = batches.shift()) {
    const answer = await worker.api.status(batch, worker.stop.signal);
    if ("reports" in answer) {
      answered = true;
      failures = 0;
      await recordReports(worker, polls, answer.reports);
      continue;
    }
    failures += 1;
    const fields = { provider: worker.name, orders: batch.length, cause: answer.failed };
    // The halves fail as often as it takes to find the bad entry: that is one event.
    if (failures === 1) worker.deps.log.warn(fields, "a question about orders was not answered");
    if (!answer.answered || failures >= FAILURES_LIMIT) break;
    // One entry may be what breaks the answer: the halves are asked about by themselves.
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
    return report ? [{ orderId, report }] : [];
  });
  const notices = await writer.submit("recordReports", {
    providerId,
    reports,
    pollIntervalMs,
    jitter: random(),
  });
  for (const { orderId, kind, text } of notices) {
    const fields = { provider: worker.name, order: orderId, reported: text };
    if (kind === "nonsense")
      log.warn(fields, "a report was not believed: the order stays as it is");
    else if (kind === "late")
      log.warn(fields, "a change after the order's end: listed, not applied");
    else log.error(fields, "a report could not be written down");
  }
}

function halves(batch: string[]): string[][] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

// Polling: asks one provider for the statuses of its orders, a batch at a time, those longest overdue first.
// A batch is taken by a command that moves each order's next poll, so what goes wrong afterwards delays no other order.

import { countDuePolls } from "../db/polling.ts";
import type { Report } from "../domain/polling.ts";
import type { DuePoll } from "../operations/polling.ts";
import { STATUS_BATCH_LIMIT } from "../providers/provider.ts";
import { pollBackoffMs } from "./backoff.ts";
import { createPollLateness } from "./poll-lateness.ts";
import type { DeliveryDeps, ProviderWorker } from "./provider-worker.ts";

/** Batches of one provider that may be in flight at once. */
const POLLS_LIMIT = 4;
/** A refused batch is halved until its bad entry stands alone: 100 takes seven steps. Then the provider is at fault. */
const FAILURES_LIMIT = 9;

export interface Poller {
  /** Begins the polls that are due and have room. */
  begin(): void;
  /** Logs an error when polls are late or the provider has not answered for long. */
  logLateness(): void;
  /** Whether polls that nothing keeps from being made are overdue: a provider that does not answer is no such thing. */
  isBehind(): boolean;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

export function createPoller(worker: ProviderWorker): Poller {
  const { connection, clock, log } = worker.deps;
  const inFlight = new Set<Promise<void>>();
  const backoff = createBackoff(worker.deps);
  const lateness = createPollLateness(worker);
  let batchSize = STATUS_BATCH_LIMIT;

  /** Whether there may be more to poll at once; when not, the next tick sees. */
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
        // One order may be what keeps the provider from answering: the next batch may be without it.
        batchSize = Math.ceil(batchSize / 2);
        backoff.start();
      }
      return true;
    } catch (error) {
      backoff.start();
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
    const room = POLLS_LIMIT - inFlight.size;
    if (worker.stopping || backoff.isInForce() || room <= 0) return;
    const due = countDuePolls(connection, worker.providerId, clock.now(), room * batchSize);
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
      return !lateness.isUnanswered() && now >= backoff.until() && lateness.isOverdue(now);
    },
    logLateness: () => lateness.log(clock.now()),
    async idle() {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
  };
}

/** No poll is begun for a while after one that failed. */
function createBackoff({ clock, random }: DeliveryDeps) {
  let failures = 0;
  let until = 0;
  return {
    until: () => until,
    isInForce() {
      const left = until - clock.now();
      // One that ends too far ahead was started before the clock was set back.
      return left > 0 && left <= pollBackoffMs(failures, () => 1);
    },
    start() {
      until = clock.now() + pollBackoffMs(failures, random);
      failures += 1;
    },
    reset: () => (failures = until = 0),
  };
}

/** One batch, from the command that takes it to the one that records the reports. */
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
    if (kind === "invalid") log.warn(fields, "a report was not believed: the order stays as it is");
    else if (kind === "late")
      log.warn(fields, "a change after the order's end: listed, not applied");
    else log.error(fields, "a report could not be written down");
  }
}

function halves(batch: string[]): string[][] {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
}

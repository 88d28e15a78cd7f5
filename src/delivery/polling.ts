// Following: asks one provider what became of its orders, a batch at a time, those longest overdue first.
// A batch is taken by a command that moves each order's next look, so what goes wrong afterwards holds nobody up.

import { countDueChecks, oldestDueCheck } from "../db/polling.ts";
import type { Report } from "../domain/polling.ts";
import type { Check } from "../operations/polling.ts";
import { STATUS_BATCH_LIMIT } from "../providers/provider.ts";
import type { Lane } from "./provider-worker.ts";
import { restMs } from "./backoff.ts";

/** Batches of one provider that may be asked about at once. */
const LOOKS_LIMIT = 4;
/** A refused batch is halved until its bad entry stands alone: 100 takes seven steps. Then the provider is at fault. */
const FAILURES_LIMIT = 9;
/** Looks that are overdue by this many poll intervals, and by this long, are late. */
const LATE_INTERVALS = 5;
const LATE_LEAST_MS = 60_000;
/** Being late is logged again after this long. */
const LATE_LOG_MS = 600_000;

export interface Following {
  /** Begins the looks that are due and have room. */
  begin(): void;
  /** Logs an error when looks are late or the provider has not answered for long. */
  watchLateness(): void;
  /** Whether looks that nothing keeps from being made are overdue: a provider that does not answer is no such thing. */
  isBehind(): boolean;
  /** Resolves when nothing is under way. */
  idle(): Promise<void>;
}

export function createFollowing(lane: Lane): Following {
  const { connection, clock, log, random, settings } = lane.works;
  const underWay = new Set<Promise<void>>();
  const lateMs = Math.max(settings.pollIntervalMs * LATE_INTERVALS, LATE_LEAST_MS);
  let batchSize = STATUS_BATCH_LIMIT;
  let failures = 0;
  let failing: { since: number; last: number } | null = null;
  let restUntil = 0;
  let lateLoggedAt: number | null = null;

  const rest = () => {
    restUntil = clock.now() + restMs(failures, random);
    failures += 1;
  };

  /** Whether there may be more to look at at once; when not, the next tick sees. */
  const look = async (): Promise<boolean> => {
    try {
      const outcome = await lookOnce(lane, batchSize);
      if (outcome === "nothing") return false;
      if (outcome === "answered") {
        failures = restUntil = 0;
        failing = null;
        batchSize = Math.min(batchSize * 2, STATUS_BATCH_LIMIT);
      } else {
        const now = clock.now();
        failing = { since: failing?.since ?? now, last: now };
        // One order may be what keeps the provider from answering: the next batch may be without it.
        batchSize = Math.ceil(batchSize / 2);
        rest();
      }
      return true;
    } catch (error) {
      rest();
      log.error({ provider: lane.name, error: String(error) }, "looking at orders failed");
      return false;
    }
  };

  const begin = () => {
    try {
      beginDue();
    } catch (error) {
      log.error({ provider: lane.name, error: String(error) }, "due orders could not be read");
    }
  };

  const beginDue = () => {
    const now = clock.now();
    // A rest that lies too far ahead was set before the clock went back.
    const resting = restUntil > now && restUntil - now <= restMs(failures, () => 1);
    const room = LOOKS_LIMIT - underWay.size;
    if (lane.stopping || resting || room <= 0) return;
    const due = countDueChecks(connection, lane.providerId, now, room * batchSize);
    const looks = Math.min(room, Math.ceil(due / batchSize));
    for (let started = 0; started < looks; started += 1) {
      const running: Promise<void> = look().then((more) => {
        underWay.delete(running);
        lane.wake();
        if (more) begin();
      });
      underWay.add(running);
    }
  };

  return {
    begin,
    isBehind() {
      const now = clock.now();
      if (failing !== null || now < restUntil) return false;
      const oldest = oldestDueCheck(connection, lane.providerId);
      return oldest !== null && now - oldest > lateMs;
    },
    watchLateness() {
      const now = clock.now();
      const oldest = oldestDueCheck(connection, lane.providerId);
      const overdueMs = oldest === null ? 0 : now - oldest;
      const silentMs = failing === null ? 0 : failing.last - failing.since;
      if (overdueMs <= lateMs && silentMs <= lateMs) {
        lateLoggedAt = null;
        return;
      }
      if (lateLoggedAt !== null && Math.abs(now - lateLoggedAt) < LATE_LOG_MS) return;
      lateLoggedAt = now;
      const seconds = Math.round(Math.max(overdueMs, silentMs) / 1000);
      log.error({ provider: lane.name, seconds }, "following orders is late");
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** One batch, from taking it to writing down what was said. */
async function lookOnce(lane: Lane, batchSize: number): Promise<"nothing" | "answered" | "failed"> {
  const { writer, settings, random } = lane.works;
  const { providerId } = lane;
  const { pollIntervalMs } = settings;
  const checks = await writer.submit("takeChecks", {
    providerId,
    limit: batchSize,
    pollIntervalMs,
    jitter: random(),
  });
  if (checks.length === 0) return "nothing";
  let answered = false;
  let failures = 0;
  const batches = [[...new Set(checks.map((check) => check.providerOrder))]];
  for (let batch = batches.shift(); batch && !lane.stopping; batch = batches.shift()) {
    const answer = await lane.api.status(batch, lane.stop.signal);
    if ("reports" in answer) {
      answered = true;
      failures = 0;
      await recordReports(lane, checks, answer.reports);
      continue;
    }
    failures += 1;
    const fields = { provider: lane.name, orders: batch.length, cause: answer.failed };
    // The halves fail as often as it takes to find the bad entry: that is one event.
    if (failures === 1) lane.works.log.warn(fields, "a question about orders was not answered");
    if (!answer.answered || failures >= FAILURES_LIMIT) break;
    // One entry may be what breaks the answer: the halves are asked about by themselves.
    if (batch.length > 1) batches.unshift(...halves(batch));
  }
  return answered ? "answered" : "failed";
}

async function recordReports(
  lane: Lane,
  checks: readonly Check[],
  answered: Map<string, Report>,
): Promise<void> {
  const { writer, settings, random, log } = lane.works;
  const { providerId } = lane;
  const { pollIntervalMs } = settings;
  const reports = checks.flatMap(({ orderId, providerOrder }) => {
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
    const fields = { provider: lane.name, order: orderId, reported: text };
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

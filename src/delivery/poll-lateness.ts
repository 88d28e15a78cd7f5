// Decides whether the polls of one provider are late, and logs it. Either this server does not keep up, or the
// provider has not responded for a long time.

import { type Lateness, pollsLateMs } from "../domain/alerts/conditions.ts";
import { oldestDuePoll } from "../db/delivery/polling.ts";
import type { ProviderWorker } from "./provider-worker.ts";

/** Time between two log lines about the same lateness. */
const LOG_INTERVAL_MS = 600_000;

export interface PollLateness {
  noteAnswered(): void;
  noteUnanswered(now: number): void;
  /** Whether the provider did not respond to the last poll. */
  isUnanswered(): boolean;
  /** Whether a poll should have been made long ago. */
  isOverdue(now: number): Promise<boolean>;
  /** `unknown` until the provider has answered this process, and while it does not answer. */
  state(now: number): Promise<Lateness>;
  /** Logs an error while polls are late, at most every LOG_INTERVAL_MS. */
  log(now: number): Promise<void>;
}

export function createPollLateness(worker: ProviderWorker): PollLateness {
  const { store, log, settings } = worker.deps;
  const limitMs = pollsLateMs(settings.pollIntervalMs);
  let unanswered: { since: number; last: number } | null = null;
  let hasAnswered = false;
  let loggedAt: number | null = null;

  const overdueMs = async (now: number) => {
    const oldest = await store.read((reader) => oldestDuePoll(reader, worker.providerId));
    return oldest === null ? 0 : now - oldest;
  };
  const lateMsAt = async (now: number) => {
    const silentMs = unanswered === null ? 0 : unanswered.last - unanswered.since;
    return Math.max(await overdueMs(now), silentMs);
  };
  return {
    noteAnswered() {
      unanswered = null;
      hasAnswered = true;
    },
    noteUnanswered: (now) => (unanswered = { since: unanswered?.since ?? now, last: now }),
    isUnanswered: () => unanswered !== null,
    isOverdue: async (now) => (await overdueMs(now)) > limitMs,
    async state(now) {
      if ((await lateMsAt(now)) > limitMs) return "late";
      return unanswered === null && hasAnswered ? "fine" : "unknown";
    },
    async log(now) {
      const lateMs = await lateMsAt(now);
      if (lateMs <= limitMs) {
        loggedAt = null;
        return;
      }
      if (loggedAt !== null && Math.abs(now - loggedAt) < LOG_INTERVAL_MS) return;
      loggedAt = now;
      const seconds = Math.round(lateMs / 1000);
      log.error({ provider: worker.name, seconds }, "polls are late");
    },
  };
}

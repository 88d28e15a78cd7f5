// Checks every few seconds for conditions that the operator should know, and records which alerts begin and which end.
// The queue of webhooks sends them. docs/specification/alerts.md#alerts.

import {
  listAlertEndpoints,
  listLimitedKeys,
  listOpenAlerts,
  listWebhooksFailed,
} from "../db/webhooks/alerts.ts";
import { listProviderAttention } from "../db/reports/attention.ts";
import { readMailFacts } from "../db/mails/mails.ts";
import { listSurplusFacts } from "../db/payments/payment-surpluses.ts";
import { readPaymentFacts } from "../db/payments/payments.ts";
import { listSpenders } from "../db/reports/hourly-spend.ts";
import type { Reader, ReadStore } from "../db/port/port.ts";
import type { Clock } from "../scheduling/clock.ts";
import { oneAtATime } from "../scheduling/one-at-a-time.ts";
import type { Tick, Ticker } from "../scheduling/ticker.ts";
import {
  type AlertChanges,
  alertChanges,
  alertConditions,
  type AlertText,
  TIMED_KINDS,
} from "../domain/alerts/alerts.ts";
import type { Lateness, MachineFacts } from "../domain/alerts/conditions.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import { createOutageWatch, type OutageDeps } from "./outage.ts";
import { utcDayBounds } from "../domain/values/calendar.ts";

const CHECK_MS = 10_000;
/** Number of checks in a row that must show a change, for kinds of alerts that depend on the clock. */
const STEADY_CHECKS = 3;

export interface AlertDeps extends Omit<OutageDeps, "endpoints"> {
  store: ReadStore;
  writer: Pick<Writer, "submit" | "isWritable">;
  clock: Clock;
  log: Pick<Logger, "info" | "warn" | "error">;
  ticker: Pick<Ticker, "add" | "wake">;
  /** Whether this server checks on behalf of all servers. */
  isLeader: () => boolean;
  machine: () => MachineFacts;
  /** Lateness by provider name. A provider is absent until something was sent to it. */
  lateness: () => Promise<ReadonlyMap<string, Lateness>>;
}

export interface AlertService {
  /** Starts nothing new, and waits for work in progress. */
  stop(): Promise<void>;
}

export function startAlerts(deps: AlertDeps): AlertService {
  const { store, writer, log, ticker, isLeader } = deps;
  const steadiness = createSteadiness();
  let endpoints: ReturnType<typeof listAlertEndpoints> = [];
  let checkedAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;

  const checking = oneAtATime(async () => {
    try {
      const lateness = await deps.lateness();
      const machine = deps.machine();
      const now = deps.clock.now();
      const read = await store.read((reader) => ({
        endpoints: listAlertEndpoints(reader),
        open: listOpenAlerts(reader),
        ...readFacts(reader, now),
      }));
      endpoints = read.endpoints;
      const providers = read.providers.map((provider) => ({
        ...provider,
        lateness: lateness.get(provider.name) ?? "unknown",
      }));
      const facts = { ...read, providers, machine };
      const conditions = alertConditions(facts, read.open, now);
      const changes = steadiness.settled(alertChanges(conditions, read.open, now));
      if (isStopping || isEmpty(changes)) return;
      logChanges(log, await writer.submit("recordAlerts", changes));
    } catch (error) {
      // The next check finds the same changes.
      log.warn({ error: String(error) }, "alerts could not be recorded; trying again");
    }
  });
  const outage = createOutageWatch({ ...deps, endpoints: () => endpoints });

  // Never waits, because deliveries use the same timer.
  const tick: Tick = (now) => {
    if (!isLeader()) steadiness.clear();
    outage.check(now);
    const isDue = Math.abs(now - checkedAt) >= CHECK_MS;
    if (isDue && isLeader() && writer.isWritable()) {
      checkedAt = now;
      void checking.run();
    }
    return Promise.resolve(null);
  };
  const endTicks = ticker.add(tick);
  ticker.wake();
  return {
    async stop() {
      isStopping = true;
      endTicks();
      outage.stop();
      await checking.idle();
    },
  };
}

function readFacts(reader: Reader, now: number) {
  return {
    providers: listProviderAttention(reader),
    failedWebhooks: listWebhooksFailed(reader),
    limitedKeys: listLimitedKeys(reader, utcDayBounds(now)),
    spenders: listSpenders(reader, now),
    payments: readPaymentFacts(reader),
    surpluses: listSurplusFacts(reader),
    mails: readMailFacts(reader, now),
  };
}

/**
 * Holds back changes of kinds that depend on the clock until STEADY_CHECKS checks in a row have shown them. Passes on
 * all other changes at once.
 */
function createSteadiness() {
  let seen = new Map<string, number>();
  return {
    settled({ begun, ended, changed = [] }: AlertChanges): AlertChanges {
      const counted = new Map<string, number>();
      const isSettled = (what: string) => (text: AlertText) => {
        if (!TIMED_KINDS.has(text.kind)) return true;
        const key = `${what} ${text.kind} ${text.subject}`;
        const checks = (seen.get(key) ?? 0) + 1;
        counted.set(key, checks);
        return checks >= STEADY_CHECKS;
      };
      const settled = {
        begun: begun.filter(isSettled("begun")),
        ended: ended.filter(isSettled("ended")),
        changed: changed.filter(isSettled("changed")),
      };
      seen = counted;
      return settled;
    },
    clear: () => seen.clear(),
  };
}

function isEmpty({ begun, ended, changed = [] }: AlertChanges): boolean {
  return begun.length + ended.length + changed.length === 0;
}

function logChanges(log: AlertDeps["log"], { begun, ended, changed = [] }: AlertChanges): void {
  for (const { kind, subject, message } of changed)
    log.warn({ kind, subject, message }, "alert became worse");
  for (const { kind, subject, message } of begun)
    log.warn({ kind, subject, message }, "alert raised");
  for (const { kind, subject } of ended) log.info({ kind, subject }, "alert resolved");
}

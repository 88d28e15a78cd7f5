// Looks every few seconds at what the operator should know, and records which alerts begin and which end; the queue of
// webhooks sends them. docs/decisions/0061-alerts-are-states-in-the-database.md.

import { listAlertEndpoints, listOpenAlerts, listWebhooksFailed } from "../db/alerts.ts";
import { listProviderAttention } from "../db/attention.ts";
import type { Reader, ReadStore } from "../db/port.ts";
import type { Clock } from "../delivery/clock.ts";
import { oneAtATime } from "../delivery/one-at-a-time.ts";
import type { Tick, Ticker } from "../delivery/ticker.ts";
import {
  type AlertChanges,
  alertChanges,
  type AlertMachineFacts,
  type AlertText,
  conditionsOf,
  type Lateness,
  TIMED_KINDS,
} from "../domain/alerts.ts";
import type { Logger } from "../monitoring/log.ts";
import type { Writer } from "../writer/writer.ts";
import { createOutageWatch, type OutageDeps } from "./outage.ts";

const LOOK_MS = 10_000;
/** In so many looks in a row a change of a kind that the clock decides must show. */
const STEADY_LOOKS = 3;

export interface AlertDeps extends Omit<OutageDeps, "endpoints"> {
  store: ReadStore;
  writer: Pick<Writer, "submit" | "isWritable">;
  clock: Clock;
  log: Pick<Logger, "info" | "warn" | "error">;
  ticker: Pick<Ticker, "add" | "wake">;
  /** Whether this server looks for all. */
  isLeader: () => boolean;
  machine: () => AlertMachineFacts;
  /** By the provider's name; absent: nothing was asked there yet. */
  lateness: () => Promise<ReadonlyMap<string, Lateness>>;
}

export interface AlertService {
  /** Starts nothing new, and waits for what is under way. */
  stop(): Promise<void>;
}

export function startAlerts(deps: AlertDeps): AlertService {
  const { store, writer, log, ticker, isLeader } = deps;
  const steadiness = createSteadiness();
  let endpoints: ReturnType<typeof listAlertEndpoints> = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isStopping = false;

  const look = oneAtATime(async () => {
    try {
      const lateness = await deps.lateness();
      const machine = deps.machine();
      const read = await store.read((reader) => ({
        endpoints: listAlertEndpoints(reader),
        open: listOpenAlerts(reader),
        ...readFacts(reader),
      }));
      endpoints = read.endpoints;
      const providers = read.providers.map((provider) => ({
        ...provider,
        // Where nothing is to be polled, nothing is late.
        lateness: provider.pollDueAt === null ? "fine" : (lateness.get(provider.name) ?? "unknown"),
      }));
      const facts = { providers, failedWebhooks: read.failedWebhooks, machine };
      const conditions = conditionsOf(facts, read.open, deps.clock.now());
      const changes = steadiness.settled(alertChanges(conditions, read.open));
      if (isStopping || changes.begun.length + changes.ended.length === 0) return;
      note(log, await writer.submit("recordAlerts", changes));
    } catch (error) {
      // The next look finds the same.
      log.warn({ error: String(error) }, "alerts could not be recorded, tried again");
    }
  });
  const outage = createOutageWatch({ ...deps, endpoints: () => endpoints });

  // Never waits: the timer is also that of the deliveries.
  const tick: Tick = (now) => {
    if (!isLeader()) steadiness.clear();
    const pause = outage.look(now);
    const isDue = Math.abs(now - lookedAt) >= LOOK_MS;
    if (isDue && isLeader() && writer.isWritable()) {
      lookedAt = now;
      void look.run();
    }
    return Promise.resolve(pause);
  };
  const endTicks = ticker.add(tick);
  ticker.wake();
  return {
    async stop() {
      isStopping = true;
      endTicks();
      outage.stop();
      await look.idle();
    },
  };
}

function readFacts(reader: Reader) {
  return {
    providers: listProviderAttention(reader),
    failedWebhooks: listWebhooksFailed(reader),
  };
}

/** Lets pass what the clock does not decide, and the rest once it has shown for long enough. */
function createSteadiness() {
  let seen = new Map<string, number>();
  return {
    settled({ begun, ended }: AlertChanges): AlertChanges {
      const counted = new Map<string, number>();
      const isSettled = (what: string) => (text: AlertText) => {
        if (!TIMED_KINDS.has(text.kind)) return true;
        const key = `${what} ${text.kind} ${text.subject}`;
        const looks = (seen.get(key) ?? 0) + 1;
        counted.set(key, looks);
        return looks >= STEADY_LOOKS;
      };
      const settled = {
        begun: begun.filter(isSettled("begun")),
        ended: ended.filter(isSettled("ended")),
      };
      seen = counted;
      return settled;
    },
    clear: () => seen.clear(),
  };
}

function note(log: AlertDeps["log"], { begun, ended }: AlertChanges): void {
  for (const { kind, subject, message } of begun)
    log.warn({ kind, subject, message }, "alert raised");
  for (const { kind, subject } of ended) log.info({ kind, subject }, "alert resolved");
}

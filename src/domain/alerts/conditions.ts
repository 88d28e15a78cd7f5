// The conditions that need the operator, with one set of thresholds. Alerts, the panel's Today, `doctor`,
// `provider list` and /readyz show them; each only renders. The rules: provider-conditions.ts, machine-conditions.ts.

import type { PausedBy } from "../providers/provider-pauses.ts";
import { MINUTE_MS, DAY_MS } from "../values/spans.ts";

/** The kinds of alerts: ids of rules, in the order of the documentation. */
export const ALERT_KINDS = [
  "provider_balance_low",
  "provider_out_of_funds",
  "provider_paused",
  "placement_unknown",
  "polling_late",
  "sync_held",
  "backup_old",
  "backup_failed",
  "backup_unverified",
  "disk_low",
  "webhook_disabled",
  "recharge_limited",
  "database_unwritable",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

const MIB = 1024 * 1024;
/** Free disk space: below the first soon no order can be written, below the second the operator should make room. */
export const DISK_FULL_BYTES = 64 * MIB;
export const DISK_LOW_BYTES = 1024 * MIB;
/** An open alert about the disk ends at this much free space. */
export const DISK_ENOUGH_BYTES = 1152 * MIB;
/** A time that is further than this in the future means that the clock was set back. */
export const CLOCK_BEHIND_MS = 5 * MINUTE_MS;
/** A submission that is overdue by more than this is late. */
export const SUBMISSION_LATE_MS = 5 * MINUTE_MS;
/** How long the database takes no writes before an alert says so. */
export const UNWRITABLE_MS = 10_000;
/** The default of `--poll-interval`. Commands judge by it, because they do not know the server's. */
export const POLL_INTERVAL_MS = MINUTE_MS;

/** Backups and off-site copies are old above this age. `backupEveryMs`: the time between two backups. */
export function backupOldMs(backupEveryMs = 0): number {
  return Math.max(2 * DAY_MS, 2 * backupEveryMs);
}

/** Polls are late when the oldest is overdue, or the provider has been silent, for longer than this. */
export function pollsLateMs(pollIntervalMs = POLL_INTERVAL_MS): number {
  return Math.max(5 * pollIntervalMs, 60_000);
}

/** `failure`: the service cannot do its work, and `doctor` fails; `problem`: something is wrong; `note`: to be decided. */
export type Severity = "failure" | "problem" | "note";

export interface Rule<Facts> {
  severity: (facts: Facts) => Severity;
  /** `unknown`: the facts do not tell, and an open alert goes on. */
  holds: (facts: Facts, now: number) => boolean | "unknown";
  /** What is wrong. The functions below it are called only when the rule holds, but for the subject of the alert. */
  text: (facts: Facts, now: number) => string;
  /** The page of the panel that resolves it, and what to do there. */
  page: (facts: Facts) => string;
  action: string;
  /** What to do without the panel, with the command. */
  advice: (facts: Facts) => string;
  /** Absent or null: no alert reports it. The kind is the rule's id unless given. */
  alert?: (facts: Facts) => { kind?: AlertKind; subject: string } | null;
  /** Severity of the alert as a whole number: when it doubles, the alert is repeated. */
  amount?: (facts: Facts, now: number) => number;
}

export type Rules<Facts> = Record<string, Rule<Facts>>;

export interface Condition {
  id: string;
  severity: Severity;
  text: string;
  page: string;
  action: string;
  advice: string;
}

/** The conditions that hold. */
export function conditionsOf<Facts>(rules: Rules<Facts>, facts: Facts, now: number): Condition[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    if (rule.holds(facts, now) !== true) return [];
    return {
      id,
      severity: rule.severity(facts),
      text: rule.text(facts, now),
      page: rule.page(facts),
      action: rule.action,
      advice: rule.advice(facts),
    };
  });
}

/** Joins what is wrong and what to do about it on the command line. */
export function sentenceOf({ text, advice }: Pick<Condition, "text" | "advice">): string {
  return `${text}: ${advice}`;
}

export interface AlertCondition {
  kind: AlertKind;
  subject: string;
  message: string;
  amount: number;
  /** `unknown`: an open alert about it stays unchanged. */
  state: "holds" | "unknown";
}

/** The conditions that alerts report, with those of which the facts do not tell. */
export function alertConditionsOf<Facts>(
  rules: Rules<Facts>,
  facts: Facts,
  now: number,
): AlertCondition[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    const state = rule.holds(facts, now);
    const alert = state === false ? null : (rule.alert?.(facts) ?? null);
    if (alert === null) return [];
    const { kind = id as AlertKind, subject } = alert;
    if (state === "unknown") return { kind, subject, message: "", amount: 0, state };
    const message = sentenceOf({ text: rule.text(facts, now), advice: rule.advice(facts) });
    return { kind, subject, message, amount: rule.amount?.(facts, now) ?? 0, state: "holds" };
  });
}

/** A time in UTC, to the second. */
export function utcText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** Whether a provider's polls are late; `unknown` until this process has polled it. */
export type Lateness = "late" | "fine" | "unknown";

/** Facts about the orders at one provider, or with a null name at all of them. */
export interface OrderFacts {
  name: string | null;
  /** Number of orders whose submission is unknown. */
  unknown: number;
  /** When the most overdue poll was due. In the future if none is overdue, null if none is scheduled. */
  pollDueAt: number | null;
  /** Lateness of its polls, by a process that makes them. */
  lateness?: Lateness;
}

export interface ProviderFacts extends OrderFacts {
  name: string;
  /** Whether the provider gets orders. */
  active: boolean;
  /** Since when the provider refuses orders for lack of funds; null: it does not. */
  outOfFundsAt: number | null;
  /** Since when submissions to it are paused, and why; null: they are not. */
  pausedAt: number | null;
  pausedBy: PausedBy | null;
  /** When its most overdue submission was due. In the future if none is overdue. */
  submissionDueAt: number | null;
  /** In the provider's currency; null: no threshold. */
  lowBalanceMicros: number | null;
  /** Last reported balance; null: never reported. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  /** A currency without a known rate to USD in which it charged; null: none. */
  foreignCurrency: string | null;
  /** Number of orders whose cost is not counted, because its rate to USD is not known. */
  uncountedCosts?: number;
  /** Why its last scheduled sync was not applied; null: it was. */
  syncHeld: string | null;
  /** Routes of active services that it no longer lists. */
  delistedRoutes: number;
}

/** Orders with a number that their provider does not know; `name` is null for those of all providers. */
export interface NumberFacts {
  name: string | null;
  count: number;
  /** Some of the orders, for texts and links. */
  orders: readonly { orderId: number; providerOrder: string }[];
}

/** Orders with an undecided late report; `name` is null for those of all providers. */
export interface LateReportFacts {
  name: string | null;
  count: number;
}

/** Requests to cancel or refill an order: that the operator decides, and with an unknown outcome. */
export interface RequestFacts {
  toDecide: number;
  unknown: number;
}

/** Facts about the machine. An absent one does not concern this process, or is not known to it. */
export interface MachineFacts {
  /** Null: there is no backup. */
  newestBackupAt?: number | null;
  /** Whether the newest backup is verified. */
  isBackupVerified?: boolean | undefined;
  /** Time of the newest off-site copy; null: none is known. */
  newestRemoteAt?: number | null;
  isRemoteVerified?: boolean;
  /** Time between two backups. */
  backupEveryMs?: number;
  /** Whether the last backup that this process tried failed, or no newer one was made since an alert said so. */
  hasBackupFailed?: boolean;
  freeBytes?: number;
  /** Whether an open alert says that the disk has little room: it ends later than it began. */
  isDiskAlertOpen?: boolean;
  /** The latest time of a transfer, order or user; null: nothing has been written yet. */
  lastRowAt?: number | null;
}

/** Webhooks that failed. */
export interface WebhookFacts {
  /** The user who has them; null: not told. */
  username: string | null;
  /** The endpoint; null: any number of them. */
  id: string | null;
  /** Endpoints that were disabled because they failed. */
  disabled: number;
  /** Active endpoints that have failed since their last success, and since when the first of them has. */
  failing: number;
  failingSince: number | null;
}

/** Usable keys that can add credit to a user, and how many of them to any user without a daily limit. */
export interface CreditKeyFacts {
  creditKeys: number;
  unlimitedCreditKeys: number;
}

// The conditions that need the operator, with one set of thresholds. Alerts, the panel's Today, `doctor`, `provider
// list` and /readyz only show them. The rules are in provider-conditions.ts and machine-conditions.ts.

import type { PausedBy } from "../providers/provider-pauses.ts";
import { MINUTE_MS, DAY_MS } from "../values/spans.ts";
import { MIB_BYTES } from "../values/units.ts";

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
  "mail_stuck",
  "recharge_limited",
  "spend_unusual",
  "payment_reversed",
  "payment_surplus",
  "payment_waiting",
  "database_unwritable",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Free disk space below which orders may soon fail to be written. */
export const DISK_FULL_BYTES = 64 * MIB_BYTES;
/** Free disk space below which the operator should free some. */
export const DISK_LOW_BYTES = 1024 * MIB_BYTES;
/** Free disk space at which an open alert about the disk ends. */
export const DISK_ENOUGH_BYTES = 1152 * MIB_BYTES;
/** How far a stored time must be in the future to show that the clock was set back. */
export const CLOCK_BEHIND_MS = 5 * MINUTE_MS;
/** How long a submission must be overdue to be late. */
export const SUBMISSION_LATE_MS = 5 * MINUTE_MS;
/** How long the database must refuse writes before an alert is sent. */
export const UNWRITABLE_MS = 10_000;
/** The default of `--poll-interval`. Commands assume it, because they do not know the server's setting. */
export const POLL_INTERVAL_MS = MINUTE_MS;

/**
 * Returns the age above which backups and off-site copies are too old. `backupEveryMs`: the time between two backups.
 */
export function backupOldMs(backupEveryMs = 0): number {
  return Math.max(2 * DAY_MS, 2 * backupEveryMs);
}

/** Returns how long a poll must be overdue, or the provider silent, before polls count as late. */
export function pollsLateMs(pollIntervalMs = POLL_INTERVAL_MS): number {
  return Math.max(5 * pollIntervalMs, MINUTE_MS);
}

/**
 * `failure`: the server cannot work, and `doctor` fails. `problem`: something is wrong. `note`: a decision is needed.
 */
export type Severity = "failure" | "problem" | "note";

export interface Rule<Facts> {
  severity: (facts: Facts) => Severity;
  /** `unknown`: cannot be decided from the facts; an open alert stays open. */
  holds: (facts: Facts, now: number) => boolean | "unknown";
  /**
   * What is wrong. `text`, `page`, `advice` and `amount` are called only when the rule holds; `alert` also when the
   * answer is `unknown`.
   */
  text: (facts: Facts, now: number) => string;
  /** The page of the panel on which the operator resolves the condition, and what to do there. */
  page: (facts: Facts) => string;
  action: string | ((facts: Facts) => string);
  /** What to do without the panel, with the command. */
  advice: (facts: Facts) => string;
  /** The alert that reports the condition; absent or null: none. `kind`: by default the rule's id. */
  alert?: (facts: Facts) => { kind?: AlertKind; subject: string } | null;
  /** How bad it is, as a whole number. When it doubles, the alert is repeated. */
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

/** Returns the conditions that hold. */
export function conditionsOf<Facts>(rules: Rules<Facts>, facts: Facts, now: number): Condition[] {
  return Object.entries(rules).flatMap(([id, rule]) => {
    if (rule.holds(facts, now) !== true) return [];
    return {
      id,
      severity: rule.severity(facts),
      text: rule.text(facts, now),
      page: rule.page(facts),
      action: typeof rule.action === "string" ? rule.action : rule.action(facts),
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

/** Returns the conditions that alerts report, including those with state `unknown`. */
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

/** Whether a provider's polls are late; `unknown` until this process has polled it. */
export type Lateness = "late" | "fine" | "unknown";

/** Facts about the orders at one provider; with a null name, at all providers. */
export interface OrderFacts {
  name: string | null;
  /** Number of orders whose submission is unknown. */
  unknown: number;
  /** When the most overdue poll was due. In the future if none is overdue, null if none is scheduled. */
  pollDueAt: number | null;
  /** Lateness of its polls, if this process makes them. */
  lateness?: Lateness;
}

/** Orders that wait for funds. */
export interface HeldFacts {
  orders: number;
  chargeMicros: number;
  /** What they cost at the provider, in its currency, as a decimal; null: not known. */
  cost: string | null;
  currency: string | null;
}

export interface ProviderFacts extends OrderFacts {
  name: string;
  /** Whether the provider gets orders. */
  active: boolean;
  /** When the provider began to refuse orders for lack of funds; null: it does not. */
  outOfFundsAt: number | null;
  /** When submissions to it were paused, and why; null: they are not paused. */
  pausedAt: number | null;
  pausedBy: PausedBy | null;
  /** When a pause by the operator ends by itself; null: when the operator resumes it. */
  pausedUntil: number | null;
  /** The orders that wait until it has funds; null: it is not paused for lack of them. */
  held: HeldFacts | null;
  /** When its most overdue submission was due. In the future if none is overdue. */
  submissionDueAt: number | null;
  /** The threshold of the balance, in the provider's currency; null: none. */
  lowBalanceMicros: number | null;
  /** The last reported balance; null: never reported. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  /** A currency without a known rate to USD in which it charged; null: none. */
  foreignCurrency: string | null;
  /** Number of orders whose cost is not counted, because the rate of its currency to USD is not known. */
  uncountedCosts?: number;
  /** Why its last scheduled sync was not applied; null: it was. */
  syncHeld: string | null;
  /** Number of routes of active services that it no longer lists. */
  delistedRoutes: number;
}

/** Orders with a number that their provider does not know, at one provider; with a null name, at all providers. */
export interface NumberFacts {
  name: string | null;
  count: number;
  /** Some of the orders, for texts and links. */
  orders: readonly { orderId: number; providerOrder: string }[];
}

/** Orders with an undecided late report, at one provider; with a null name, at all providers. */
export interface LateReportFacts {
  name: string | null;
  count: number;
}

/**
 * Open requests to cancel or refill: how many wait for the operator's decision, and how many have an unknown outcome.
 */
export interface RequestFacts {
  toDecide: number;
  unknown: number;
}

/** Facts about the machine. A fact is absent if this process does not know it or it does not apply. */
export interface MachineFacts {
  /** Null: there is no backup. */
  newestBackupAt?: number | null;
  isBackupVerified?: boolean | undefined;
  /** Time of the newest off-site copy; null: none is known. */
  newestRemoteAt?: number | null;
  isRemoteVerified?: boolean;
  /** Time between two backups. */
  backupEveryMs?: number;
  /** Whether the last backup of this process failed, or no backup was made since an alert about a failed one. */
  hasBackupFailed?: boolean;
  freeBytes?: number;
  /** Whether an alert about the disk is open. To end, it needs more free space than it had when it began. */
  isDiskAlertOpen?: boolean;
  /** The latest time of a transfer, order or user; null: nothing has been written yet. */
  lastRowAt?: number | null;
}

/** Webhooks that failed. */
export interface WebhookFacts {
  /** The user who has them; null: left out of the text. */
  username: string | null;
  /** The id of the endpoint; null: the facts are about several. */
  id: string | null;
  /** Number of endpoints that were disabled because they failed. */
  disabled: number;
  /**
   * Number of active endpoints that have failed since their last success; `failingSince`: when the first of them began
   * to fail.
   */
  failing: number;
  failingSince: number | null;
}

/** Number of usable keys that can add credit. `unlimitedCreditKeys`: to any user, without a daily limit. */
export interface CreditKeyFacts {
  creditKeys: number;
  unlimitedCreditKeys: number;
}

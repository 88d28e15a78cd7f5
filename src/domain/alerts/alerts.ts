// Alerts for the operator: lists the conditions to report now, and decides which alerts begin and end.
// docs/specification/alerts.md#alerts.

import { isPauseAskDue, type ProviderPause } from "../providers/provider-pauses.ts";
import {
  type AlertCondition,
  alertConditionsOf,
  type AlertKind,
  type MachineFacts,
  type ProviderFacts,
  UNWRITABLE_MS,
} from "./conditions.ts";
import { PROVIDER_RULES } from "./provider-conditions.ts";
import {
  BACKUPS,
  DISK,
  LIMITED_KEY_RULES,
  MACHINE_RULES,
  WEBHOOK_RULES,
  WRITER_RULES,
} from "./machine-conditions.ts";
import { MAIL_RULES, type MailFacts } from "./mail-conditions.ts";
import {
  PAYMENT_RULES,
  type PaymentFacts,
  SURPLUS_RULES,
  type SurplusFacts,
} from "./payment-conditions.ts";
import { SPEND_RULES, type SpendFacts } from "./spend-conditions.ts";
import { MINUTE_MS, HOUR_MS, DAY_MS } from "../values/spans.ts";

/** The kinds whose subject is the name of a provider. */
export const PROVIDER_KINDS: ReadonlySet<string> = new Set(
  Object.keys(PROVIDER_RULES).filter((id) => PROVIDER_RULES[id]!.alert !== undefined),
);

/** The events that alert endpoints receive. */
export type AlertEventType = "alert.raised" | "alert.resolved";
/** The kind of the alert about e-mails, which is not sent by e-mail. */
export const MAIL_ALERT_KIND: AlertKind = "mail_stuck";
/** The kind of the alert that `alert test` sends. It has no end. */
export const TEST_ALERT_KIND = "test";

/** How long ended alerts are kept. */
export const ALERT_RETENTION_MS = 90 * DAY_MS;

/** Shortest time between two balance calls to a provider with a threshold. */
export const BALANCE_INTERVAL_MS = 5 * MINUTE_MS;

/** Returns whether a balance call to the provider is due. */
export function isBalanceDue(
  provider: ProviderPause & { lowBalanceMicros: number | null; balanceAskedAt: number | null },
  now: number,
): boolean {
  const { lowBalanceMicros, balanceAskedAt: at } = provider;
  if (isPauseAskDue(provider, at, now)) return true;
  if (lowBalanceMicros === null) return false;
  // A clock that was set back must not delay the call for long.
  return at === null || Math.abs(now - at) >= BALANCE_INTERVAL_MS;
}

export interface AlertFacts {
  providers: readonly ProviderFacts[];
  /** Ids of resellers' endpoints that failures disabled. */
  failedWebhooks: readonly string[];
  /** Ids of keys that were refused a recharge today because of a limit. */
  limitedKeys: readonly string[];
  /** Resellers whose spend of the running hour is judged. */
  spenders: readonly SpendFacts[];
  payments: PaymentFacts;
  surpluses: readonly SurplusFacts[];
  mails: MailFacts;
  machine: MachineFacts;
}

export interface OpenAlert {
  kind: AlertKind;
  subject: string;
  message: string;
  raisedAt: number;
  /** When the alert was last repeated; null: not since it was raised. */
  notifiedAt: number | null;
  /** The amount when the alert was last sent; 0: its kind has no amount. */
  notifiedAmount: number;
}

export interface AlertText {
  kind: AlertKind;
  subject: string;
  message: string;
  /** Severity as a whole number; when it doubles, the alert is repeated. Absent: the kind has no amount. */
  amount?: number;
}

/** Shortest time before an alert is repeated. */
export const NOTIFY_AGAIN_MS = HOUR_MS;

/** Returns whether an open alert is repeated: its amount has doubled since it was last sent, at least an hour ago. */
export function isNotifiedAgain(
  open: Pick<OpenAlert, "raisedAt" | "notifiedAt" | "notifiedAmount">,
  amount: number,
  now: number,
): boolean {
  const isWorse = open.notifiedAmount > 0 && amount >= 2 * open.notifiedAmount;
  return isWorse && now - (open.notifiedAt ?? open.raisedAt) >= NOTIFY_AGAIN_MS;
}

/**
 * The kinds that depend on the clock. Because clocks jump, several checks must agree before such an alert begins or
 * ends.
 */
export const TIMED_KINDS: ReadonlySet<AlertKind> = new Set([
  "polling_late",
  "backup_old",
  "disk_low",
]);

/** Returns the conditions that alerts report, including those with state `unknown`. */
export function alertConditions(
  {
    providers,
    failedWebhooks,
    limitedKeys,
    spenders,
    payments,
    surpluses,
    mails,
    machine,
  }: AlertFacts,
  open: readonly OpenAlert[],
  now: number,
): AlertCondition[] {
  const openOf = (kind: AlertKind, subject: string) =>
    open.find((alert) => alert.kind === kind && alert.subject === subject);
  const failed = openOf("backup_failed", BACKUPS);
  const hasNoNewer = failed !== undefined && (machine.newestBackupAt ?? 0) <= failed.raisedAt;
  const facts = {
    ...machine,
    hasBackupFailed: machine.hasBackupFailed === true || hasNoNewer,
    isDiskAlertOpen: openOf("disk_low", DISK) !== undefined,
  };
  const webhook = { username: null, disabled: 1, failing: 0, failingSince: null };
  return [
    ...providers.flatMap((each) => alertConditionsOf(PROVIDER_RULES, each, now)),
    ...failedWebhooks.flatMap((id) => alertConditionsOf(WEBHOOK_RULES, { ...webhook, id }, now)),
    ...limitedKeys.flatMap((id) => alertConditionsOf(LIMITED_KEY_RULES, { id }, now)),
    ...spenders.flatMap((each) => alertConditionsOf(SPEND_RULES, each, now)),
    ...alertConditionsOf(PAYMENT_RULES, payments, now),
    ...surpluses.flatMap((each) => alertConditionsOf(SURPLUS_RULES, each, now)),
    ...alertConditionsOf(MAIL_RULES, mails, now),
    ...alertConditionsOf(MACHINE_RULES, facts, now),
  ];
}

/** Messages that are sent when an alert ends. */
const ENDINGS: Record<AlertKind, (subject: string) => string> = {
  provider_balance_low: (provider) => `The balance at ${provider} is no longer below its threshold`,
  provider_out_of_funds: (provider) => `${provider} takes orders again`,
  provider_paused: (provider) => `Submissions to ${provider} continue`,
  placement_unknown: (provider) => `All orders at ${provider} are settled`,
  polling_late: (provider) => `Orders at ${provider} are polled in time again`,
  sync_held: (provider) =>
    `A sync of ${provider} was applied, or ${provider} has no schedule any more`,
  backup_old: (what) => `There are new ${what} again`,
  backup_failed: () => "A backup was made again",
  backup_unverified: () => "The last backup is verified again",
  disk_low: () => "The disk has enough room again",
  recharge_limited: (key) => `A new day began for key ${key}, or its limits were changed`,
  spend_unusual: (reseller) => `The hour of unusual spend of reseller ${reseller} is over`,
  payment_reversed: () => "All refunded and disputed payments are decided",
  payment_surplus: (payment) => `Payment ${payment} has no money left to decide on`,
  payment_waiting: () => "No payment waits for a decision any more",
  webhook_disabled: (webhook) => `The webhook is no longer disabled by failures: ${webhook}`,
  mail_stuck: () => "E-mails are sent again",
  database_unwritable: () => "The database takes writes again",
};

export function endingOf(kind: AlertKind, subject: string): AlertText {
  return { kind, subject, message: ENDINGS[kind](subject) };
}

/** The alert of a database that takes no writes. */
export const UNWRITABLE: AlertText = (() => {
  const [found] = alertConditionsOf(WRITER_RULES, { unwritableMs: UNWRITABLE_MS }, 0);
  const { kind, subject, message } = found!;
  return { kind, subject, message };
})();

export interface AlertChanges {
  begun: AlertText[];
  ended: AlertText[];
  /** Open alerts that have a new text or are repeated. */
  changed?: AlertText[];
}

/** Decides which alerts begin, end, get a new text or are repeated. */
export function alertChanges(
  conditions: readonly AlertCondition[],
  open: readonly OpenAlert[],
  now: number,
): AlertChanges {
  const isOf = (a: { kind: string; subject: string }) => (b: { kind: string; subject: string }) =>
    a.kind === b.kind && a.subject === b.subject;
  const begun = conditions.filter((each) => each.state === "holds" && !open.some(isOf(each)));
  const over = open.filter((each) => !conditions.some(isOf(each)));
  const changed = conditions.filter((each) => {
    const alert = open.find(isOf(each));
    if (each.state !== "holds" || !alert) return false;
    return alert.message !== each.message || isNotifiedAgain(alert, each.amount, now);
  });
  const textOf = ({ kind, subject, message, amount }: AlertCondition): AlertText => {
    return { kind, subject, message, amount };
  };
  return {
    begun: begun.map(textOf),
    changed: changed.map(textOf),
    ended: over.map(({ kind, subject }) => endingOf(kind, subject)),
  };
}

/** Returns the body of an alert, as it is stored and sent to a URL. */
export function alertBody(
  type: AlertEventType,
  { kind, subject, message }: { kind: string; subject: string; message: string },
  at: number,
): string {
  return JSON.stringify({ type, kind, subject, message, at: new Date(at).toISOString() });
}

// Alerts for the operator: finds what is wrong now, and which alerts begin and end. docs/specification/alerts.md#alerts.

import { formatMicros } from "../ledger/money.ts";
import { isPauseAskDue, type PausedBy, type ProviderPause } from "../providers/provider-pauses.ts";
import { counted } from "../values/text.ts";
import { formatDuration } from "../values/units.ts";

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

/** Kinds whose subject is the name of a provider. */
export const PROVIDER_KINDS: ReadonlySet<string> = new Set<AlertKind>([
  "provider_balance_low",
  "provider_out_of_funds",
  "provider_paused",
  "placement_unknown",
  "polling_late",
  "sync_held",
]);

/** Events that the operator's endpoints receive. */
export type AlertEventType = "alert.raised" | "alert.resolved";
/** The kind of the alert that `alert test` sends; nothing resolves it. */
export const TEST_ALERT_KIND = "test";

/** How long ended alerts are kept. */
export const ALERT_RETENTION_MS = 90 * 86_400_000;

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** Limits for free disk space: the alert begins below the first (as in storage/doctor/doctor.ts), ends at the second. */
const ROOM_LOW_BYTES = 1024 * MIB;
const ROOM_ENOUGH_BYTES = 1152 * MIB;
const BACKUP_OLD_MS = 2 * DAY_MS;
/** A time further in the future than this means that the clock was set back since, so the age is unknown. */
const CLOCK_BEHIND_MS = 5 * 60_000;
/** Least time between two balance calls to a provider with a threshold. */
export const BALANCE_INTERVAL_MS = 5 * 60_000;

/** Whether a balance call to the provider is due. */
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

/** Whether a provider's polls are late; unknown until this process has polled it. */
export type Lateness = "late" | "fine" | "unknown";

export interface ProviderFacts {
  name: string;
  /** Whether the provider gets orders. */
  active: boolean;
  /** Since when the provider refuses orders for lack of funds; null: it does not. */
  outOfFundsAt: number | null;
  /** Why submissions are paused; null: they are not. */
  pausedBy: PausedBy | null;
  /** Number of orders whose submission is unknown. */
  unknown: number;
  lateness: Lateness;
  /** In the provider's currency; null: no threshold. */
  lowBalanceMicros: number | null;
  /** Last reported balance; null: never reported. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  /** Why its last scheduled sync was not applied; null: it was. */
  syncHeld: string | null;
}

export interface AlertFacts {
  providers: readonly ProviderFacts[];
  /** Ids of resellers' endpoints that failures disabled. */
  failedWebhooks: readonly string[];
  /** Ids of keys that were refused a recharge today because of a limit. */
  limitedKeys: readonly string[];
  machine: AlertMachineFacts;
}

/** Facts about the machine. An absent field does not concern this server. */
export interface AlertMachineFacts {
  /** Null: there is no backup. */
  newestBackupAt?: number | null;
  /** Whether the newest backup is verified. */
  isBackupVerified?: boolean;
  /** Time of the newest off-site copy; null: none is known. */
  newestRemoteAt?: number | null;
  /** Whether the last backup that this process tried failed. */
  hasBackupFailed?: boolean;
  /** Time between two backups. */
  backupEveryMs?: number;
  freeBytes?: number;
}

export interface OpenAlert {
  kind: AlertKind;
  subject: string;
  message: string;
  raisedAt: number;
  /** When the alert was last repeated; null: not since it was raised. */
  toldAt: number | null;
  /** Amount when it was last sent; 0: its kind has no amount. */
  toldAmount: number;
}

export interface AlertText {
  kind: AlertKind;
  subject: string;
  message: string;
  /** Severity as a whole number; when it doubles, the alert is repeated. Absent: the kind has no amount. */
  amount?: number;
}

/** Least time before an alert is repeated. */
export const TELL_AGAIN_MS = 3_600_000;

/** Whether an open alert is repeated: its amount has doubled since it was last sent, at least an hour ago. */
export function isToldAgain(
  open: Pick<OpenAlert, "raisedAt" | "toldAt" | "toldAmount">,
  amount: number,
  now: number,
): boolean {
  const isWorse = open.toldAmount > 0 && amount >= 2 * open.toldAmount;
  return isWorse && now - (open.toldAt ?? open.raisedAt) >= TELL_AGAIN_MS;
}

/** A condition that an alert reports. `unknown`: an open alert about it stays unchanged. */
export interface Condition extends AlertText {
  state: "holds" | "unknown";
}

/** Kinds that depend on the clock. Because clocks jump, such a condition must hold, or be over, for a while. */
export const TIMED_KINDS: ReadonlySet<AlertKind> = new Set([
  "polling_late",
  "backup_old",
  "disk_low",
]);

export function conditionsOf(
  { providers, failedWebhooks, limitedKeys, machine }: AlertFacts,
  open: readonly OpenAlert[],
  now: number,
): Condition[] {
  const openOf = (kind: AlertKind, subject: string) =>
    open.find((alert) => alert.kind === kind && alert.subject === subject);
  return [
    ...providers.flatMap(providerConditions),
    ...failedWebhooks.map((id) => holds("webhook_disabled", id, webhookDisabled(id))),
    ...limitedKeys.map((id) => holds("recharge_limited", id, rechargeLimited(id))),
    ...backupConditions(machine, openOf("backup_failed", BACKUPS), now),
    ...diskConditions(machine, openOf("disk_low", DISK)),
  ];
}

/** Leaves out the reseller's name: alerts are stored and sent where an erasure does not reach. */
function webhookDisabled(id: string): string {
  return `A webhook failed and is disabled: see \`reseller admin webhook show ${id}\``;
}

function rechargeLimited(id: string): string {
  return `Key ${id} was refused a recharge above its limit today: see \`reseller admin key list\``;
}

const BACKUPS = "backups";
const OFFSITE = "off-site copies";
const DISK = "disk";

function providerConditions(provider: ProviderFacts): Condition[] {
  const { name, active, outOfFundsAt, unknown, lateness, syncHeld } = provider;
  const conditions: Condition[] = [];
  // An inactive provider gets no orders, so no accepted order could show that it has funds again.
  if (active && outOfFundsAt !== null) {
    conditions.push(
      holds("provider_out_of_funds", name, `${name} refused an order for lack of funds: top up`),
    );
  }
  // A pause by the operator needs no alert.
  if (active && provider.pausedBy === "unknown") {
    conditions.push(holds("provider_paused", name, pausedText(name)));
  }
  if (unknown > 0) {
    conditions.push(
      holds(
        "placement_unknown",
        name,
        `${counted(unknown, "order")}: not known whether ${name} received ${unknown === 1 ? "it" : "them"}; settle with \`reseller admin order settle\``,
        unknown,
      ),
    );
  }
  if (lateness !== "fine") {
    const message = `Orders at ${name} are not polled in time, or it does not answer`;
    conditions.push({
      kind: "polling_late",
      subject: name,
      message,
      state: lateness === "late" ? "holds" : "unknown",
    });
  }
  // An inactive provider is not synced.
  if (active && syncHeld !== null) conditions.push(holds("sync_held", name, heldSync(provider)));
  return [...conditions, ...balanceConditions(provider)];
}

export function pausedText(name: string): string {
  return `Submissions to ${name} are paused after unknown outcomes in a row: they go on once it says our balance, or with \`reseller admin provider resume ${name}\``;
}

function balanceConditions(provider: ProviderFacts): Condition[] {
  const { name: subject, lowBalanceMicros, balanceMicros } = provider;
  const kind = "provider_balance_low";
  if (lowBalanceMicros !== null && balanceMicros === null) {
    return [{ kind, subject, message: "", state: "unknown" }];
  }
  const low = lowBalance(provider);
  return low === null ? [] : [holds(kind, subject, low)];
}

/** The message about a scheduled sync that was not applied; only for one with `syncHeld`. */
export function heldSync({ name, syncHeld }: Pick<ProviderFacts, "name" | "syncHeld">): string {
  return `The scheduled sync of ${name} was not applied: ${syncHeld}`;
}

/** The message about a low balance; null unless the balance is known to be below its threshold. */
export function lowBalance({
  name,
  lowBalanceMicros,
  balanceMicros,
  balanceCurrency,
}: Pick<ProviderFacts, "name" | "lowBalanceMicros" | "balanceMicros" | "balanceCurrency">):
  string | null {
  if (lowBalanceMicros === null || balanceMicros === null) return null;
  if (balanceMicros >= lowBalanceMicros) return null;
  const balance = `${formatMicros(balanceMicros)} ${balanceCurrency ?? ""}`.trim();
  return `The balance at ${name} is ${balance}, below ${formatMicros(lowBalanceMicros)}`;
}

function backupConditions(
  machine: AlertMachineFacts,
  failed: OpenAlert | undefined,
  now: number,
): Condition[] {
  const { newestBackupAt, newestRemoteAt, hasBackupFailed = false, backupEveryMs = 0 } = machine;
  const oldMs = Math.max(BACKUP_OLD_MS, 2 * backupEveryMs);
  const conditions = [
    ...ageConditions(BACKUPS, "backup", newestBackupAt, now, oldMs),
    ...ageConditions(OFFSITE, "off-site copy", newestRemoteAt, now, oldMs),
  ];
  if (machine.isBackupVerified !== true) {
    const message =
      "The last backup does not verify and is kept: run `reseller verify`, ask for help, and keep the last one that is verified";
    const state = machine.isBackupVerified === false ? "holds" : "unknown";
    conditions.push({ kind: "backup_unverified", subject: BACKUPS, message, state });
  }
  const isSucceeded = failed && (newestBackupAt ?? 0) > failed.raisedAt;
  if (hasBackupFailed || (failed && !isSucceeded)) {
    const message = "The last backup failed: see the log";
    conditions.push(holds("backup_failed", BACKUPS, message));
  }
  return conditions;
}

function ageConditions(
  subject: string,
  what: string,
  newestAt: number | null | undefined,
  now: number,
  oldMs: number,
): Condition[] {
  const kind = "backup_old";
  if (newestAt === undefined) return [{ kind, subject, message: "", state: "unknown" }];
  if (newestAt === null) return [holds(kind, subject, `There is no ${what}`)];
  const age = now - newestAt;
  if (age < -CLOCK_BEHIND_MS) return [{ kind, subject, message: "", state: "unknown" }];
  if (age <= oldMs) return [];
  const days = formatDuration(age - (age % DAY_MS));
  return [holds(kind, subject, `The last ${what} is ${days} old`, Math.floor(age / DAY_MS))];
}

function diskConditions(
  { freeBytes }: AlertMachineFacts,
  open: OpenAlert | undefined,
): Condition[] {
  if (freeBytes === undefined) return [];
  if (freeBytes >= (open ? ROOM_ENOUGH_BYTES : ROOM_LOW_BYTES)) return [];
  const free = Math.floor(freeBytes / MIB);
  // Half the free space doubles the amount.
  const amount = Math.round((1000 * ROOM_LOW_BYTES) / Math.max(freeBytes, MIB));
  return [holds("disk_low", DISK, `The disk has ${free} MiB free`, amount)];
}

function holds(kind: AlertKind, subject: string, message: string, amount = 0): Condition {
  return { kind, subject, message, amount, state: "holds" };
}

/** Messages that are sent when an alert ends. */
const ENDINGS: Record<AlertKind, (subject: string) => string> = {
  provider_balance_low: (provider) => `The balance at ${provider} is no longer below its threshold`,
  provider_out_of_funds: (provider) => `${provider} takes orders again`,
  provider_paused: (provider) => `Submissions to ${provider} go on`,
  placement_unknown: (provider) => `All orders at ${provider} are settled`,
  polling_late: (provider) => `Orders at ${provider} are polled in time again`,
  sync_held: (provider) => `A sync of ${provider} was applied, or none is scheduled any more`,
  backup_old: (what) => `There are new ${what} again`,
  backup_failed: () => "A backup was made again",
  backup_unverified: () => "The last backup is verified again",
  disk_low: () => "The disk has enough room again",
  recharge_limited: (key) => `A new day began for key ${key}, or its limits were changed`,
  webhook_disabled: (webhook) => `The webhook is no longer disabled by failures: ${webhook}`,
  database_unwritable: () => "The database takes writes again",
};

export function endingOf(kind: AlertKind, subject: string): AlertText {
  return { kind, subject, message: ENDINGS[kind](subject) };
}

export const UNWRITABLE: AlertText = {
  kind: "database_unwritable",
  subject: "database",
  message: "The database takes no writes: orders are refused with 503",
};

export interface AlertChanges {
  begun: AlertText[];
  ended: AlertText[];
  /** Open alerts whose text has changed, or that are repeated. */
  changed?: AlertText[];
}

/** Decides which alerts begin, which open ones end, and which have another text or are repeated. */
export function alertChanges(
  conditions: readonly Condition[],
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
    return alert.message !== each.message || isToldAgain(alert, each.amount ?? 0, now);
  });
  const textOf = ({ kind, subject, message, amount = 0 }: Condition): AlertText => {
    return { kind, subject, message, amount };
  };
  return {
    begun: begun.map(textOf),
    changed: changed.map(textOf),
    ended: over.map(({ kind, subject }) => endingOf(kind, subject)),
  };
}

/** The body of an alert, as it is stored and sent to a URL. */
export function alertBody(
  type: AlertEventType,
  { kind, subject, message }: { kind: string; subject: string; message: string },
  at: number,
): string {
  return JSON.stringify({ type, kind, subject, message, at: new Date(at).toISOString() });
}

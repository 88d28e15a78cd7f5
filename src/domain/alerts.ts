// Alerts for the operator: what is wrong now, and so which alerts begin and which end. docs/specification.md#alerts.

import { formatMicros } from "./money.ts";
import { counted } from "./text.ts";
import { formatDuration } from "./units.ts";

export const ALERT_KINDS = [
  "provider_balance_low",
  "provider_out_of_funds",
  "placement_unknown",
  "polling_late",
  "sync_held",
  "backup_old",
  "backup_failed",
  "disk_low",
  "webhook_disabled",
  "database_unwritable",
] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

/** Their subject is the name of a provider. */
export const PROVIDER_KINDS: ReadonlySet<string> = new Set<AlertKind>([
  "provider_balance_low",
  "provider_out_of_funds",
  "placement_unknown",
  "polling_late",
  "sync_held",
]);

/** What an operator's endpoint is sent. */
export type AlertEventType = "alert.raised" | "alert.resolved";
/** The kind of the alert that `alert test` sends; nothing resolves it. */
export const TEST_ALERT_KIND = "test";

/** Alerts that have ended are kept for so long. */
export const ALERT_RETENTION_MS = 90 * 86_400_000;

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** As `doctor` has them (storage/doctor.ts); room must grow some way beyond the limit before the alert ends. */
const ROOM_LOW_BYTES = 1024 * MIB;
const ROOM_ENOUGH_BYTES = 1152 * MIB;
const BACKUP_OLD_MS = 2 * DAY_MS;
/** A time further in the future is of a clock that was set back since: it tells no age. */
const CLOCK_BEHIND_MS = 5 * 60_000;
/** How often a provider with a threshold is asked for its balance at most. */
export const BALANCE_INTERVAL_MS = 5 * 60_000;

/** Whether a provider is asked for our balance now. */
export function isBalanceDue(
  provider: { lowBalanceMicros: number | null; balanceAskedAt: number | null },
  now: number,
): boolean {
  const { lowBalanceMicros, balanceAskedAt: at } = provider;
  if (lowBalanceMicros === null) return false;
  // A clock that was set back must not keep it waiting for long.
  return at === null || Math.abs(now - at) >= BALANCE_INTERVAL_MS;
}

/** Whether a provider's polls are late; unknown until this process has asked it. */
export type Lateness = "late" | "fine" | "unknown";

export interface ProviderFacts {
  name: string;
  /** Whether it is given orders. */
  active: boolean;
  /** Since when it refuses orders for lack of funds. */
  outOfFundsAt: number | null;
  /** Orders of which it is not known whether it has them. */
  unknown: number;
  lateness: Lateness;
  /** In the provider's currency; null: no threshold. */
  lowBalanceMicros: number | null;
  /** As it was last said; null: never. */
  balanceMicros: number | null;
  balanceCurrency: string | null;
  /** Why its last scheduled sync was not applied; null: it was. */
  syncHeld: string | null;
}

export interface AlertFacts {
  providers: readonly ProviderFacts[];
  /** Ids of resellers' endpoints that failures disabled. */
  failedWebhooks: readonly string[];
  machine: AlertMachineFacts;
}

/** What the machine says of itself; absent: it does not concern this server. */
export interface AlertMachineFacts {
  /** Null: there is none. */
  newestBackupAt?: number | null;
  /** Of a backup that is kept elsewhere; null: none is known. */
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
  raisedAt: number;
}

export interface AlertText {
  kind: AlertKind;
  subject: string;
  message: string;
}

/** A state of affairs. `unknown`: an alert of it stays as it is. */
export interface Condition extends AlertText {
  state: "holds" | "unknown";
}

/** Kinds that the clock decides: such a condition must hold, or be over, for a while, because clocks jump. */
export const TIMED_KINDS: ReadonlySet<AlertKind> = new Set([
  "polling_late",
  "backup_old",
  "disk_low",
]);

export function conditionsOf(
  { providers, failedWebhooks, machine }: AlertFacts,
  open: readonly OpenAlert[],
  now: number,
): Condition[] {
  const openOf = (kind: AlertKind, subject: string) =>
    open.find((alert) => alert.kind === kind && alert.subject === subject);
  return [
    ...providers.flatMap(providerConditions),
    ...failedWebhooks.map((id) => holds("webhook_disabled", id, webhookDisabled(id))),
    ...backupConditions(machine, openOf("backup_failed", BACKUPS), now),
    ...diskConditions(machine, openOf("disk_low", DISK)),
  ];
}

/** Without the reseller's name: alerts are kept, and sent away, where its erasure does not reach. */
function webhookDisabled(id: string): string {
  return `A webhook failed and is disabled: see \`reseller admin webhook show ${id}\``;
}

const BACKUPS = "backups";
const OFFSITE = "off-site copies";
const DISK = "disk";

function providerConditions(provider: ProviderFacts): Condition[] {
  const { name, active, outOfFundsAt, unknown, lateness, syncHeld } = provider;
  const conditions: Condition[] = [];
  // One that is given no orders will never accept the one that would show that it has funds again.
  if (active && outOfFundsAt !== null) {
    conditions.push(
      holds("provider_out_of_funds", name, `${name} refused an order for lack of funds: top up`),
    );
  }
  if (unknown > 0) {
    conditions.push(
      holds(
        "placement_unknown",
        name,
        `${counted(unknown, "order")}: not known whether ${name} received ${unknown === 1 ? "it" : "them"}; settle with \`reseller admin order settle\``,
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
  // One that is inactive is not synced.
  if (active && syncHeld !== null) conditions.push(holds("sync_held", name, heldSync(provider)));
  return [...conditions, ...balanceConditions(provider)];
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

/** Only where it was held. */
export function heldSync({ name, syncHeld }: Pick<ProviderFacts, "name" | "syncHeld">): string {
  return `The scheduled sync of ${name} was not applied: ${syncHeld}`;
}

/** Null: it is not known to be below its threshold. */
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
  return [holds(kind, subject, `The last ${what} is ${days} old`)];
}

function diskConditions(
  { freeBytes }: AlertMachineFacts,
  open: OpenAlert | undefined,
): Condition[] {
  if (freeBytes === undefined) return [];
  if (freeBytes >= (open ? ROOM_ENOUGH_BYTES : ROOM_LOW_BYTES)) return [];
  return [holds("disk_low", DISK, `The disk has ${Math.floor(freeBytes / MIB)} MiB free`)];
}

function holds(kind: AlertKind, subject: string, message: string): Condition {
  return { kind, subject, message, state: "holds" };
}

/** What is sent when an alert ends. */
const ENDINGS: Record<AlertKind, (subject: string) => string> = {
  provider_balance_low: (provider) => `The balance at ${provider} is no longer below its threshold`,
  provider_out_of_funds: (provider) => `${provider} takes orders again`,
  placement_unknown: (provider) => `All orders at ${provider} are settled`,
  polling_late: (provider) => `Orders at ${provider} are polled in time again`,
  sync_held: (provider) => `A sync of ${provider} was applied, or none is scheduled any more`,
  backup_old: (what) => `There are new ${what} again`,
  backup_failed: () => "A backup was made again",
  disk_low: () => "The disk has enough room again",
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
}

/** What of the conditions begins an alert, and which open ones end. */
export function alertChanges(
  conditions: readonly Condition[],
  open: readonly OpenAlert[],
): AlertChanges {
  const isOf = (a: { kind: string; subject: string }) => (b: { kind: string; subject: string }) =>
    a.kind === b.kind && a.subject === b.subject;
  const begun = conditions.filter((each) => each.state === "holds" && !open.some(isOf(each)));
  const over = open.filter((each) => !conditions.some(isOf(each)));
  return {
    begun: begun.map(({ kind, subject, message }) => ({ kind, subject, message })),
    ended: over.map(({ kind, subject }) => endingOf(kind, subject)),
  };
}

/** The body, as it is stored and sent to a URL. */
export function alertBody(
  type: AlertEventType,
  { kind, subject, message }: { kind: string; subject: string; message: string },
  at: number,
): string {
  return JSON.stringify({ type, kind, subject, message, at: new Date(at).toISOString() });
}

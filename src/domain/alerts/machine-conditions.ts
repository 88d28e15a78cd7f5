// The rules for the machine, the writer, webhooks and keys (conditions.ts).

import { counted } from "../values/text.ts";
import { formatDuration, MIB_BYTES } from "../values/units.ts";
import {
  backupOldMs,
  CLOCK_BEHIND_MS,
  type CreditKeyFacts,
  DISK_ENOUGH_BYTES,
  DISK_FULL_BYTES,
  DISK_LOW_BYTES,
  type MachineFacts,
  type Rules,
  UNWRITABLE_MS,
  type WebhookFacts,
} from "./conditions.ts";
import { utcText } from "../values/times.ts";
import { DAY_MS } from "../values/spans.ts";

export const BACKUPS = "backups";
const OFFSITE = "off-site copies";
export const DISK = "disk";

const systemPage = () => "/system";
const webhooksText = (count: number, { username }: WebhookFacts) =>
  `${count === 1 ? "A webhook" : `${count} webhooks`}${username === null ? "" : ` of ${username}`}`;
const webhooksPage = ({ username }: WebhookFacts) =>
  username === null ? "/webhooks" : `/users/${encodeURIComponent(username)}#webhooks`;

type NewestAt = number | null | undefined;

function isOld(newestAt: NewestAt, backupEveryMs: number | undefined, now: number) {
  // While the clock is behind, the age is unknown.
  if (newestAt === undefined) return "unknown";
  if (newestAt === null) return true;
  if (newestAt - now > CLOCK_BEHIND_MS) return "unknown";
  return now - newestAt > backupOldMs(backupEveryMs);
}

function ageText(what: string, newestAt: NewestAt, now: number): string {
  if (newestAt === null || newestAt === undefined) return `There is no ${what}`;
  return `The last ${what} is ${formatDuration(daysSince(newestAt, now) * DAY_MS)} old`;
}

function daysSince(at: NewestAt, now: number): number {
  return at === null || at === undefined ? 0 : Math.floor((now - at) / DAY_MS);
}

export const WEBHOOK_RULES: Rules<WebhookFacts> = {
  webhook_disabled: {
    severity: () => "note",
    holds: ({ disabled }) => disabled > 0,
    text: (facts) =>
      `${webhooksText(facts.disabled, facts)} failed and ${facts.disabled === 1 ? "is" : "are"} disabled`,
    page: webhooksPage,
    action: "See the user",
    advice: ({ id }) =>
      id === null
        ? "inform the owner; see `reseller admin webhook list`"
        : `see \`reseller admin webhook show ${id}\``,
    // Without the reseller's name, because an erasure does not reach alerts that were sent.
    alert: ({ id }) => (id === null ? null : { subject: id }),
  },
  webhook_failing: {
    severity: () => "note",
    holds: ({ failing }) => failing > 0,
    text: (facts) =>
      `${webhooksText(facts.failing, facts)} ${facts.failing === 1 ? "fails" : "fail"} since ${utcText(facts.failingSince!)}`,
    page: webhooksPage,
    action: "See the user",
    advice: () => "see `reseller admin webhook list`",
  },
};

export const MACHINE_RULES: Rules<MachineFacts> = {
  backup_old: {
    severity: () => "problem",
    holds: ({ newestBackupAt, backupEveryMs }, now) => isOld(newestBackupAt, backupEveryMs, now),
    text: ({ newestBackupAt }, now) => ageText("backup", newestBackupAt, now),
    page: systemPage,
    action: "Make one",
    advice: () => "`reseller backup FILE`, or see the log for `backup not made`",
    alert: () => ({ subject: BACKUPS }),
    amount: ({ newestBackupAt }, now) => daysSince(newestBackupAt, now),
  },
  backup_unverified: {
    severity: () => "failure",
    holds: ({ isBackupVerified }) =>
      isBackupVerified === undefined ? "unknown" : !isBackupVerified,
    text: () => "The last backup failed verification: something in the database is wrong",
    page: systemPage,
    action: "See the system",
    advice: () => "keep the last one that is verified, run `reseller verify` and ask for help",
    alert: () => ({ subject: BACKUPS }),
  },
  backup_failed: {
    severity: () => "problem",
    holds: ({ hasBackupFailed = false }) => hasBackupFailed,
    text: () => "The last backup failed",
    page: systemPage,
    action: "See the system",
    advice: () => "see the log",
    alert: () => ({ subject: BACKUPS }),
  },
  offsite_copy_unverified: {
    severity: () => "problem",
    holds: ({ isRemoteVerified = true }) => !isRemoteVerified,
    text: () => "The last off-site copy failed verification",
    page: systemPage,
    action: "See the system",
    advice: () => "keep the last copy that is verified, and run `reseller verify`",
  },
  offsite_copy_old: {
    severity: () => "problem",
    holds: ({ newestRemoteAt, backupEveryMs }, now) => isOld(newestRemoteAt, backupEveryMs, now),
    text: ({ newestRemoteAt }, now) => ageText("off-site copy", newestRemoteAt, now),
    page: systemPage,
    action: "See the system",
    advice: () => "see the log for `backup not copied off-site`",
    alert: () => ({ kind: "backup_old", subject: OFFSITE }),
    amount: ({ newestRemoteAt }, now) => daysSince(newestRemoteAt, now),
  },
  disk_low: {
    severity: ({ freeBytes }) => (freeBytes! < DISK_FULL_BYTES ? "failure" : "note"),
    holds: ({ freeBytes, isDiskAlertOpen }) =>
      freeBytes !== undefined && freeBytes < (isDiskAlertOpen ? DISK_ENOUGH_BYTES : DISK_LOW_BYTES),
    text: ({ freeBytes }) => `The disk has ${Math.floor(freeBytes! / MIB_BYTES)} MiB free`,
    page: systemPage,
    action: "See the system",
    advice: () => "free some space, or move --data; soon orders can no longer be written",
    alert: () => ({ subject: DISK }),
    // The amount doubles each time the free space halves.
    amount: ({ freeBytes }) =>
      Math.round((1000 * DISK_LOW_BYTES) / Math.max(freeBytes!, MIB_BYTES)),
  },
  clock_behind: {
    severity: () => "failure",
    holds: ({ lastRowAt }, now) =>
      lastRowAt !== undefined && lastRowAt !== null && lastRowAt - now > CLOCK_BEHIND_MS,
    text: ({ lastRowAt }) => `The clock is behind the last change, of ${utcText(lastRowAt!)}`,
    page: systemPage,
    action: "Set it",
    advice: () => "the clock was set back: correct it, and keep it correct with NTP",
  },
};

export const KEY_RULES: Rules<CreditKeyFacts> = {
  credit_keys_unlimited: {
    severity: () => "note",
    holds: ({ unlimitedCreditKeys }) => unlimitedCreditKeys > 0,
    text: ({ creditKeys, unlimitedCreditKeys }) =>
      `${counted(creditKeys, "key")} can add credit, ${unlimitedCreditKeys} of them to any user without a daily limit`,
    page: () => "/users",
    action: "See the users",
    advice: () =>
      "anyone who has such a key can add money to any balance: see `reseller admin key list`, then limit it with `reseller admin key update --recharge-daily` or deactivate it",
  },
};

export const IMPORTED_KEY_RULES: Rules<{ keysToRotate: number }> = {
  imported_keys: {
    severity: () => "note",
    holds: ({ keysToRotate }) => keysToRotate > 0,
    text: ({ keysToRotate }) =>
      `${counted(keysToRotate, "key")} of another panel still ${keysToRotate === 1 ? "works" : "work"}: that panel knows ${keysToRotate === 1 ? "it" : "them"}`,
    page: () => "/imported",
    action: "See what was imported",
    advice: () =>
      "ask the customers to rotate them: see `reseller admin key list --imported`, then `reseller admin key rotate`",
  },
};

export const LIMITED_KEY_RULES: Rules<{ id: string }> = {
  recharge_limited: {
    severity: () => "note",
    holds: () => true,
    text: ({ id }) => `Key ${id} was refused a recharge above its limit today`,
    page: () => "/users",
    action: "See the users",
    advice: () => "see `reseller admin key list`",
    alert: ({ id }) => ({ subject: id }),
  },
};

export const WRITER_RULES: Rules<{ unwritableMs: number }> = {
  database_unwritable: {
    severity: () => "failure",
    holds: ({ unwritableMs }) => unwritableMs >= UNWRITABLE_MS,
    text: () => "The database does not accept writes, and orders are refused with 503",
    page: systemPage,
    action: "See the system",
    advice: () => "`reseller doctor`",
    alert: () => ({ subject: "database" }),
  },
};

// Every condition just below and at its threshold: alerts, the panel's Today, `provider list` and `doctor` agree on it.

import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SETTINGS } from "../../../src/config/settings.ts";
import type { Attention } from "../../../src/db/reports/attention.ts";
import {
  backupOldMs,
  CLOCK_BEHIND_MS,
  type Condition,
  conditionsOf,
  DISK_FULL_BYTES,
  DISK_LOW_BYTES,
  type MachineFacts,
  POLL_INTERVAL_MS,
  pollsLateMs,
  type ProviderFacts,
  SUBMISSION_LATE_MS,
} from "../../../src/domain/alerts/conditions.ts";
import {
  LATE_REPORT_RULES,
  NUMBER_RULES,
  PROVIDER_RULES,
  REGISTRATION_RULES,
  REQUEST_RULES,
} from "../../../src/domain/alerts/provider-conditions.ts";
import {
  KEY_RULES,
  LIMITED_KEY_RULES,
  MACHINE_RULES,
  WEBHOOK_RULES,
  WRITER_RULES,
} from "../../../src/domain/alerts/machine-conditions.ts";
import {
  MAIL_RULES,
  type MailFacts,
  MAILS_LATE_MS,
} from "../../../src/domain/alerts/mail-conditions.ts";
import {
  PAYMENT_RULES,
  SURPLUS_RULES,
  type SurplusFacts,
} from "../../../src/domain/alerts/payment-conditions.ts";
import type { SurplusCause } from "../../../src/domain/payments/payment-surpluses.ts";
import { SPEND_RULES, type SpendFacts } from "../../../src/domain/alerts/spend-conditions.ts";
import { alertConditions } from "../../../src/domain/alerts/alerts.ts";
import { attentionItems } from "../../../src/panel/reports/attention.ts";
import { judged, rowFindings } from "../../../src/storage/doctor/findings.ts";
import { isRunnable, listCommands } from "../../../src/cli/kernel/command-tree.ts";
import { createProgram } from "../../../src/cli/kernel/program.ts";

const NOW = Date.UTC(2026, 10, 22);
const DAY = 86_400_000;

const PROVIDER: ProviderFacts = {
  name: "acme",
  active: true,
  unknown: 0,
  pollDueAt: null,
  outOfFundsAt: null,
  pausedAt: null,
  pausedBy: null,
  pausedUntil: null,
  held: null,
  submissionDueAt: null,
  lowBalanceMicros: null,
  balanceMicros: null,
  balanceCurrency: null,
  foreignCurrency: null,
  syncHeld: null,
  delistedRoutes: 0,
};
const NO_MAILS: MailFacts = { dueAt: null, troubledSince: null, failed: 0 };
const QUIET: Attention = {
  providers: [],
  unrecognized: [],
  lateOrders: 0,
  failedWebhooks: [],
  requests: { toDecide: 0, unknown: 0, atProvider: 0 },
  registrations: 0,
  spenders: [],
  payments: { waiting: 0, reversed: 0, surplus: 0 },
  surpluses: [],
  mails: NO_MAILS,
  lastRowAt: null,
};
const ROWS = {
  lastRowAt: null,
  unknownPlacements: 0,
  unrecognizedNumbers: 0,
  oldestDuePollAt: null,
  failedWebhooks: 0,
  creditKeys: 0,
  unlimitedCreditKeys: 0,
  keysToRotate: 0,
  spenders: [] as SpendFacts[],
  payments: { waiting: 0, reversed: 0, surplus: 0 },
  surpluses: [] as SurplusFacts[],
  mails: NO_MAILS,
};

/** The facts of a condition just below its threshold and at it. */
interface Case<Facts> {
  id: string;
  below: Facts;
  at: Facts;
}

const low = { lowBalanceMicros: 50, balanceCurrency: "USD" };
const PROVIDER_CASES: Case<Partial<ProviderFacts>>[] = [
  { id: "placement_unknown", below: { unknown: 0 }, at: { unknown: 1 } },
  {
    id: "polling_late",
    below: { pollDueAt: NOW - pollsLateMs() },
    at: { pollDueAt: NOW - pollsLateMs() - 1 },
  },
  {
    id: "submissions_late",
    below: { submissionDueAt: NOW - SUBMISSION_LATE_MS },
    at: { submissionDueAt: NOW - SUBMISSION_LATE_MS - 1 },
  },
  {
    id: "provider_paused",
    below: { active: false, pausedAt: NOW, pausedBy: "unknown" },
    at: { pausedAt: NOW, pausedBy: "unknown" },
  },
  {
    id: "provider_out_of_funds",
    below: { active: false, outOfFundsAt: NOW },
    at: { outOfFundsAt: NOW },
  },
  { id: "costs_uncounted", below: {}, at: { foreignCurrency: "INR" } },
  { id: "sync_held", below: { active: false, syncHeld: "why" }, at: { syncHeld: "why" } },
  { id: "routes_delisted", below: { delistedRoutes: 0 }, at: { delistedRoutes: 1 } },
  {
    id: "provider_balance_low",
    below: { ...low, balanceMicros: 50 },
    at: { ...low, balanceMicros: 49 },
  },
];

const fresh: MachineFacts = { newestBackupAt: NOW, isBackupVerified: true };
const MACHINE_CASES: Case<MachineFacts>[] = [
  {
    id: "backup_old",
    below: { ...fresh, newestBackupAt: NOW - backupOldMs() },
    at: { ...fresh, newestBackupAt: NOW - backupOldMs() - 1 },
  },
  { id: "backup_old", below: fresh, at: { ...fresh, newestBackupAt: null } },
  { id: "backup_unverified", below: fresh, at: { ...fresh, isBackupVerified: false } },
  { id: "backup_failed", below: fresh, at: { ...fresh, hasBackupFailed: true } },
  {
    id: "offsite_copy_old",
    below: { ...fresh, newestRemoteAt: NOW - backupOldMs() },
    at: { ...fresh, newestRemoteAt: NOW - backupOldMs() - 1 },
  },
  {
    id: "offsite_copy_unverified",
    below: { ...fresh, isRemoteVerified: true },
    at: { ...fresh, isRemoteVerified: false },
  },
  {
    id: "disk_low",
    below: { ...fresh, freeBytes: DISK_LOW_BYTES },
    at: { ...fresh, freeBytes: DISK_LOW_BYTES - 1 },
  },
];

/** The texts of the alerts about these facts. */
function alerts(facts: Partial<Parameters<typeof alertConditions>[0]>): string[] {
  const none = {
    providers: [],
    failedWebhooks: [],
    limitedKeys: [],
    spenders: [],
    payments: { waiting: 0, reversed: 0, surplus: 0 },
    surpluses: [],
    mails: NO_MAILS,
    machine: {},
  };
  const found = alertConditions({ ...none, ...facts }, [], NOW);
  return found.filter(({ state }) => state === "holds").map(({ message }) => message);
}

function panel(attention: Partial<Attention>, machine: MachineFacts = {}): string[] {
  const items = attentionItems({ ...QUIET, ...attention }, machine, new Map(), NOW);
  return items.map(({ text }) => text);
}

const reported = (rules: object, id: string) =>
  "alert" in (rules as Record<string, object>)[id]! ? [expect.any(String)] : [];

test.each(PROVIDER_CASES)("a provider's condition: $id", ({ id, below, at }) => {
  for (const [facts, holds] of [
    [{ ...PROVIDER, ...below }, false],
    [{ ...PROVIDER, ...at }, true],
  ] as const) {
    const listed = conditionsOf(PROVIDER_RULES, facts, NOW);
    expect(listed.map((each) => each.id)).toEqual(holds ? [id] : []);
    expect(panel({ providers: [facts] })).toEqual(listed.map(({ text }) => text));
    expect(alerts({ providers: [facts] })).toEqual(holds ? reported(PROVIDER_RULES, id) : []);
    const rows = { ...ROWS, unknownPlacements: facts.unknown, oldestDuePollAt: facts.pollDueAt };
    const isShown = id === "placement_unknown" || id === "polling_late";
    expect(states(rows)).toEqual(holds && isShown ? ["warn"] : []);
  }
});

test.each(MACHINE_CASES)("a condition of the machine: $id", ({ id, below, at }) => {
  for (const [facts, holds] of [
    [below, false],
    [at, true],
  ] as const) {
    const found = conditionsOf(MACHINE_RULES, facts, NOW);
    expect(found.map((each) => each.id)).toEqual(holds ? [id] : []);
    expect(panel({}, facts)).toEqual(found.map(({ text }) => text));
    expect(alerts({ machine: facts })).toEqual(holds ? reported(MACHINE_RULES, id) : []);
    expect(judged("check", "", found).state === "ok").toBe(!holds);
  }
});

test("the panel and doctor report the clock from the same threshold", () => {
  for (const [aheadMs, holds] of [
    [CLOCK_BEHIND_MS, false],
    [CLOCK_BEHIND_MS + 1, true],
  ] as const) {
    const lastRowAt = NOW + aheadMs;
    expect(panel({ lastRowAt })).toHaveLength(holds ? 1 : 0);
    expect(states({ ...ROWS, lastRowAt })).toEqual(holds ? ["fail"] : []);
  }
});

test("free disk space below DISK_FULL_BYTES, the default of --disk-floor, is a failure, not a note", () => {
  const severities = [DISK_FULL_BYTES, DISK_FULL_BYTES - 1].map(
    (freeBytes) => conditionsOf(MACHINE_RULES, { freeBytes }, NOW)[0]!.severity,
  );
  expect(severities).toEqual(["note", "failure"]);
  expect(SETTINGS["disk-floor"].default).toBe(DISK_FULL_BYTES);
});

test("wrong numbers, late reports, requests, webhooks and keys are reported from the first one", () => {
  const number = { orderId: 5, providerOrder: "9", provider: "acme" };
  expect(panel({ unrecognized: [number], lateOrders: 1 })).toHaveLength(2);
  expect(states({ ...ROWS, unrecognizedNumbers: 1 })).toEqual(["warn"]);
  expect(panel({ requests: { toDecide: 1, unknown: 1, atProvider: 1 } })).toHaveLength(2);
  const webhooks = { username: "alice", disabled: 1, failing: 0, failingSince: null };
  expect(panel({ failedWebhooks: [webhooks] })).toHaveLength(1);
  expect(alerts({ failedWebhooks: ["w1"] })).toHaveLength(1);
  expect(states({ ...ROWS, failedWebhooks: 1 })).toEqual(["warn"]);
  expect(alerts({ limitedKeys: ["k1"] })).toHaveLength(1);
  expect(states({ ...ROWS, creditKeys: 2, unlimitedCreditKeys: 1 })).toEqual(["warn"]);
  expect(states({ ...ROWS, creditKeys: 2 })).toEqual([]);
  expect(states({ ...ROWS, keysToRotate: 1 })).toEqual(["warn"]);
});

/** Spends ten times its usual: 28 days and the hours of today until NOW at 10 USD an hour. */
const HOURS_BEFORE = 28n * 24n + BigInt(Math.floor((NOW % DAY) / 3_600_000));
const SPENDER: SpendFacts = {
  id: "u1",
  username: "alice",
  createdAt: 0,
  hourMicros: 100_000_000n,
  totalMicros: 100_000_000n + HOURS_BEFORE * 10_000_000n,
};

test.each<[what: string, holds: boolean, facts: Partial<SpendFacts>]>([
  ["ten times its usual", true, {}],
  ["a micro less", false, { hourMicros: 99_999_999n, totalMicros: SPENDER.totalMicros - 1n }],
  [
    "a usual that is a micro an hour more",
    false,
    { totalMicros: SPENDER.totalMicros + HOURS_BEFORE },
  ],
  ["100 USD in its first hour", true, { createdAt: NOW, totalMicros: 100_000_000n }],
  [
    "a micro less in its first hour",
    false,
    { createdAt: NOW, hourMicros: 99_999_999n, totalMicros: 99_999_999n },
  ],
  [
    "as much as in the hour before, which was its first",
    false,
    { createdAt: NOW - 3_600_000, totalMicros: 200_000_000n },
  ],
  ["after more refunds than charges", true, { totalMicros: -5n }],
])("a reseller that spent %s in an hour: reported %p", (_, holds, facts) => {
  const spender = { ...SPENDER, ...facts };
  expect(alerts({ spenders: [spender] })).toHaveLength(holds ? 1 : 0);
  expect(panel({ spenders: [spender] })).toHaveLength(holds ? 1 : 0);
  expect(states({ ...ROWS, spenders: [spender] })).toEqual(holds ? ["warn"] : []);
});

test.each([
  ["none", { waiting: 0, reversed: 0 }, 0],
  ["one to decide on", { waiting: 1, reversed: 0 }, 1],
  ["one reversed", { waiting: 0, reversed: 1 }, 1],
  ["both", { waiting: 3, reversed: 2 }, 2],
])(
  "payments that need the operator, %s: by alerts, the panel and doctor alike",
  (_, counts, count) => {
    const payments = { ...counts, surplus: 0 };
    expect(alerts({ payments })).toHaveLength(count);
    expect(panel({ payments })).toHaveLength(count);
    expect(states({ ...ROWS, payments })).toHaveLength(Math.min(count, 1));
  },
);

function surplusOf(cause: SurplusCause): SurplusFacts {
  const reference = cause === "paid_again" ? "cs_1" : null;
  const of = { methodId: "card", currency: "EUR", settledAt: null, reference };
  return { id: "p1", surpluses: [{ cause, amountMicros: 25e6, leftMicros: 20e6, ...of }] };
}

test.each<[SurplusCause, string, string]>([
  [
    "paid_again",
    "20 EUR of 25 EUR received again by card (cs_1)",
    "give it back where it was paid, or credit it",
  ],
  [
    "dispute_won",
    "20 EUR of 25 EUR back at card, because a dispute was won",
    "credit it again, or give it back",
  ],
  ["refund_failed", "20 EUR of 25 EUR back at card, because a refund failed", "credit it"],
])(
  "a payment with a surplus, %s: by alerts, the panel and doctor alike, with the payment, amount and source",
  (cause, what, todo) => {
    const surpluses = [surplusOf(cause)];
    const text = `Payment p1 has money that is not credited: ${what}`;
    expect(alerts({ surpluses })).toEqual([expect.stringContaining(`${text}: `)]);
    expect(alerts({ surpluses })[0]).toContain(todo);
    expect(panel({ surpluses })).toEqual([text]);
    expect(states({ ...ROWS, surpluses })).toEqual(["warn"]);
    const two = { id: "p2", surpluses: [...surpluses[0]!.surpluses, ...surpluses[0]!.surpluses] };
    expect(alerts({ surpluses: [...surpluses, two] })).toHaveLength(2);
  },
);

test.each<[string, Partial<MailFacts>, alerts: number, count: number]>([
  ["none", {}, 0, 0],
  ["due for ten minutes", { dueAt: NOW - MAILS_LATE_MS }, 0, 0],
  ["due for longer", { dueAt: NOW - MAILS_LATE_MS - 1 }, 1, 1],
  [
    "that the mail server could not take for ten minutes",
    { troubledSince: NOW - MAILS_LATE_MS },
    0,
    0,
  ],
  ["that it could not take for longer", { troubledSince: NOW - MAILS_LATE_MS - 1 }, 1, 1],
  ["that failed", { failed: 2 }, 0, 1],
])("e-mails %s: by alerts, the panel and doctor", (_, changes, alerted, count) => {
  const mails = { ...NO_MAILS, ...changes };
  expect(alerts({ mails })).toHaveLength(alerted);
  expect(panel({ mails })).toHaveLength(count);
  expect(states({ ...ROWS, mails })).toHaveLength(count);
});

/** The states of what `doctor` finds in the rows that is not in order. */
function states(rows: typeof ROWS | Parameters<typeof rowFindings>[0]): string[] {
  return rowFindings(rows, NOW)
    .map(({ state }) => state)
    .filter((state) => state !== "ok");
}

test("late polls are judged by the server's interval, or by the default where that is unknown", () => {
  expect(SETTINGS["poll-interval"].default).toBe(POLL_INTERVAL_MS);
  expect([pollsLateMs(), pollsLateMs(1000), pollsLateMs(600_000)]).toEqual([
    300_000, 60_000, 3_000_000,
  ]);
});

test("the rules for Prometheus have the same thresholds", () => {
  const rules = readFileSync(new URL("../../../deploy/alerts.yml", import.meta.url), "utf8");
  const threshold = (metric: string) =>
    Number(new RegExp(`expr: ${metric} [<>] (\\S+)`).exec(rules)![1]);
  expect(threshold("reseller_disk_free_bytes")).toBe(DISK_LOW_BYTES);
  expect(threshold("reseller_backup_age_seconds")).toBe(backupOldMs() / 1000);
  expect(threshold("reseller_remote_backup_age_seconds")).toBe(backupOldMs() / 1000);
});

test("every rule for Prometheus says what to do", () => {
  const rules = readFileSync(new URL("../../../deploy/alerts.yml", import.meta.url), "utf8");
  const count = (part: RegExp) => rules.match(part)?.length ?? 0;
  expect(count(/^ +- alert: /gm)).toBeGreaterThan(0);
  expect(count(/^ +description: "./gm)).toBe(count(/^ +- alert: /gm));
});

test("every command that a condition names exists", async () => {
  const orders = [{ orderId: 5, providerOrder: "9" }];
  const everything = { ...PROVIDER, outOfFundsAt: NOW, pausedAt: NOW, unknown: 1, syncHeld: "why" };
  const webhooks = { username: "alice", id: null, disabled: 1, failing: 1, failingSince: NOW };
  const machine = { newestBackupAt: null, newestRemoteAt: null, isBackupVerified: false };
  const conditions: Condition[] = [
    ...conditionsOf(
      PROVIDER_RULES,
      { ...everything, pollDueAt: NOW - DAY, delistedRoutes: 1 },
      NOW,
    ),
    ...conditionsOf(PROVIDER_RULES, { ...PROVIDER, foreignCurrency: "INR" }, NOW),
    ...conditionsOf(NUMBER_RULES, { name: null, count: 1, orders }, NOW),
    ...conditionsOf(NUMBER_RULES, { name: null, count: 1, orders: [] }, NOW),
    ...conditionsOf(LATE_REPORT_RULES, { name: null, count: 1 }, NOW),
    ...conditionsOf(REQUEST_RULES, { toDecide: 1, unknown: 1 }, NOW),
    ...conditionsOf(REGISTRATION_RULES, { waiting: 1 }, NOW),
    ...conditionsOf(WEBHOOK_RULES, webhooks, NOW),
    ...conditionsOf(WEBHOOK_RULES, { ...webhooks, id: "w1" }, NOW),
    ...conditionsOf(MACHINE_RULES, { ...machine, isRemoteVerified: false, freeBytes: 0 }, NOW),
    ...conditionsOf(KEY_RULES, { creditKeys: 1, unlimitedCreditKeys: 1 }, NOW),
    ...conditionsOf(LIMITED_KEY_RULES, { id: "k1" }, NOW),
    ...conditionsOf(SPEND_RULES, SPENDER, NOW),
    ...conditionsOf(PAYMENT_RULES, { waiting: 1, reversed: 1, surplus: 1 }, NOW),
    ...conditionsOf(SURPLUS_RULES, surplusOf("paid_again"), NOW),
    ...conditionsOf(MAIL_RULES, { dueAt: 0, troubledSince: 0, failed: 1 }, NOW),
    ...conditionsOf(WRITER_RULES, { unwritableMs: DAY }, NOW),
  ];
  const commands = conditions.flatMap(({ advice }) => advice.match(/(?<=`reseller )[^`]+/g) ?? []);
  expect(commands.length).toBeGreaterThan(15);
  const known = listCommands(await createProgram())
    .filter(({ words, command }) => words !== "" && isRunnable(command))
    .map(({ words }) => words);
  const unknown = commands.filter((command) => !known.some((each) => command.startsWith(each)));
  expect(unknown).toEqual([]);
});

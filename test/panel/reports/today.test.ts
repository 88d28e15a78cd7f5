// The page Today: what needs attention, each with where it is settled, and figures that agree with the rows.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { attentionItems } from "../../../src/panel/reports/attention.ts";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";

let market: PanelMarket;

beforeAll(async () => {
  market = seedPanelMarket(await openPanel());
});
afterAll(() => market.stop());

/** The page with its figures: to count may take longer than a page waits for it. */
async function today(): Promise<string> {
  for (;;) {
    const { text } = await market.get("/");
    if (!text.includes("being counted")) return text;
    await Bun.sleep(10);
  }
}

const NO_REQUESTS = { toDecide: 0, unknown: 0, atProvider: 0 };
const QUIET = {
  unrecognized: [],
  providers: [],
  lateOrders: 0,
  failedWebhooks: [],
  requests: NO_REQUESTS,
  registrations: 0,
  spenders: [],
  payments: { waiting: 0, reversed: 0, surplus: 0 },
  surpluses: [],
  mails: { dueAt: null, troubledSince: null, failed: 0 },
  lastRowAt: null,
};
const PROVIDER = {
  name: "acme",
  active: true,
  outOfFundsAt: null,
  delistedRoutes: 0,
  foreignCurrency: null,
  pausedAt: null,
  pausedBy: null,
  pausedUntil: null,
  held: null,
  syncHeld: null,
  unknown: 0,
  submissionDueAt: null,
  pollDueAt: null,
  lowBalanceMicros: null,
  balanceMicros: null,
  balanceCurrency: null,
};
const NOW = Date.UTC(2026, 10, 22);
const HOUR = 3_600_000;

test("a day's orders, revenue and refunds match the rows, and follow their changes", async () => {
  const tiles = async () => {
    const text = await today();
    return [...text.matchAll(/class="card tile">([A-Za-z ]+) <strong>([^<]*)/g)].map(
      ([, name, value]) => [name, value],
    );
  };
  expect(await tiles()).toEqual([
    ["Orders", "0"],
    ["Revenue USD", "0.00"],
    ["Refunds USD", "0.00"],
    ["Net USD", "0.00"],
    ["Cost USD", "0.00"],
    ["Margin USD", "0.00"],
  ]);
  const [first] = [market.order(), market.order({ user: "bob", quantity: 1000 })];
  market.run("transitionOrder", { id: String(first), to: "CANCELLED", note: null });
  expect(await tiles()).toEqual([
    ["Orders", "2"],
    ["Revenue USD", "2.55"],
    ["Refunds USD", "0.23"],
    ["Net USD", "2.32"],
    ["Cost USD", "0.00"],
    ["Margin USD", "2.32"],
  ]);
  const text = await today();
  expect(text).toMatch(/href="\/orders\?status=CANCELLED">1 /);
  expect(text).toContain("Nothing needs attention.");
});

test("while the orders are counted, the page leads to the reports", async () => {
  const busy = seedPanelMarket(await openPanel({ activity: () => Promise.resolve(null) }));
  const { text } = await busy.get("/");
  expect(text).toContain("being counted");
  for (const name of ["Best resellers", "Best services"]) expect(text).toContain(`>${name}</a>`);
  await busy.stop();
});

test("an unknown placement links to the orders to settle", async () => {
  const id = market.delivered("unknown");
  const { text } = await market.get("/");
  expect(text).toContain("It is not known whether acme received 1 order");
  const [, href] = /href="([^"]*)">Settle</.exec(text)!;
  const list = await market.get(href!.replaceAll("&amp;", "&"));
  expect(list.text).toContain(`href="/orders/${id}"`);
});

test("a provider without funds links to the refunded orders that it refused", async () => {
  const id = market.delivered("queued");
  market.attempt(id, { outcome: "refused", cause: "Not enough funds", outOfFunds: true });
  const { text } = await market.get("/");
  expect(text).toContain("acme has refused orders for lack of funds since");
  const [, href] = /href="([^"]*)">Top up there. See the orders</.exec(text)!;
  const list = await market.get(href!.replaceAll("&amp;", "&"));
  expect(list.text).toContain(`href="/orders/${id}"`);
  expect(list.text).not.toContain("PENDING</span>");
  market.query("UPDATE providers SET out_of_funds_at = NULL");
});

test("a webhook that fails is shown from its first failure to its next success", async () => {
  const hook = { username: "alice", url: "https://hooks.example/", events: "*", secret: "s" };
  market.run("createWebhook", { ...hook, balanceLowBelow: null });
  const attempt = (httpStatus: number, error: "http_status" | null) => {
    market.run("creditUser", { username: "alice", amountMicros: 1, note: null });
    const due = { server: "a".repeat(24), limit: 10, perEndpoint: 10 };
    const taken = market.run("takeDueWebhookDeliveries", due);
    const attempts = taken.map(({ deliveryId, attempt: number }) => ({
      deliveryId,
      attempt: number,
      at: Date.now(),
      durationMs: 12,
      retryAfterSeconds: null,
      httpStatus,
      error,
      response: "",
    }));
    market.run("recordWebhookAttempts", { attempts, jitter: 0 });
  };
  expect((await market.get("/")).text).not.toContain("A webhook of alice");
  attempt(500, "http_status");
  const { text } = await market.get("/");
  expect(text).toMatch(
    /A webhook of alice fails since <time[^>]*>[^<]+ UTC<\/time><\/span> <a href="\/users\/alice#webhooks"/,
  );
  attempt(200, null);
  expect((await market.get("/")).text).not.toContain("A webhook of alice");
});

test.each([
  ["nothing", QUIET, {}, []],
  [
    "lack of funds",
    { ...QUIET, providers: [{ ...PROVIDER, outOfFundsAt: NOW, submissionDueAt: NOW - HOUR }] },
    {},
    ["bad acme has refused orders for lack of funds since 2026-11-22 00:00:00 UTC"],
  ],
  [
    "a low balance",
    {
      ...QUIET,
      providers: [
        {
          ...PROVIDER,
          lowBalanceMicros: 50_000_000,
          balanceMicros: 49_500_000,
          balanceCurrency: "EUR",
        },
      ],
    },
    {},
    ["bad The balance at acme is 49.5 EUR, below 50"],
  ],
  [
    "a provider that is paused",
    { ...QUIET, providers: [{ ...PROVIDER, pausedAt: NOW - HOUR, pausedBy: "unknown" as const }] },
    {},
    [
      "bad Submissions to acme are paused after unknown outcomes in a row since 2026-11-21 23:00:00 UTC",
    ],
  ],
  [
    "a provider that an operator paused",
    { ...QUIET, providers: [{ ...PROVIDER, pausedAt: NOW - HOUR, pausedBy: "operator" as const }] },
    {},
    ["busy Submissions to acme are paused by hand since 2026-11-21 23:00:00 UTC"],
  ],
  [
    "submissions and polls that are late",
    {
      ...QUIET,
      providers: [{ ...PROVIDER, submissionDueAt: NOW - HOUR, pollDueAt: NOW - HOUR }],
    },
    {},
    [
      "bad Orders at acme are not polled in time, or it does not answer",
      "bad Orders for acme have not been sent since 2026-11-21 23:00:00 UTC",
    ],
  ],
  ["what is due soon", { ...QUIET, providers: [{ ...PROVIDER, pollDueAt: NOW - 60_000 }] }, {}, []],
  [
    "late reports after what is worse",
    { ...QUIET, lateOrders: 2, lastRowAt: NOW + HOUR },
    { newestBackupAt: NOW - 50 * HOUR, freeBytes: 900 * 1024 * 1024 },
    [
      "bad The last backup is 2d old",
      "bad The clock is behind the last change, of 2026-11-22 01:00:00 UTC",
      "busy The disk has 900 MiB free",
      "busy 2 orders changed at the provider after their end",
    ],
  ],
  ["no backup", QUIET, { newestBackupAt: null }, ["bad There is no backup"]],
  [
    "a backup that does not verify",
    QUIET,
    { newestBackupAt: NOW, isBackupVerified: false },
    ["bad The last backup failed verification: something in the database is wrong"],
  ],
  ["no off-site copy", QUIET, { newestRemoteAt: null }, ["bad There is no off-site copy"]],
  ["a new off-site copy", QUIET, { newestRemoteAt: NOW - 47 * HOUR }, []],
  [
    "an old off-site copy",
    QUIET,
    { newestRemoteAt: NOW - 50 * HOUR },
    ["bad The last off-site copy is 2d old"],
  ],
  [
    "webhooks that failed",
    {
      ...QUIET,
      failedWebhooks: [
        { username: "alice", disabled: 1, failing: 1, failingSince: NOW - HOUR },
        { username: "bob", disabled: 2, failing: 0, failingSince: null },
        { username: "cleo", disabled: 0, failing: 3, failingSince: NOW },
      ],
    },
    {},
    [
      "busy A webhook of alice failed and is disabled",
      "busy A webhook of alice fails since 2026-11-21 23:00:00 UTC",
      "busy 2 webhooks of bob failed and are disabled",
      "busy 3 webhooks of cleo fail since 2026-11-22 00:00:00 UTC",
    ],
  ],
  [
    "requests",
    { ...QUIET, requests: { toDecide: 2, unknown: 1, atProvider: 7 } },
    {},
    [
      "bad It is not known what the provider did with 1 request",
      "busy 2 requests of resellers to cancel or refill an order",
    ],
  ],
  [
    "visitors who asked for an account",
    { ...QUIET, registrations: 2 },
    {},
    ["busy 2 visitors of the portal asked for an account"],
  ],
  [
    "a scheduled sync that waits",
    { ...QUIET, providers: [{ ...PROVIDER, syncHeld: "12 services would be deactivated" }] },
    {},
    ["busy The scheduled sync of acme was not applied (12 services would be deactivated)"],
  ],
  [
    "routes that are not listed any more",
    { ...QUIET, providers: [{ ...PROVIDER, delistedRoutes: 2 }] },
    {},
    ["busy acme does not list 2 services any more, and other routes deliver them"],
  ],
  ["little room", QUIET, { freeBytes: 1 }, ["bad The disk has 0 MiB free"]],
])("attention: %s", (_, attention, system, expected) => {
  const items = attentionItems(attention, system, new Map(), NOW);
  expect(items.map(({ tone, text }) => `${tone} ${text}`)).toEqual(expected);
  for (const { href } of items)
    expect(href).toMatch(
      /^\/(orders\?|requests$|members\/registrations$|services\?|system|providers\/|users\/\w+#webhooks)/,
    );
});

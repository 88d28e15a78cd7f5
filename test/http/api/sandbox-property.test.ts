// What a live key and the operator's reports see is the same with and without any amount of test traffic: a random story is
// told twice, once with test traffic between its steps.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { readAttention } from "../../../src/db/reports/attention.ts";
import { listOperatorOrders } from "../../../src/db/orders/operator-orders.ts";
import type { OperatorOrderFilter } from "../../../src/db/orders/operator-order-filter.ts";
import type { Reader } from "../../../src/db/port/port.ts";
import { listProviders, readProviderOrders } from "../../../src/db/providers/providers.ts";
import { REPORT_KEYS } from "../../../src/db/reports/reports.ts";
import { readUserFigures } from "../../../src/db/users/user-figures.ts";
import { listUsersBelow } from "../../../src/db/users/user-lists.ts";
import { listUsers } from "../../../src/db/users/users.ts";
import {
  countDisabledWebhooks,
  oldestUndeliveredAt,
} from "../../../src/db/webhooks/webhook-figures.ts";
import { ACTIVITY_DAYS, createActivityCounter, startOfDay } from "../../../src/reports/activity.ts";
import { DAY_MS } from "../../../src/domain/values/spans.ts";
import { readReport, type ReportRow } from "../../../src/reports/reports.ts";
import { createStatusCounter } from "../../../src/reports/status-counter.ts";
import type { ProviderApi } from "../../../src/providers/provider.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { seedSandbox, operate, type Sandbox } from "../../support/seeds/sandbox.ts";
import { openService } from "../../support/worlds/service.ts";
import { createHandClock } from "../../support/hand-clock.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const PATHS =
  "complete complete/2s partial/157 cancel fail refuse pending pending/complete pending/cancel funds 429 503 500 lost";
const LINKS = [
  "https://example.com/me",
  ...PATHS.split(" ").map((path) => `https://test.invalid/${path}`),
];

const STATUSES = ["PROCESSING", "COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"] as const;

type Step =
  | { kind: "order"; service: string; link: string; quantity: number; once: string | null }
  | { kind: "batch"; links: string[] }
  | { kind: "recharge"; username: string; amount: number }
  | { kind: "read"; path: string }
  | { kind: "move"; order: number; to: (typeof STATUSES)[number] }
  | { kind: "webhook" }
  | { kind: "pass"; ms: number };

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("order" as const),
      service: fc.constantFrom("likes", "views", "nothing"),
      link: fc.constantFrom(...LINKS),
      quantity: fc.constantFrom(1, 10, 1000, 9999),
      once: fc.constantFrom(null, null, "k1", "k2"),
    }),
  },
  fc.record({
    kind: fc.constant("batch" as const),
    links: fc.array(fc.constantFrom(...LINKS), { minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant("recharge" as const),
    username: fc.constantFrom("anna", "bert", "cleo", "nobody"),
    amount: fc.constantFrom(1, 0.5, 1e9),
  }),
  fc.record({
    kind: fc.constant("read" as const),
    path: fc.constantFrom("/orders", "/orders?status=FAILED", "/balance", "/transactions", "/services", "/user?username=cleo"),
  }),
  fc.record({
    kind: fc.constant("move" as const),
    order: fc.nat(5),
    to: fc.constantFrom(...STATUSES),
  }),
  fc.record({ kind: fc.constant("webhook" as const) }),
); // prettier-ignore

/** Time passes in both tellings alike, each time for longer than the service's timer may take to its next tick. */
const liveStep = fc.oneof(
  { weight: 5, arbitrary: step },
  fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(1500, 3000, 6000) }),
);

const story = fc.array(fc.record({ live: liveStep, test: fc.array(step, { maxLength: 4 }) }), {
  minLength: 1,
  maxLength: 10,
});

/** Accepts everything, and has completed it when it is asked. */
function liveProvider(): { api: ProviderApi; adds: string[] } {
  const adds: string[] = [];
  const none = () => Promise.reject(new Error("not to be called"));
  const api: ProviderApi = {
    submit({ link }) {
      adds.push(link);
      return Promise.resolve({ outcome: "accepted", providerOrder: String(adds.length) });
    },
    status: (orders) =>
      Promise.resolve({
        reports: new Map(
          orders.map((order) => [
            order,
            { word: "Completed", startCount: 5, remains: 0, text: "" },
          ]),
        ),
      }),
    cancel: none,
    refill: none,
    refillStatus: none,
    services: none,
    balance: none,
  };
  return { api, adds };
}

/** The time at which the clock stands still. */
const STORY_END = Date.UTC(2026, 0, 2);

/** One timer ticks for all deliveries: test orders change when it does, so a live order is sent or polled up to a tick apart. */
const TICKED =
  /"(changedAt|lastSuccessAt|nextPollAt|oldestUncheckedAt|pollDueAt|polledAt)":(\d{13})/g;
const LONGEST_TICK_MS = 1000;

/** Without ids and numbers, which come from one sequence for both sides: each by its place among those of its side. */
function masked(text: string): unknown {
  const numbers = new Map<string, number>();
  const place = (number: string) => {
    if (!numbers.has(number)) numbers.set(number, numbers.size);
    return numbers.get(number);
  };
  return JSON.parse(
    text
      .replaceAll(/"(orderId|seq|providerOrder)":"?(\d+)"?/g, (_, name: string, number: string) => `"${name}":${place(`${name} ${number}`)}`)
      .replaceAll(/"[a-z0-9]{24}"/g, '"an id"')
      .replaceAll(/"requestId":"[^"]*"/g, '"requestId":"an id"')
      // When each database was filled, before its story: by another clock.
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, (time) => (Date.parse(time.slice(1, -1)) > STORY_END ? '"before"' : time))
      .replaceAll(/(?<=At":)\d{13}/g, (time) => (Number(time) > STORY_END ? '"before"' : time))
      .replaceAll(/"secret":"[^"]*"/g, '"secret":"a secret"')
      .replaceAll(TICKED, '"$1":"a time"'),
  );
} // prettier-ignore

async function take(shop: Sandbox, each: Step, isTest: boolean): Promise<unknown> {
  const key = isTest ? shop.test : shop.live;
  const call = async (method: string, path: string, body?: unknown, headers = {}) => {
    const answer = await shop.call(method, path, key, body, headers).catch(() => null);
    if (answer === null) return "no answer";
    expect(answer.headers.get("x-test-mode")).toBe(isTest ? "true" : null);
    return [answer.status, masked(answer.text)];
  };
  switch (each.kind) {
    case "order": {
      const { service, link, quantity, once } = each;
      const headers = once === null ? {} : { "idempotency-key": once };
      return call("POST", "/orders", { service, link, quantity }, headers);
    }
    case "batch": {
      const orders = each.links.map((link) => ({ service: "likes", link, quantity: 100 }));
      return call("POST", "/orders/batch", { orders });
    }
    case "recharge":
      return call("POST", "/recharge", { username: each.username, amount: each.amount });
    case "read":
      return call("GET", each.path);
    case "webhook":
      return call("POST", "/webhooks", { url: "https://hooks.example/", events: ["*"] });
    case "pass":
      await shop.clock.pass(each.ms);
      return null;
    case "move":
      return isTest ? moveTestOrder(shop, each, call) : moveLiveOrder(shop, each);
  }
}

async function moveTestOrder(
  shop: Sandbox,
  { order, to }: Extract<Step, { kind: "move" }>,
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
): Promise<unknown> {
  const { orders } = (await shop.call("GET", "/orders", shop.test)).body;
  if (!orders[order]) return null;
  return call("POST", `/test/orders/${orders[order].orderId}`, { status: to, remains: 1 });
}

const listOrders = (reader: Reader, filter: OperatorOrderFilter = {}) =>
  listOperatorOrders(reader, filter, Number.MAX_SAFE_INTEGER, 100).rows;

/** By the operator, who names it by its place in the list. */
function moveLiveOrder(shop: Sandbox, { order, to }: Extract<Step, { kind: "move" }>): unknown {
  const found = shop.read((reader) => listOrders(reader))[order];
  if (!found || to === "PROCESSING") return null;
  try {
    operate(shop, "transitionOrder", { id: found.id, to, remains: 1, note: null });
    return to;
  } catch (error) {
    return String(error);
  }
}

/** What the operator's lists and metrics say. */
async function reports(sandbox: Sandbox) {
  const { store, clock } = sandbox;
  const counts = await createStatusCounter(store).read();
  const window = { from: null, to: null };
  const books: ReportRow[][] = [];
  for (const by of REPORT_KEYS) books.push(await readReport(store, by, window));
  const figures = await createActivityCounter(store, 0, () => clock.now())(60_000);
  const today = startOfDay(clock.now());
  const month = figures!(today - (ACTIVITY_DAYS - 1) * DAY_MS, today + DAY_MS);
  const seen = sandbox.read((reader) => ({
    orders: listOrders(reader),
    unknown: listOrders(reader, { status: "PENDING", placement: "unknown" }),
    users: listUsers(reader).map((user) => ({ ...user, balanceMicros: String(user.balanceMicros), depositedMicros: String(user.depositedMicros) })),
    providers: reader.each(listProviders(reader), (provider) => [provider, readProviderOrders(reader, provider.providerId)]),
    attention: { ...readAttention(reader, clock.now()), lastRowAt: null },
    listed: listUsersBelow(reader, {}, Number.MAX_SAFE_INTEGER, 100).rows.map(({ username }) => username),
    figures: reader.each(listUsers(reader), ({ account }) => ({ ...readUserFigures(reader, account, 1000), keyUsedAt: null })),
    undelivered: oldestUndeliveredAt(reader),
    disabled: countDisabledWebhooks(reader),
  })); // prettier-ignore
  const texts = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  const text = JSON.stringify({ ...seen, books, month, live: counts.live }, texts);
  const ticked = [...text.matchAll(TICKED)].map(([, , time]) => Number(time));
  return { reports: masked(text), ticked };
}

async function tell(steps: { live: Step; test: Step[] }[], isTested: boolean) {
  const { api, adds } = liveProvider();
  const shop = seedSandbox(await openService({ clock: createHandClock(), provider: api }));
  try {
    const seen: unknown[] = [];
    for (const { live, test: tests } of steps) {
      if (isTested) for (const each of tests) await take(shop, each, true);
      seen.push(await take(shop, live, false));
    }
    await shop.clock.pass(2000);
    const paths = ["/orders", "/balance", "/transactions", "/services", "/user?username=cleo"];
    for (const path of paths) seen.push(await take(shop, { kind: "read", path }, false));
    expect(await verifyStore(shop)).toEqual([]);
    return { seen, adds, ...(await reports(shop)) };
  } finally {
    await shop.stop();
  }
}

test("live responses, provider requests and reports are the same with and without test traffic", async () => {
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      const [tested, plain] = [await tell(steps, true), await tell(steps, false)];
      expect({ ...tested, ticked: tested.ticked.length }).toEqual({
        ...plain,
        ticked: plain.ticked.length,
      });
      const apart = tested.ticked.map((time, place) => Math.abs(time - plain.ticked[place]!));
      expect(apart.filter((milliseconds) => milliseconds > LONGEST_TICK_MS)).toEqual([]);
    }),
    { numRuns: ENGINE === "postgres" ? 2 : 8 },
  );
});

// Every state that an order can be in (status, placement, place among its routes, requests, late reports), each on an order of
// its own in one shop, and every event that can meet it. docs/specification/orders.md#order-transitions, #delivery, #order-requests.

import type { RequestResult } from "../../../src/domain/orders/order-requests.ts";
import type { SubmissionResult } from "../../../src/domain/delivery/deliveries.ts";
import type { OrderStatus } from "../../../src/domain/orders/order-statuses.ts";
import type { Report } from "../../../src/domain/delivery/polling.ts";
import { type StoreShop, seedStoreShop } from "../../support/seeds/store-shop.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import type { Engine } from "../../support/databases/engine.ts";
import { storeOf, freshStore } from "../../support/databases/stores.ts";

export const SERVER = "a".repeat(24);
export const OTHER_SERVER = "b".repeat(24);
export const HOUR_MS = 3_600_000;
const POLL_MS = 60_000;
const actor = { keyId: null, operator: "tester" };

export interface StateShop extends Pick<StoreShop, "store" | "run"> {
  now: number;
  caller: { keyId: string; resellerAccount: number };
  /** The number that a provider gave last: none is given twice, unless an event says so. */
  lastNumber: number;
}

/** An order, and what its events refer to. */
export interface Subject {
  orderId: number;
  service: string;
  attempts: number[];
  requests: number[];
}

const REFUSED = { outcome: "refused", cause: "no", outOfFunds: false } as const;
const NO_FUNDS = { outcome: "refused", cause: "no funds", outOfFunds: true } as const;
const NOT_SENT = { outcome: "not_sent", cause: "ECONNREFUSED" } as const;
const UNCALLED = { outcome: "not_sent", cause: "late", providerNotCalled: true } as const;
const UNKNOWN = { outcome: "unknown", cause: "no reply" } as const;

/** `single` goes to provider 1, `double` to 1 and then 2, `hand` to nobody; `likes` is that of seedStoreShop. */
async function openStates(engine: Engine): Promise<StateShop> {
  const shop = await seedStoreShop(await freshStore(engine), { hasRoutes: true });
  const terms = {
    priceMicros: 1_000_003,
    per: "1000",
    min: 1,
    max: 10_000,
    private: false,
  } as const;
  const asked = { cancel: true, refill: true };
  const service = (id: string, provider?: { name: string; service: string }) =>
    shop.run("createService", {
      id,
      name: id,
      ...terms,
      ...asked,
      ...(provider && { provider }),
      actor,
    });
  await service("single", { name: "acme", service: "70" });
  await service("double", { name: "acme", service: "71" });
  await service("hand");
  const route = { id: "double", provider: "bulk", providerService: "80", priority: null };
  await shop.run("putRoute", { ...route, actor });
  const [key] = await shop.store.query("SELECT id, reseller_account FROM keys");
  const caller = { keyId: String(key!["id"]), resellerAccount: Number(key!["reseller_account"]) };
  return { ...shop, now: Date.now(), caller, lastNumber: 1000 };
}

interface Reached {
  shop: StateShop;
  /** By their states. */
  subjects: ReadonlyMap<string, Subject>;
}

let kept: (Reached & { image: Uint8Array }) | undefined;

/** A shop with an order in each of STATES. */
export async function openReached(engine: Engine): Promise<Reached> {
  if (engine === "postgres") return reachAll(engine);
  if (!kept) {
    const { shop, subjects } = await reachAll(engine);
    kept = { shop, subjects, image: shop.store.image() };
  }
  const store = storeOf(kept.image);
  const run: StateShop["run"] = async (name, input, now = Date.now()) =>
    execute(store, name, input, now);
  return { shop: { ...kept.shop, store, run }, subjects: structuredClone(kept.subjects) };
}

async function reachAll(engine: Engine): Promise<Reached> {
  const shop = await openStates(engine);
  const reached = Object.keys(STATES).map(
    async (state) => [state, await reach(shop, state)] as const,
  );
  return { shop, subjects: new Map(await Promise.all(reached)) };
}

async function place(shop: StateShop, service: string): Promise<Subject> {
  const order = { service, link: `https://example.com/${service}`, quantity: 1000 };
  const { orderId } = await shop.run("placeOrder", { ...shop.caller, ...order }, shop.now);
  return { orderId, service, attempts: [], requests: [] };
}

/** Where an order is now. */
async function at(shop: StateShop, { orderId }: Subject) {
  const [row] = await shop.store.query(
    `SELECT coalesce(provider_id, 1) AS "providerId", provider_order AS "providerOrder"
    FROM orders WHERE order_id = ${orderId}`,
  );
  const { providerId, providerOrder } = row as { providerId: number; providerOrder: string | null };
  return { providerId: Number(providerId), providerOrder };
}

async function begin(shop: StateShop, subject: Subject, now = shop.now, server = SERVER) {
  // Nobody sends an order that is delivered by hand.
  if (subject.service === "hand") return;
  const { providerId } = await at(shop, subject);
  const { orderId } = subject;
  const input = { orderId, providerId, server, placeRetryMs: HOUR_MS };
  const started = await shop.run("startAttempt", input, now);
  if (started.send) subject.attempts.push(started.attemptId);
}

async function end(shop: StateShop, subject: Subject, result: SubmissionResult, index = -1) {
  const attemptId = subject.attempts.at(index);
  if (attemptId === undefined) return;
  const input = {
    orderId: subject.orderId,
    attemptId,
    result,
    placeRetryMs: HOUR_MS,
    backoffMs: 1000,
  };
  await shop.run("finishAttempt", input, shop.now);
}

const accepted = (shop: StateShop) =>
  ({ outcome: "accepted", providerOrder: String((shop.lastNumber += 1)) }) as const;

async function attempt(shop: StateShop, subject: Subject, result: SubmissionResult) {
  const before = subject.attempts.length;
  await begin(shop, subject);
  if (subject.attempts.length > before) await end(shop, subject, result);
}

async function ask(shop: StateShop, subject: Subject, kind: "cancel" | "refill") {
  const id = String(subject.orderId);
  const { requestId } = await shop.run("makeRequest", { ...shop.caller, kind, id }, shop.now);
  subject.requests.push(requestId);
}

async function sendRequest(shop: StateShop, subject: Subject, result: RequestResult | null) {
  const requestId = subject.requests.at(-1);
  if (requestId === undefined) return;
  const { providerId } = await at(shop, subject);
  const input = { requestId, providerId, server: SERVER, placeRetryMs: HOUR_MS };
  await shop.run("startRequest", input, shop.now);
  if (result) await finishRequest(shop, subject, result);
}

async function isRefill({ store }: StateShop, { requests }: Subject): Promise<boolean> {
  const [row] = await store.query(
    `SELECT kind FROM order_requests WHERE request_id = ${requests.at(-1) ?? 0}`,
  );
  return row?.["kind"] === "refill";
}

async function finishRequest(shop: StateShop, { requests }: Subject, result: RequestResult) {
  const requestId = requests.at(-1);
  if (requestId === undefined) return;
  await shop.run(
    "finishRequest",
    { requestId, result, backoffMs: 1000, pollIntervalMs: POLL_MS },
    shop.now,
  );
}

async function report(
  shop: StateShop,
  subject: Subject,
  said: Partial<Report> & { word: string | null },
) {
  const { orderId } = subject;
  const { providerId, providerOrder } = await at(shop, subject);
  if (providerOrder === null) return;
  const full = { startCount: null, remains: null, text: "{}", ...said };
  const reports = [{ orderId, providerOrder, report: full }];
  const schedule = { pollIntervalMs: POLL_MS, jitter: 0 };
  await shop.run("recordReports", { providerId, reports, ...schedule }, shop.now);
}

function move(
  shop: StateShop,
  { orderId }: Subject,
  to: Exclude<OrderStatus, "PENDING" | "PROCESSING">,
) {
  const input = { id: String(orderId), to, remains: 400, note: null, actor };
  return shop.run("transitionOrder", input, shop.now);
}

async function decide(
  shop: StateShop,
  { requests }: Subject,
  decision: "approve" | "decline" | "complete",
) {
  const requestId = requests.at(-1);
  if (requestId === undefined) return;
  await shop.run("decideRequest", { id: String(requestId), decision, note: null, actor }, shop.now);
}

function settle(shop: StateShop, { orderId }: Subject, providerOrder: string | null) {
  return shop.run("settleOrder", { id: String(orderId), providerOrder, actor }, shop.now);
}

async function resend(shop: StateShop, { orderId }: Subject, price: "then" | "now") {
  const [row] = await shop.store.query(
    `SELECT charge_micros FROM orders WHERE order_id = ${orderId}`,
  );
  const confirmed = { price, chargeMicros: Number(row!["charge_micros"]) };
  const choices = { link: null, note: null, provider: null, providerService: null };
  const input = { id: String(orderId), ...confirmed, ...choices, actor };
  return shop.run("resendOrder", input, shop.now);
}

const cost = (charge: string) => ({ cost: { charge, currency: null } });
type Step = (shop: StateShop, subject: Subject) => Promise<unknown>;

const steps = {
  begin: (shop, subject) => begin(shop, subject),
  accepted: (shop, subject) => attempt(shop, subject, accepted(shop)),
  refused: (shop, subject) => attempt(shop, subject, REFUSED),
  notSent: (shop, subject) => attempt(shop, subject, NOT_SENT),
  unknown: (shop, subject) => attempt(shop, subject, UNKNOWN),
  endAccepted: (shop, subject) => end(shop, subject, accepted(shop)),
  endRefused: (shop, subject) => end(shop, subject, REFUSED),
  endUnknown: (shop, subject) => end(shop, subject, UNKNOWN),
  expire: (shop, subject) => begin(shop, subject, shop.now + 2 * HOUR_MS),
  cancel: (shop, subject) => ask(shop, subject, "cancel"),
  refill: (shop, subject) => ask(shop, subject, "refill"),
  requestSending: (shop, subject) => sendRequest(shop, subject, null),
  requestUnknown: (shop, subject) => sendRequest(shop, subject, UNKNOWN),
  requestRefused: (shop, subject) =>
    sendRequest(shop, subject, { outcome: "refused", cause: "no" }),
  requestAccepted: (shop, subject) =>
    sendRequest(shop, subject, { outcome: "accepted", refill: null }),
  refillAccepted: async (shop, subject) => {
    // A reply to a cancellation has no number.
    if (await isRefill(shop, subject)) {
      const refill = `f${subject.orderId}`;
      await sendRequest(shop, subject, { outcome: "accepted", refill });
    }
  },
  approve: (shop, subject) => decide(shop, subject, "approve"),
  progress: (shop, subject) =>
    report(shop, subject, { word: "In progress", remains: 700, startCount: 5, ...cost("0.5") }),
  completed: (shop, subject) => report(shop, subject, { word: "Completed", ...cost("0.5") }),
  partial: (shop, subject) =>
    report(shop, subject, { word: "Partial", remains: 400, ...cost("0.3") }),
  canceled: (shop, subject) => report(shop, subject, { word: "Canceled" }),
  failed: (shop, subject) => report(shop, subject, { word: "Failed" }),
  operatorCompletes: (shop, subject) => move(shop, subject, "COMPLETED"),
  operatorPartial: (shop, subject) => move(shop, subject, "PARTIAL"),
  operatorFails: (shop, subject) => move(shop, subject, "FAILED"),
  operatorCancels: (shop, subject) => move(shop, subject, "CANCELLED"),
  operatorRefunds: (shop, subject) => move(shop, subject, "REFUNDED"),
  settlePlaced: (shop, subject) => settle(shop, subject, String((shop.lastNumber += 1))),
  settleNotPlaced: (shop, subject) => settle(shop, subject, null),
} satisfies Record<string, Step>;

type StepName = keyof typeof steps;

/** How each state is reached: the service, then what happens to its order. */
export const STATES: Record<string, [string, ...StepName[]]> = {
  "by hand": ["hand"],
  "by hand, cancel asked": ["hand", "cancel"],
  "by hand, completed": ["hand", "operatorCompletes"],
  "by hand, refill asked": ["hand", "operatorCompletes", "refill"],
  "by hand, refill accepted": ["hand", "operatorCompletes", "refill", "approve"],
  "by hand, partial": ["hand", "operatorPartial"],
  "by hand, refunded": ["hand", "operatorCompletes", "operatorRefunds"],
  "by hand, cancelled": ["hand", "operatorCancels"],
  "by hand, failed": ["hand", "operatorFails"],
  "queued, one route": ["single"],
  "queued, first of two": ["double"],
  "queued again, one route": ["single", "notSent"],
  "queued on the second, the first not reached": ["double", "notSent"],
  "queued on the first again": ["double", "notSent", "notSent"],
  "queued on the second, the first refused": ["double", "refused"],
  "queued on the second again, the first refused": ["double", "refused", "notSent"],
  "sending, one route": ["single", "begin"],
  "sending, first of two": ["double", "begin"],
  "sending to the second, the first refused": ["double", "refused", "begin"],
  "sending to the second, the first not reached": ["double", "notSent", "begin"],
  "sending, cancel asked, one route": ["single", "begin", "cancel"],
  "sending, cancel asked, first of two": ["double", "begin", "cancel"],
  "sending, cancel asked, second, the first refused": ["double", "refused", "begin", "cancel"],
  "sending, cancel asked, second, the first not reached": ["double", "notSent", "begin", "cancel"],
  "unknown, one route": ["single", "unknown"],
  "unknown, first of two": ["double", "unknown"],
  "unknown on the second, the first refused": ["double", "refused", "unknown"],
  "unknown, cancel asked before": ["double", "begin", "cancel", "endUnknown"],
  "unknown, cancelled by the operator": ["double", "unknown", "operatorCancels"],
  "unknown, settled as placed": ["double", "unknown", "settlePlaced"],
  "unknown, settled as not placed": ["double", "unknown", "settleNotPlaced"],
  "refused by all": ["double", "refused", "refused"],
  "refused by one, cancel asked": ["single", "begin", "cancel", "endRefused"],
  expired: ["single", "notSent", "expire"],
  "cancelled in the queue by the operator": ["double", "operatorCancels"],
  "cancelled in the queue on request": ["double", "cancel"],
  "cancelled in the queue of the second on request": ["double", "refused", "cancel"],
  "cancelled between two routes": ["double", "begin", "cancel", "endRefused"],
  placed: ["double", "accepted"],
  "placed at the second": ["double", "refused", "accepted"],
  "placed, followed": ["double", "accepted", "progress"],
  "placed, cancel asked before": ["double", "begin", "cancel", "endAccepted"],
  "placed, cancel asked": ["single", "accepted", "cancel"],
  "placed, cancel being sent": ["single", "accepted", "cancel", "requestSending"],
  "placed, cancel unknown": ["single", "accepted", "cancel", "requestUnknown"],
  "placed, cancel accepted": ["single", "accepted", "cancel", "requestAccepted"],
  "placed, cancel declined": ["single", "accepted", "cancel", "requestRefused"],
  completed: ["double", "accepted", "completed"],
  partial: ["double", "accepted", "partial"],
  "cancelled by the provider": ["double", "accepted", "progress", "canceled"],
  "failed at the provider": ["double", "accepted", "progress", "failed"],
  "cancelled by the operator, with the provider": ["double", "accepted", "operatorCancels"],
  refunded: ["double", "accepted", "completed", "operatorRefunds"],
  "completed, refill asked": ["single", "accepted", "completed", "refill"],
  "completed, refill being sent": ["single", "accepted", "completed", "refill", "requestSending"],
  "completed, refill unknown": ["single", "accepted", "completed", "refill", "requestUnknown"],
  "completed, refill accepted": ["single", "accepted", "completed", "refill", "refillAccepted"],
  "completed, reported partial late": ["double", "accepted", "completed", "partial"],
  "completed, reported cancelled late": ["double", "accepted", "completed", "canceled"],
  "partial, reported cancelled late": ["double", "accepted", "partial", "canceled"],
};

/** An order in that state. */
async function reach(shop: StateShop, state: string): Promise<Subject> {
  const [service, ...names] = STATES[state]!;
  const subject = await place(shop, service);
  for (const name of names) await steps[name](shop, subject);
  return subject;
}

const refillReport = (word: string) => async (shop: StateShop, subject: Subject) => {
  const requestId = subject.requests.at(-1);
  if (requestId === undefined) return;
  const { providerId } = await at(shop, subject);
  const reports = [{ requestId, report: { word, text: word } }];
  await shop.run("recordRefillReports", { providerId, reports }, shop.now);
};

/** What meets one order. */
export const EVENTS: Record<string, Step> = {
  ...steps,
  attemptAccepted: steps.accepted,
  attemptRefusedForFunds: (shop, subject) => attempt(shop, subject, NO_FUNDS),
  attemptUncalled: (shop, subject) => attempt(shop, subject, UNCALLED),
  endNotSent: (shop, subject) => end(shop, subject, NOT_SENT),
  endUncalled: (shop, subject) => end(shop, subject, UNCALLED),
  endWithTheNumberOfAnother: (shop, subject) =>
    end(shop, subject, { outcome: "accepted", providerOrder: "1001" }),
  firstEndsAgainAccepted: (shop, subject) => end(shop, subject, accepted(shop), 0),
  firstEndsAgainRefused: (shop, subject) => end(shop, subject, REFUSED, 0),
  allRefuse: async (shop, subject) => {
    await end(shop, subject, REFUSED);
    for (let times = 0; times < 3; times += 1) await attempt(shop, subject, REFUSED);
  },
  cancelTwice: async (shop, subject) => {
    await ask(shop, subject, "cancel");
    await ask(shop, subject, "cancel");
  },
  requestNotSent: (shop, subject) => sendRequest(shop, subject, NOT_SENT),
  requestEndsAccepted: (shop, subject) =>
    finishRequest(shop, subject, { outcome: "accepted", refill: null }),
  requestEndsRefused: (shop, subject) =>
    finishRequest(shop, subject, { outcome: "refused", cause: "no" }),
  decline: (shop, subject) => decide(shop, subject, "decline"),
  completeRequest: (shop, subject) => decide(shop, subject, "complete"),
  refillCompleted: refillReport("Completed"),
  refillRejected: refillReport("Rejected"),
  partialWithout: (shop, subject) => report(shop, subject, { word: "Partial" }),
  canceledWithCharge: (shop, subject) =>
    report(shop, subject, { word: "Canceled", ...cost("0.5") }),
  nonsense: (shop, subject) => report(shop, subject, { word: "Delivered" }),
  unrecognized: (shop, subject) => report(shop, subject, { word: null, isUnrecognized: true }),
  operatorProgress: (shop, { orderId }) =>
    shop.run(
      "progressOrder",
      { id: String(orderId), startCount: 3, remains: 300, actor },
      shop.now,
    ),
  resendThen: (shop, subject) => resend(shop, subject, "then"),
  resendNow: (shop, subject) => resend(shop, subject, "now"),
  resendTwice: async (shop, subject) => {
    await resend(shop, subject, "then");
    await resend(shop, subject, "then");
  },
  correctLink: (shop, { orderId }) =>
    shop.run(
      "correctLink",
      { id: String(orderId), link: "https://example.com/right", actor },
      shop.now,
    ),
  settleWithTheNumberOfAnother: (shop, subject) => settle(shop, subject, "1001"),
  acceptLate: (shop, { orderId }) =>
    shop.run(
      "acceptLateReport",
      { id: String(orderId), remains: null, note: null, actor },
      shop.now,
    ),
  dismissLate: (shop, { orderId }) =>
    shop.run("dismissLateReports", { id: String(orderId), note: null, actor }, shop.now),
  pass: async (shop, subject) => {
    if (subject.service === "hand") return;
    const { providerId } = await at(shop, subject);
    await shop.run("moveToNextRoute", { orderId: subject.orderId, providerId }, shop.now);
  },
};

type Change = (shop: StateShop, subjects: readonly Subject[]) => Promise<unknown>;

const passAll: Change = async (shop, subjects) => {
  for (const subject of subjects) await EVENTS["pass"]!(shop, subject);
};
const setActive = (shop: StateShop, name: string, active: boolean) =>
  shop.run("setProviderActive", { name, active, actor }, shop.now);
const setPaused = (shop: StateShop, name: string, paused: boolean) =>
  shop.run("setProviderPaused", { name, paused, actor }, shop.now);
const removeRoute = (shop: StateShop, provider: string, providerService: string) =>
  shop.run("removeRoute", { id: "double", provider, providerService, actor }, shop.now);

/** What meets all orders at once; an event of one order may follow it. */
export const CHANGES: Record<string, Change> = {
  none: () => Promise.resolve(),
  "the server crashes": async (shop) => {
    const input = { cause: "its server ended", server: OTHER_SERVER };
    await shop.run("markInterruptedUnknown", input, shop.now);
    await shop.run("markRequestsUnknown", input, shop.now);
    await shop.run(
      "clampSchedules",
      { pollIntervalMs: POLL_MS, submitBackoffLimitMs: 1000 },
      shop.now,
    );
  },
  "the first provider is deactivated": async (shop, subjects) => {
    await setActive(shop, "acme", false);
    await passAll(shop, subjects);
  },
  "all providers are deactivated": async (shop, subjects) => {
    for (const name of ["acme", "bulk", "core"]) await setActive(shop, name, false);
    await passAll(shop, subjects);
  },
  "the first provider is paused": async (shop, subjects) => {
    await setPaused(shop, "acme", true);
    await passAll(shop, subjects);
  },
  "all providers are paused": async (shop) => {
    for (const name of ["acme", "bulk"]) await setPaused(shop, name, true);
  },
  "the second provider is paused, the first inactive": async (shop, subjects) => {
    await setPaused(shop, "bulk", true);
    await setActive(shop, "acme", false);
    await passAll(shop, subjects);
  },
  "the first route is removed": (shop) => removeRoute(shop, "acme", "71"),
  "all routes are removed": async (shop) => {
    await removeRoute(shop, "acme", "71");
    await removeRoute(shop, "bulk", "80");
  },
  "a route is added in front": (shop) =>
    shop.run(
      "putRoute",
      { id: "double", provider: "core", providerService: "90", priority: 0, actor },
      shop.now,
    ),
  "the service goes to another provider": (shop) =>
    shop.run(
      "updateService",
      { id: "double", changes: {}, provider: { name: "core", service: "91" }, actor },
      shop.now,
    ),
  "nothing can be cancelled or refilled any more": async (shop) => {
    const changes = { cancel: false, refill: false, priceMicros: 5, max: 10 };
    for (const id of ["single", "double", "hand"]) {
      await shop.run("updateService", { id, changes, actor }, shop.now);
      await shop.run("setServiceActive", { id, active: false, actor }, shop.now);
    }
  },
  "the reseller is deactivated": (shop) =>
    shop.run("setUserActive", { username: "r0", active: false, actor }, shop.now),
  "the totals are counted": async (shop) => {
    for (let times = 0; times < 20; times += 1) {
      await shop.run("countDailyTotals", { limit: 1000 }, shop.now);
    }
  },
  "the database is restored from a backup": async (shop) => {
    const floors = {
      orders: 0,
      transfers: 0,
      audit: 0,
      services: 0,
      order_requests: 0,
      service_changes: 0,
    };
    await shop.run("skipSequences", null, shop.now);
    const input = { floors, endedKeys: [], administrators: [], actor };
    await shop.run("carryOver", input, shop.now);
  },
  "two hours pass": (shop) => Promise.resolve(void (shop.now += 2 * HOUR_MS)),
};

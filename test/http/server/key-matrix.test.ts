// Type of key × reach × limits × side, each tried over HTTP on every route that writes: who may, what is credited, and
// that a refusal changes nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import {
  KEY_REACHES,
  KEY_TYPES,
  type KeyReach,
  type KeyType,
} from "../../../src/domain/users/keys.ts";
import { ACTIONS } from "../../../src/http/smm-api/actions.ts";
import { ROUTES } from "../../../src/http/server/routes.ts";
import { askSmmApi } from "../../support/http/smm-client.ts";
import type { Body } from "../../support/http/api.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { OK, type Receiver, startReceiver } from "../../support/peers/webhook-receiver.ts";
import { utcDayOf } from "../../../src/domain/values/calendar.ts";

const LIMIT = 2_000_000;
const DAILY = 5_000_000;

let service: TestService;
let receiver: Receiver;
let url: string;
let number: string;
/** By side: a key that makes what the routes act on. */
const makers = new Map<boolean, string>();

beforeAll(async () => {
  receiver = await startReceiver(OK);
  url = `http://127.0.0.1:${receiver.port}/hook`;
  await openFilled();
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

async function openFilled(): Promise<void> {
  const webhookAllow = [parseNetwork("127.0.0.0/8")!];
  service = await openService({ settings: { webhookAllow, webhookAllowHttp: true } });
  service.user("anna", "1000");
  service.user("bert", "50");
  service.user("cleo", "7", "anna");
  service.user("dora", "8", "bert");
  service.service({ id: "s", min: 1, cancel: true });
  [{ number }] = service.query("SELECT number FROM services") as [{ number: string }];
  for (const isTest of [false, true]) {
    makers.set(isTest, service.key("anna", "order", "all", isTest).text);
  }
}

interface Kind {
  type: KeyType;
  reach: KeyReach;
  limit: number | null;
  daily: number | null;
  isTest: boolean;
}

const LIMITS = [
  { limit: null, daily: null },
  { limit: LIMIT, daily: null },
  { limit: null, daily: DAILY },
  { limit: LIMIT, daily: DAILY },
];
const KINDS: Kind[] = KEY_TYPES.flatMap((type) =>
  KEY_REACHES.flatMap((reach) =>
    (type === "order" ? LIMITS.slice(0, 1) : LIMITS).flatMap((limits) =>
      [false, true].map((isTest) => ({ type, reach, ...limits, isTest })),
    ),
  ),
);

function keyOf({ type, reach, limit, daily, isTest }: Kind): { id: string; text: string } {
  const key = service.key("anna", type, reach, isTest);
  const changes = { rechargeLimitMicros: limit, rechargeDailyMicros: daily };
  if (type !== "order") service.run("updateKey", { id: key.id, changes });
  return key;
}

/** What a key can leave behind. The sandbox delivers meanwhile, so not every row. */
const traces = (keyId: string): string =>
  JSON.stringify([
    service.query(
      `SELECT (SELECT count(*) FROM orders) AS orders, (SELECT count(*) FROM order_requests) AS requests,
        (SELECT count(*) FROM transfers WHERE key_id = ?) AS transfers,
        (SELECT count(*) FROM audit WHERE key_id = ?) AS changes`,
      keyId,
      keyId,
    ),
    service.query("SELECT id, url, events, secret, active, deleted_at FROM webhooks ORDER BY id"),
    service.query("SELECT id FROM webhook_events WHERE type = 'webhook.test' ORDER BY id"),
  ]);
const make = async (isTest: boolean, path: string, body: object): Promise<Body> =>
  (await service.call("POST", path, makers.get(isTest), body)).body;
const order = { service: "s", link: "x", quantity: 1 };
const newOrder = async (isTest: boolean) => (await make(isTest, "/orders", order)).order.orderId;
const newWebhook = async (isTest: boolean) => {
  const { webhook } = await make(isTest, "/webhooks", { url });
  return webhook.id;
};

interface Write {
  permission: "order" | "webhook";
  /** For test keys only. */
  isOfTests?: true;
  /** The path and the body of a request that succeeds for a key that may. */
  send(isTest: boolean): Promise<[path: string, body?: object]> | [path: string, body?: object];
  /** What the request leaves behind for the next key. */
  after?(isTest: boolean, answer: Body): Promise<unknown>;
  /** What a key that may is answered; 200 unless it is given. */
  code?: string;
}

const onWebhook = (more: Partial<Write> & { path?: string; body?: object }): Write => ({
  permission: "webhook",
  send: async (isTest) => [`/webhooks/${await newWebhook(isTest)}${more.path ?? ""}`, more.body],
  after: (isTest) => removeWebhooks(isTest),
  ...more,
});

/** A reseller has ten at most. */
async function removeWebhooks(isTest: boolean) {
  const maker = makers.get(isTest);
  const { body } = await service.call("GET", "/webhooks", maker);
  for (const { id } of body.webhooks) await service.call("DELETE", `/webhooks/${id}`, maker);
}

/** Every route of /api/v1 that writes, but for recharges. */
const WRITES: Record<string, Write> = {
  "POST /api/v1/orders": { permission: "order", send: () => ["/orders", order] },
  "POST /api/v1/orders/batch": {
    permission: "order",
    send: () => ["/orders/batch", { orders: [order, order] }],
  },
  "POST /api/v1/orders/:id/cancel": {
    permission: "order",
    send: async (isTest) => [`/orders/${await newOrder(isTest)}/cancel`],
  },
  "POST /api/v1/orders/:id/refill": {
    permission: "order",
    send: async (isTest) => [`/orders/${await newOrder(isTest)}/refill`],
    code: "order_not_refillable",
  },
  "POST /api/v1/webhooks": {
    permission: "webhook",
    send: () => ["/webhooks", { url }],
    after: (isTest) => removeWebhooks(isTest),
  },
  "PATCH /api/v1/webhooks/:id": onWebhook({ body: { events: ["order.completed"] } }),
  "DELETE /api/v1/webhooks/:id": onWebhook({}),
  "POST /api/v1/webhooks/:id/test": onWebhook({ path: "/test" }),
  "POST /api/v1/webhooks/:id/rotate": onWebhook({ path: "/rotate" }),
  "POST /api/v1/webhooks/:id/replay": onWebhook({
    path: "/replay",
    body: { since: "2026-01-01" },
    code: "field_invalid",
  }),
  "POST /api/v1/test/orders/:id": {
    permission: "order",
    isOfTests: true,
    send: async (isTest) => [`/test/orders/${await newOrder(isTest)}`, { status: "COMPLETED" }],
  },
  "POST /api/v1/test/webhooks": {
    permission: "webhook",
    isOfTests: true,
    send: () => ["/test/webhooks", { type: "order.completed" }],
  },
};

test("the table has every route that writes", () => {
  const writes = ROUTES.filter(([method]) => method !== "GET").map(
    ([method, path]) => `${method} ${path}`,
  );
  expect([...Object.keys(WRITES), "POST /api/v1/recharge"].toSorted()).toEqual(writes.toSorted());
  const actions = ACTIONS.filter(({ isRead }) => !isRead).map(({ name }) => name);
  expect(actions).toEqual(Object.keys(SMM_API_WRITES));
});

describe.each(Object.entries(WRITES))("%s", (route, write) => {
  const [method] = route.split(" ") as [string];

  test("is done for keys with its permission, and refused for any other without a trace", async () => {
    for (const kind of KINDS) {
      const { type, isTest } = kind;
      const { id, text } = keyOf(kind);
      const [path, body] = await write.send(isTest);
      const before = traces(id);
      const answer = await service.call(method, path, text, body);
      const isAbsent = write.isOfTests === true && !isTest;
      const may = type !== "recharge" && !isAbsent;
      const outcome = [answer.status, answer.body.code];
      if (may && write.code === undefined)
        expect([kind, outcome]).toEqual([kind, [200, undefined]]);
      else if (may) expect([kind, outcome]).toEqual([kind, [400, write.code]]);
      else {
        const refused = isAbsent ? [404, "not_found"] : [403, "permission_denied"];
        expect([kind, outcome]).toEqual([kind, refused]);
        const message = `This API key does not have ${write.permission} permission`;
        expect(answer.body.message).toBe(isAbsent ? "Not found" : message);
        expect(traces(id)).toBe(before);
      }
      await write.after?.(isTest, answer.body);
    }
  });
});

/** Writes of /api/v2, which need the permission to order. */
const SMM_API_WRITES: Record<string, (isTest: boolean) => Promise<Record<string, string>>> = {
  add: async () => ({ service: number, link: "x", quantity: "1" }),
  cancel: async (isTest) => ({ orders: String(await newOrder(isTest)) }),
  refill: async (isTest) => ({ order: String(await newOrder(isTest)) }),
};

test.each(Object.entries(SMM_API_WRITES))(
  "/api/v2 %s is for keys of orders only",
  async (action, fields) => {
    for (const kind of KINDS) {
      const { id, text: key } = keyOf(kind);
      const sent = { key, action, ...(await fields(kind.isTest)) };
      const before = traces(id);
      const { text } = await askSmmApi(service.url, sent);
      const isRefused = text === '{"error":"Invalid API key"}';
      expect([kind, isRefused, traces(id) === before]).toEqual(
        kind.type === "recharge" ? [kind, true, true] : [kind, false, action === "refill"],
      );
    }
  },
);

const TARGETS = ["anna", "cleo", "bert", "dora", "nobody"] as const;
const AMOUNTS = [1, LIMIT, LIMIT + 1];

/** The specified answer to a recharge by a key that has recharged `used` today. */
function expected(kind: Kind, target: (typeof TARGETS)[number], amount: number, used: number) {
  const { type, reach, limit, daily } = kind;
  if (type === "order") return "permission_denied";
  if (target === "nobody") return "user_not_found";
  if (reach === "children" && target !== "cleo") return "user_out_of_reach";
  if (limit !== null && amount > limit) return "recharge_limit_exceeded";
  if (daily !== null && used + amount > daily) return "daily_limit_exceeded";
  return "done";
}

const STATUS: Record<string, number> = { done: 200, user_not_found: 404 };

/** Balances of a side. */
const balances = (isTest: boolean) =>
  new Map(
    service
      .query<{ username: string; balance: number }>(
        "SELECT username, balance_micros AS balance FROM users",
      )
      .filter(({ username }) => username.startsWith("test:") === isTest)
      .map(({ username, balance }) => [username.replace("test:", ""), Number(balance)]),
  );

/** Every target with every amount and once again, as new requests and as replays; false: a new day began meanwhile. */
async function tryRecharges(kind: Kind): Promise<boolean> {
  const { id, text } = keyOf(kind);
  const day = utcDayOf(Date.now());
  let used = 0;
  const rows: unknown[] = [];
  const specified: unknown[] = [];
  for (const target of [...TARGETS, ...TARGETS]) {
    for (const amount of AMOUNTS) {
      const headers = { "idempotency-key": `${id}-${rows.length}` };
      const body = { username: target, amount: amount / 1e6 };
      const send = () => service.call("POST", "/recharge", text, body, headers);
      const before = balances(kind.isTest);
      const other = balances(!kind.isTest);
      const first = await send();
      const again = await send();
      const outcome = expected(kind, target, amount, used);
      const credited = outcome === "done" ? amount : 0;
      const gained = (balances(kind.isTest).get(target) ?? 0) - (before.get(target) ?? 0);
      // Its first credit makes the test account.
      const start = kind.isTest && gained > credited ? gained - credited : 0;
      rows.push([target, amount, first.status, first.body.code ?? "done", gained - start, again.status, again.headers.get("idempotent-replayed")]); // prettier-ignore
      const status = STATUS[outcome] ?? 403;
      const replayed = outcome === "done" ? "true" : null;
      specified.push([target, amount, status, outcome, credited, status, replayed]);
      expect(balances(!kind.isTest)).toEqual(other);
      expect(start).toBe(0);
      used += credited;
    }
  }
  if (utcDayOf(Date.now()) !== day) return false;
  expect([kind, rows]).toEqual([kind, specified]);
  const [{ total }] = service.query<{ total: number | string }>(
    `SELECT coalesce(sum(amount_micros), 0) AS total FROM transfers WHERE key_id = ? AND kind = 'recharge'`,
    id,
  ) as [{ total: number | string }];
  expect(Number(total)).toBe(used);
  return true;
}

test("POST /recharge credits only users within the key's reach, up to its limits, once", async () => {
  // The sandbox cancels orders of the tests before at any time, and refunds them.
  await service.stop();
  await openFilled();
  for (const kind of KINDS) while (!(await tryRecharges(kind)));
  expect(await verifyStore(service)).toEqual([]);
});

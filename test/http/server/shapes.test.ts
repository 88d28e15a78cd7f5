// The success responses of docs/specification/endpoints.md#endpoints: exactly these members, of exactly these types.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ENGINE } from "../../support/databases/engine.ts";
import { type Market, seedMarket } from "../../support/seeds/market.ts";
import { expectEnvelope } from "../../support/http/refusal.ts";
import type { Body } from "../../support/http/api.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
let key: string;
beforeAll(async () => {
  market = seedMarket(await openService());
  key = market.keyOf("full");
});
afterAll(() => market.stop());

/** On PostgreSQL a server goes by the database's clock, which it knows to the length of the call that read it. */
const CLOCK_MS = ENGINE === "postgres" ? 1000 : 0;
const CUID = expect.stringMatching(/^[a-z][a-z0-9]{23}$/);
const ISO_TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

async function ask(method: string, path: string, body?: unknown): Promise<Body> {
  const answer = await market.call(method, path, key, body);
  expect(answer.status).toBe(200);
  expectEnvelope(answer);
  return answer.body;
}

const place = async (changes: object = {}): Promise<Body> => {
  const fields = { service: market.serviceId, link: "x", quantity: 100, ...changes };
  return (await ask("POST", "/orders", fields)).order;
};

const placed = (changes: object = {}) => ({
  id: CUID,
  orderId: expect.any(Number),
  service: "Followers",
  link: "x",
  quantity: 100,
  charge: 0.232,
  status: "PROCESSING",
  createdAt: ISO_TIME,
  ...changes,
});

describe("a response holds exactly its members:", () => {
  test("GET /services, without those that are inactive or private to others", async () => {
    const shop = seedMarket(await openService());
    const closed = shop.service({ name: "Closed" });
    shop.run("setServiceActive", { id: closed, active: false });
    shop.service({ name: "Private", private: true });
    const { body } = await shop.call("GET", "/services", shop.keyOf("order"));
    await shop.stop();
    expect(body).toStrictEqual({
      status: "success",
      services: [{ id: shop.serviceId, name: "Followers", price: 2.32, min: 10, max: 10_000 }],
    });
  });

  test("POST /orders", async () => {
    const fields = { service: market.serviceId, link: "x", quantity: 100, extra: "ignored" };
    expect(await ask("POST", "/orders", fields)).toStrictEqual({
      status: "success",
      order: placed(),
    });
  });

  test("GET /orders/:id, the same by number and by cuid", async () => {
    const order = await place();
    const answer = await ask("GET", `/orders/${order.orderId}`);
    expect(answer).toStrictEqual({
      status: "success",
      order: { ...order, startCount: 0, remains: 100 },
    });
    expect(await ask("GET", `/orders/${order.id}`)).toStrictEqual(answer);
  });

  test("GET /balance", async () => {
    const answer = await ask("GET", "/balance");
    expect(answer).toStrictEqual({
      status: "success",
      balance: market.balance("anna") / 1e6,
      currency: "USD",
    });
  });

  test("GET /user, of a reseller and of a child user", async () => {
    market.user("gwen", "3.5");
    market.user("hugo", "8", "gwen");
    const reseller = await ask("GET", "/user?username=gwen");
    expect(reseller).toStrictEqual({
      exists: true,
      user: {
        id: CUID,
        username: "gwen",
        name: "gwen",
        balance: 3.5,
        childBalance: 0,
        resellerId: null,
      },
    });
    expect(await ask("GET", "/user?username=hugo")).toStrictEqual({
      exists: true,
      user: {
        id: CUID,
        username: "hugo",
        name: "hugo",
        balance: 0,
        childBalance: 8,
        resellerId: reseller.user.id,
      },
    });
  });

  test("POST /recharge, of a reseller and of a child user", async () => {
    const user = { id: CUID, username: "bert", name: "bert", balance: 50.5, childBalance: 0 };
    expect(await ask("POST", "/recharge", { username: "BERT", amount: 0.5 })).toStrictEqual({
      status: "success",
      user: { ...user, previousBalance: 50 },
      amount: 0.5,
    });
    expect(await ask("POST", "/recharge", { username: "dora", amount: 0.000001 })).toStrictEqual({
      status: "success",
      user: {
        ...user,
        username: "dora",
        name: "dora",
        balance: 0,
        childBalance: 8.000001,
        previousBalance: 8,
      },
      amount: 0.000001,
    });
    expect([market.balance("bert"), market.balance("dora")]).toEqual([50_500_000, 8_000_001]);
  });
});

describe("startCount and remains are numbers in every state:", () => {
  const ROWS = [
    ["COMPLETED", {}, 7, 0],
    ["PARTIAL", { remains: 25 }, 7, 25],
    ["FAILED", {}, 7, 60],
    ["CANCELLED", {}, 7, 60],
  ] as const;
  test.each(ROWS)("%s", async (to, extra, startCount, remains) => {
    const { id } = await place();
    market.run("progressOrder", { id, startCount: 7, remains: 60 });
    const open = (await ask("GET", `/orders/${id}`)).order;
    expect([open.status, open.startCount, open.remains]).toEqual(["PROCESSING", 7, 60]);
    market.run("transitionOrder", { id, to, note: null, actor: OPERATOR, ...extra });
    const { order } = await ask("GET", `/orders/${id}`);
    expect(order).toStrictEqual(placed({ id, status: to, startCount, remains }));
  });

  test("REFUNDED", async () => {
    const { id } = await place();
    market.run("transitionOrder", { id, to: "COMPLETED", note: null, actor: OPERATOR });
    market.run("transitionOrder", { id, to: "REFUNDED", note: null, actor: OPERATOR });
    const { order } = await ask("GET", `/orders/${id}`);
    expect(order).toStrictEqual(placed({ id, status: "REFUNDED", startCount: 0, remains: 0 }));
  });
});

describe("an order keeps", () => {
  test("the time at which it was placed, in UTC", async () => {
    const before = Date.now();
    const { createdAt } = await place();
    expect(Date.parse(createdAt)).toBeWithin(before - CLOCK_MS, Date.now() + CLOCK_MS + 1);
  });

  test("a number above that of every order before it", async () => {
    const [first, second] = [await place(), await place()];
    expect(second.orderId).toBeGreaterThan(first.orderId);
  });

  test("its name, price and charge when the service is changed later", async () => {
    const service = market.service({ name: "Likes", price: "1", per: "1" });
    const order = await place({ service, quantity: 10 });
    const changes = { name: "Dislikes", priceMicros: 9, per: "order", min: 1, max: 1 } as const;
    market.run("updateService", { id: service, changes });
    const later = (await ask("GET", `/orders/${order.id}`)).order;
    expect(later).toMatchObject({ service: "Likes", charge: 10, quantity: 10 });
  });
});

describe("GET /services", () => {
  test("is ordered by the name's code points, then by id", async () => {
    const shop = seedMarket(await openService());
    const NAMES = ["Zoom", "apple", "Äpfel", "￰", "😀", "Zoom", "a", "B"];
    const ids = NAMES.map((name, index) => shop.service({ name, id: `s${9 - index}` }));
    const listed = (await shop.call("GET", "/services", shop.keyOf("order"))).body.services;
    await shop.stop();
    const wanted = NAMES.map((name, index) => ({ name, id: ids[index]! }))
      .concat({ name: "Followers", id: shop.serviceId })
      .sort(
        (a, b) =>
          Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || (a.id < b.id ? -1 : 1),
      );
    expect(listed.map(({ name, id }: Body) => ({ name, id }))).toEqual(wanted);
  });

  test("writes each price as a plain decimal with at most six decimals", async () => {
    const PRICES = ["0.000001", "2.32", "33.333333", "0", "1000000000", "0.1", "8589934592.000001"];
    const shop = seedMarket(await openService());
    for (const [index, price] of PRICES.entries()) shop.service({ name: `p${index}`, price });
    const { text } = await shop.call("GET", "/services", shop.keyOf("order"));
    await shop.stop();
    const written = [...text.matchAll(/"name":"p\d","price":([^,]+),/g)].map((match) => match[1]!);
    expect(written).toEqual(PRICES);
  });
});

describe("text is returned as it was sent:", () => {
  const LINKS = [
    "https://example.com/ü?q=日本語#😀",
    "@user\\name\"'<script>",
    "a b",
    "\u2028\u2029",
    "e\u0301",
    "\u202eright to left",
  ];
  test.each(LINKS)("%j", async (link) => {
    const order = await place({ link: `x${link}x` });
    expect(order.link).toBe(`x${link}x`);
    expect((await ask("GET", `/orders/${order.id}`)).order.link).toBe(`x${link}x`);
  });
});

// Who may do what to whom: type of key × endpoint × owner, and what two resellers see of each other.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { KEY_REACHES, KEY_TYPES, type KeyType } from "../../../src/domain/users/keys.ts";
import { type Market, seedMarket } from "../../support/seeds/market.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { expectRefusal, type Sent } from "../../support/http/refusal.ts";
import { openService } from "../../support/worlds/service.ts";

let market: Market;
beforeAll(async () => {
  market = seedMarket(await openService());
  await market.call("POST", "/orders", market.keyOf("full"), order());
});
afterAll(() => market.stop());

const order = () => ({ service: market.serviceId, link: "x", quantity: 10 });

type Group = "order" | "user lookup" | "recharge" | "webhook";

/** The table of docs/specification/users.md#keys-permissions. */
const MAY: Record<KeyType, Record<Group, boolean>> = {
  order: { order: true, "user lookup": false, recharge: false, webhook: true },
  recharge: { order: false, "user lookup": true, recharge: true, webhook: false },
  full: { order: true, "user lookup": true, recharge: true, webhook: true },
};

const ENDPOINTS: [group: Group, method: string, path: string, body?: () => object][] = [
  ["order", "GET", "/services"],
  ["order", "GET", "/orders/1"],
  ["order", "GET", "/balance"],
  ["order", "POST", "/orders", order],
  ["user lookup", "GET", "/user?username=cleo"],
  ["recharge", "POST", "/recharge", () => ({ username: "cleo", amount: 0.000001 })],
  ["webhook", "GET", "/webhooks"],
];

describe.each(KEY_TYPES.flatMap((type) => KEY_REACHES.map((reach) => [type, reach] as const)))(
  "a key of type %s that reaches %s",
  (type, reach) => {
    test.each(ENDPOINTS)("%s permission: %s %s", async (group, method, path, body) => {
      const sent: Sent = { method, path, key: market.keyOf(type, reach), body: body?.() };
      if (MAY[type][group]) {
        expect((await market.call(method, path, sent.key, sent.body)).status).toBe(200);
      } else {
        await expectRefusal(market, sent, 403, `This API key does not have ${group} permission`);
      }
    });
  },
);

describe("a key of anna's reaches", () => {
  const ROWS = [
    ["herself", "anna", { all: true, children: false }],
    ["her child user", "cleo", { all: true, children: true }],
    ["another reseller's child user", "dora", { all: true, children: false }],
    ["another reseller", "bert", { all: true, children: false }],
  ] as const;
  const cases = ROWS.flatMap(([whom, username, may]) =>
    KEY_REACHES.flatMap((reach) =>
      (["recharge", "full"] as const).map(
        (type) => [whom, username, reach, type, may[reach]] as const,
      ),
    ),
  );

  test.each(cases)(
    "%s (%s) with reach %s and type %s: %p",
    async (_, username, reach, type, may) => {
      const key = market.keyOf(type, reach);
      const lookup: Sent = { method: "GET", path: `/user?username=${username}`, key };
      const body = { username, amount: 1 };
      const recharge: Sent = { method: "POST", path: "/recharge", key, body };
      if (may) {
        const before = market.balance(username);
        expect((await market.call("GET", lookup.path, key)).body.user.username).toBe(username);
        expect((await market.call("POST", "/recharge", key, body)).status).toBe(200);
        expect(market.balance(username) - before).toBe(1_000_000);
      } else {
        const message = "This API key may not access this user";
        await expectRefusal(market, lookup, 403, message);
        await expectRefusal(market, recharge, 403, message);
      }
    },
  );

  test("no user that does not exist, whatever its reach: 404, as for reach `all`", async () => {
    for (const reach of KEY_REACHES) {
      const key = market.keyOf("full", reach);
      const sent: Sent = { method: "GET", path: "/user?username=nobody", key };
      await expectRefusal(market, sent, 404, "User not found", { exists: false });
    }
  });
});

describe("two resellers never see each other's", () => {
  test("orders: by number or by cuid, the same 404 as an order that does not exist", async () => {
    const keys = { anna: market.keyOf("full"), bert: market.keyOf("full", "all", "bert") };
    const { body } = await market.call("POST", "/orders", keys.anna, order());
    for (const id of [body.order.id, body.order.orderId]) {
      const path = `/orders/${id}`;
      expect((await market.call("GET", path, keys.anna)).status).toBe(200);
      await expectRefusal(market, { method: "GET", path, key: keys.bert }, 404, "Order not found");
    }
  });

  test("balance: an order is charged only to the key's reseller", async () => {
    const before = [market.balance("anna"), market.balance("bert")];
    const key = market.keyOf("order", "children", "bert");
    await market.call("POST", "/orders", key, order());
    const after = [market.balance("anna"), market.balance("bert")];
    expect(after).toEqual([before[0]!, before[1]! - 23_200]);
  });

  test("private services, until a grant opens one, and after it is revoked", async () => {
    const id = market.service({ name: "Private", private: true });
    const sees = async (reseller: string) => {
      const key = market.keyOf("order", "all", reseller);
      const { body } = await market.call("GET", "/services", key);
      const { status } = await market.call("POST", "/orders", key, { ...order(), service: id });
      return [body.services.some((service: { id: string }) => service.id === id), status];
    };
    expect([await sees("anna"), await sees("bert")]).toEqual([
      [false, 400],
      [false, 400],
    ]);
    market.run("grantService", { id, username: "bert", priceMicros: null });
    expect([await sees("anna"), await sees("bert")]).toEqual([
      [false, 400],
      [true, 200],
    ]);
    market.run("revokeService", { id, username: "bert" });
    expect([await sees("anna"), await sees("bert")]).toEqual([
      [false, 400],
      [false, 400],
    ]);
  });

  test("prices: a grant's price is shown and charged only to its reseller", async () => {
    const id = market.service({ name: "Priced", price: "1", per: "1" });
    const pays = async (reseller: string) => {
      const key = market.keyOf("order", "all", reseller);
      const { body } = await market.call("GET", "/services", key);
      const answer = await market.call("POST", "/orders", key, { ...order(), service: id });
      const shown = body.services.find((service: { id: string }) => service.id === id).price;
      return [shown, answer.body.order.charge];
    };
    market.run("grantService", { id, username: "bert", priceMicros: 500_000 });
    expect([await pays("anna"), await pays("bert")]).toEqual([
      [1, 10],
      [0.5, 5],
    ]);
    market.run("grantService", { id, username: "bert", priceMicros: 0 });
    expect([await pays("anna"), await pays("bert")]).toEqual([
      [1, 10],
      [0, 0],
    ]);
    market.run("grantService", { id, username: "bert", priceMicros: null });
    expect([await pays("anna"), await pays("bert")]).toEqual([
      [1, 10],
      [1, 10],
    ]);
  });
});

describe("a running server", () => {
  const deactivations = [
    ["a key", (id: string, active: boolean) => market.run("setKeyActive", { id, active })],
    [
      "a user's keys",
      (_: string, active: boolean) => market.run("setUserActive", { username: "ella", active }),
    ],
  ] as const;

  test.each(deactivations)(
    "refuses %s from the request after its deactivation on",
    async (...how) => {
      const [, setActive] = how;
      if (!market.read((reader) => findUser(reader, "ella"))) market.user("ella", "100");
      const { id, text } = market.key("ella", "full");
      const sent: Sent = { method: "POST", path: "/orders", key: text, body: order() };
      const read: Sent = { method: "GET", path: "/balance", key: text };
      const statusOf = async ({ method, path, body }: Sent) =>
        (await market.call(method, path, text, body)).status;
      // On PostgreSQL a server has what it read of a key in memory for a second.
      const settled = async (status: number) => {
        while (ENGINE === "postgres" && (await statusOf(read)) !== status) await Bun.sleep(20);
        expect(await statusOf(read)).toBe(status);
      };
      for (let round = 0; round < 3; round++) {
        await settled(200);
        expect(await statusOf(sent)).toBe(200);
        setActive(id, false);
        await expectRefusal(market, sent, 403, "API key is inactive");
        await settled(403);
        await expectRefusal(market, read, 403, "API key is inactive");
        setActive(id, true);
      }
    },
  );

  test("sells no service from the request after its deactivation on", async () => {
    const id = market.service({ name: "Ending" });
    const post = () =>
      market.call("POST", "/orders", market.keyOf("order"), { ...order(), service: id });
    expect((await post()).status).toBe(200);
    market.run("setServiceActive", { id, active: false });
    expect((await post()).body.message).toBe("Service not found");
  });

  test("shows a caller its own write at once", async () => {
    const key = market.keyOf("full");
    for (let round = 0; round < 20; round++) {
      const { body } = await market.call("POST", "/orders", key, order());
      expect((await market.call("GET", `/orders/${body.order.id}`, key)).status).toBe(200);
    }
  });
});

describe("a key that repeats another key's recharge, with its Idempotency-Key", () => {
  const body = { username: "bert", amount: 3 };
  const headers = { "idempotency-key": "another-key" };
  const post = (key: string) => market.call("POST", "/recharge", key, body, headers);

  test("gets the stored response only if it may recharge that user itself", async () => {
    const first = await post(market.keyOf("recharge", "all"));
    const before = market.fingerprint();
    const statuses: [KeyType, string, number, string?][] = [];
    for (const type of KEY_TYPES) {
      for (const reach of KEY_REACHES) {
        const { status, text, body: answer } = await post(market.keyOf(type, reach));
        statuses.push([type, reach, status, status === 200 ? text : answer.code]);
      }
    }
    expect(statuses).toEqual([
      ["order", "all", 403, "permission_denied"],
      ["order", "children", 403, "permission_denied"],
      ["recharge", "all", 200, first.text],
      ["recharge", "children", 403, "user_out_of_reach"],
      ["full", "all", 200, first.text],
      ["full", "children", 403, "user_out_of_reach"],
    ]);
    expect(market.fingerprint()).toBe(before);
  });

  test("on the test side too, and neither side sees the other's", async () => {
    const key = (reach: "all" | "children", isTest = true) =>
      market.key("anna", "recharge", reach, isTest).text;
    const live = await post(key("all", false));
    const first = await post(key("all"));
    expect([live.headers.get("idempotent-replayed"), first.status]).toEqual(["true", 200]);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    const again = await post(key("all"));
    expect([again.text, again.headers.get("idempotent-replayed")]).toEqual([first.text, "true"]);
    expect((await post(key("children"))).body.code).toBe("user_out_of_reach");
    // A child of its own reseller is within its reach on either side.
    for (const isTest of [false, true]) {
      const child = { username: "cleo", amount: 1 };
      const headers = { "idempotency-key": `child-${isTest}` };
      const send = (text: string) => market.call("POST", "/recharge", text, child, headers);
      const one = await send(key("all", isTest));
      expect((await send(key("children", isTest))).text).toBe(one.text);
    }
  });
});

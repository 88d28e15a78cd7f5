// Limits of a key over HTTP: what the caller is told, one effect for a request and its duplicates, many requests at once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Market, seedMarket } from "../../support/seeds/market.ts";
import { expectRefusal } from "../../support/http/refusal.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { freshFolder } from "../../support/folders.ts";
import { openService, type TestService } from "../../support/worlds/service.ts";
import type { KeyType } from "../../../src/domain/users/keys.ts";

let market: Market;
beforeAll(async () => void (market = seedMarket(await openService())));
afterAll(() => market.stop());

interface Limits {
  rechargeLimitMicros?: number | null;
  rechargeDailyMicros?: number | null;
}

function limitedKey(changes: Limits, type: KeyType = "recharge", test = false) {
  const key = market.key("anna", type, "all", test);
  market.run("updateKey", { id: key.id, changes });
  return key;
}

const post = (key: string, amount: number, headers?: Record<string, string>) =>
  market.call("POST", "/recharge", key, { username: "cleo", amount }, headers);

/** Micros that the keys recharged, by UTC day: a test may run across midnight. */
const rechargedByDay = (...ids: string[]) =>
  market
    .query<{ total: number | string }>(
      `SELECT sum(amount_micros) AS total FROM transfers WHERE kind = 'recharge'
        AND key_id IN (${ids.map((id) => `'${id}'`).join()}) GROUP BY created_at / 86400000`,
    )
    .map(({ total }) => Number(total));

test("above the limit of one recharge: 403 with the limit, nothing changed, and the exact limit is allowed", async () => {
  const { text } = limitedKey({ rechargeLimitMicros: 2_500_000 });
  const sent = (amount: number) => ({
    method: "POST",
    path: "/recharge",
    key: text,
    body: { username: "cleo", amount },
  });
  const message = "This API key may recharge at most 2.5 at once";
  const { body } = await expectRefusal(market, sent(2.500001), 403, message);
  expect(body.code).toBe("recharge_limit_exceeded");
  expect((await post(text, 2.5)).status).toBe(200);
  // 404 and the reach come first, the limits of balances after it.
  const nobody = { ...sent(3), body: { username: "nobody", amount: 3 } };
  await expectRefusal(market, nobody, 404, "User not found");
  const rich = { ...sent(3), body: { username: "rich", amount: 3 } };
  await expectRefusal(market, rich, 403, message);
  const dora = { ...nobody, body: { username: "dora", amount: 3 } };
  const childrenOnly = market.key("anna", "recharge", "children");
  market.run("updateKey", { id: childrenOnly.id, changes: { rechargeLimitMicros: 1 } });
  await expectRefusal(
    market,
    { ...dora, key: childrenOnly.text },
    403,
    "This API key may not access this user",
  );
});

test("above the daily limit: 403 with the limit and what is left of it", async () => {
  // As on any day: nothing fits whenever it runs.
  const { text } = limitedKey({ rechargeDailyMicros: 10 });
  const body = { username: "cleo", amount: 0.000011 };
  const sent = { method: "POST", path: "/recharge", key: text, body };
  const message = "This API key may recharge at most 0.00001 a day; 0.00001 is left today";
  const answer = await expectRefusal(market, sent, 403, message);
  expect(answer.body.code).toBe("daily_limit_exceeded");
  expect((await post(text, 0.00001)).status).toBe(200);
});

test("a replay does not count, even of a recharge that now exceeds the limits; a refusal is not stored", async () => {
  const { text, id } = limitedKey({ rechargeLimitMicros: 4 });
  const once = { "idempotency-key": "limited-1" };
  const first = await post(text, 0.000004, once);
  market.run("updateKey", { id, changes: { rechargeLimitMicros: 3, rechargeDailyMicros: 6 } });
  for (let again = 0; again < 5; again++) {
    const replay = await post(text, 0.000004, once);
    expect([replay.status, replay.text, replay.headers.get("idempotent-replayed")]).toEqual([
      200,
      first.text,
      "true",
    ]);
  }
  const twice = { "idempotency-key": "limited-2" };
  for (let again = 0; again < 2; again++) {
    const refused = await post(text, 0.000005, twice);
    expect([refused.status, refused.headers.get("idempotent-replayed")]).toEqual([403, null]);
  }
  market.run("updateKey", { id, changes: { rechargeLimitMicros: 5, rechargeDailyMicros: null } });
  const later = await post(text, 0.000005, twice);
  expect([later.status, later.headers.get("idempotent-replayed")]).toEqual([200, null]);
  expect(rechargedByDay(id).reduce((sum, each) => sum + each, 0)).toBe(9);
});

/** On PostgreSQL another server of the same database. */
async function otherServer(): Promise<Pick<TestService, "call" | "stop">> {
  if (ENGINE === "sqlite") return { ...market, stop: () => Promise.resolve() };
  const location = { ...market.location, data: freshFolder() };
  return openService({
    settings: { server: "other" },
    database: { ...market, location, close() {} },
  });
}

test("32 recharges at once, each sent twice, by two keys of one rotation, to two servers: only those that the day allows succeed", async () => {
  const other = await otherServer();
  const old = limitedKey({ rechargeDailyMicros: 10 });
  const next = market.key("anna", "recharge");
  market.query(`UPDATE keys SET origin_id = ?, recharge_daily_micros = 10 WHERE id = ?`, old.id, next.id); // prettier-ignore
  const sent = Array.from({ length: 32 }, (_, index) => {
    const key = index % 2 === 0 ? old.text : next.text;
    const headers = { "idempotency-key": `many-${index}` };
    const body = { username: "cleo", amount: 0.000001 };
    const { call } = index % 4 < 2 ? market : other;
    return [post(key, 0.000001, headers), call("POST", "/recharge", key, body, headers)];
  });
  const answers = await Promise.all(sent.map((pair) => Promise.all(pair)));
  await other.stop();
  const accepted = answers.filter((pair) => pair.some(({ status }) => status === 200)).length;
  const byDay = rechargedByDay(old.id, next.id);
  expect(Math.max(...byDay)).toBe(10);
  expect(byDay.reduce((sum, each) => sum + each, 0)).toBe(accepted);
  if (byDay.length === 1) {
    const statuses = answers.flat().map(({ status }) => status);
    const count = (status: number) => statuses.filter((each) => each === status).length;
    expect([count(200), count(403)]).toEqual([20, 44]);
  }
});

test("the limits of a test key are for test money", async () => {
  const { text } = limitedKey({ rechargeLimitMicros: 1_000_000 }, "full", true);
  const before = market.balance("cleo");
  const [over, exact] = [await post(text, 1.000001), await post(text, 1)];
  expect([over.status, over.body.code, exact.status]).toEqual([
    403,
    "recharge_limit_exceeded",
    200,
  ]);
  expect([over.headers.get("x-test-mode"), market.balance("cleo")]).toEqual(["true", before]);
});

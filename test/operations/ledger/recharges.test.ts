// Limits of keys that recharge: to the micro, for each UTC day, through rotation and changes, on either engine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import {
  dumpOf,
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { transfers } from "../../../src/db/tables/ledger.ts";
import { users } from "../../../src/db/tables/users.ts";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 23, 12);
const MIDNIGHT = Date.UTC(2026, 10, 24);

let database: TestDatabase;
let account: number;
beforeAll(() => {
  database = freshDatabase();
  database.user("anna");
  database.user("cleo", "0", "anna");
  const [anna] = database.query("SELECT account FROM users WHERE username = 'anna'");
  account = Number(anna!["account"]);
});
afterAll(() => database.close());

type Limits = Pick<CommandInput<"createKey">, "rechargeLimitMicros" | "rechargeDailyMicros">;

function keyWith(limits: Limits, type: "recharge" | "full" = "recharge"): string {
  const { id } = database.key("anna", type);
  database.run("updateKey", { id, changes: limits });
  return id;
}

/** Recharges that many micros. Returns the code of the limit that refused it, or null. */
function recharge(keyId: string, amountMicros: number, now = NOON): string | null {
  const command = { keyId, resellerAccount: account, username: "cleo", amountMicros };
  const before = money();
  const outcome = database.execute("recharge", command, now);
  if (!("limited" in outcome)) return null;
  expect(money()).toBe(before);
  return outcome.limited.code;
}

const money = () => dumpOf(database, users) + dumpOf(database, transfers);
const LIMIT = "recharge_limit_exceeded";
const DAILY = "daily_limit_exceeded";

/** Limits, and recharges with the result of each. Micros; null: no limit, and not refused. */
const TABLE: [limit: number | null, daily: number | null, recharges: [number, string | null][]][] = [
  [null, null, [[10 ** 15, null], [10 ** 15, null]]],
  [1, null, [[1, null], [2, LIMIT], [1, null]]],
  [5_000_000, null, [[5_000_000, null], [5_000_001, LIMIT], [4_999_999, null]]],
  [null, 1, [[1, null], [1, DAILY]]],
  [null, 5_000_000, [[5_000_001, DAILY], [5_000_000, null], [1, DAILY]]],
  [null, 5_000_000, [[4_999_999, null], [2, DAILY], [1, null], [1, DAILY]]],
  [3_000_000, 5_000_000, [[3_000_001, LIMIT], [3_000_000, null], [2_000_001, DAILY], [2_000_000, null], [1, DAILY], [3_000_001, LIMIT]]],
  // A daily limit below the other one is the stricter of the two.
  [9, 5, [[6, DAILY], [5, null], [10, LIMIT]]],
  // Amounts that a double adds up wrong.
  [null, 10 ** 15, [[999_999_999_999_999, null], [2, DAILY], [1, null], [1, DAILY]]],
]; // prettier-ignore

describe.each(["recharge", "full"] as const)("a %s key", (type) => {
  test.each(TABLE)("with limits %p at once and %p a day: %p", (limit, daily, recharges) => {
    const key = keyWith({ rechargeLimitMicros: limit, rechargeDailyMicros: daily }, type);
    expect(recharges.map(([amount]) => [amount, recharge(key, amount)])).toEqual(recharges);
  });
});

test("a UTC day ends at midnight to the millisecond, and another day's recharges do not count", () => {
  const key = keyWith({ rechargeDailyMicros: 10 });
  expect(recharge(key, 10, MIDNIGHT - DAY)).toBeNull();
  expect(recharge(key, 1, MIDNIGHT - 1)).toBe(DAILY);
  expect(recharge(key, 4, MIDNIGHT)).toBeNull();
  // A clock that was set back finds the earlier day as it was, and the later one after it.
  expect(recharge(key, 1, MIDNIGHT - 1)).toBe(DAILY);
  expect(recharge(key, 7, MIDNIGHT + DAY - 1)).toBe(DAILY);
  expect(recharge(key, 6, MIDNIGHT + DAY - 1)).toBeNull();
  expect(recharge(key, 10, MIDNIGHT + DAY)).toBeNull();
});

test("recharges from before a limit was set count, and a changed limit holds for the next recharge", () => {
  const { id } = database.key("anna", "recharge");
  const change = (changes: Limits) => database.run("updateKey", { id, changes });
  expect(recharge(id, 7)).toBeNull();
  change({ rechargeDailyMicros: 10 });
  expect([recharge(id, 4), recharge(id, 3), recharge(id, 1)]).toEqual([DAILY, null, DAILY]);
  change({ rechargeDailyMicros: 5 });
  expect(recharge(id, 1)).toBe(DAILY);
  change({ rechargeDailyMicros: 11, rechargeLimitMicros: 2 });
  expect([recharge(id, 3), recharge(id, 1), recharge(id, 1)]).toEqual([LIMIT, null, DAILY]);
  // What is not named stays.
  change({ rechargeDailyMicros: null });
  expect([recharge(id, 3), recharge(id, 2)]).toEqual([LIMIT, null]);
  change({ rechargeLimitMicros: null });
  expect(recharge(id, 10 ** 15)).toBeNull();
});

test("a rotated key keeps the limits, and counts together with the keys before it", () => {
  const first = keyWith({ rechargeLimitMicros: 6, rechargeDailyMicros: 10 });
  const rotate = (id: string, hash: string) =>
    database.run("rotateKey", {
      id,
      hash: hash.repeat(64),
      start: "rk_",
      graceMilliseconds: 365 * DAY,
    });
  expect(recharge(first, 4)).toBeNull();
  const second = rotate(first, "a");
  const third = rotate(second.id, "b");
  expect(third).toMatchObject({ rechargeLimitMicros: 6, rechargeDailyMicros: 10 });
  expect(recharge(third.id, 7)).toBe(LIMIT);
  expect(recharge(third.id, 5)).toBeNull();
  expect([recharge(first, 2), recharge(second.id, 1), recharge(first, 1)]).toEqual([
    DAILY,
    null,
    DAILY,
  ]);
});

test("an order key is refused recharge limits, at its creation and afterwards", () => {
  const codeOf = (body: () => unknown) => {
    try {
      body();
    } catch (error) {
      if (error instanceof Refusal) return error.code;
      throw error;
    }
    return null;
  };
  const terms = { username: "anna", type: "order", reach: "all", label: "", start: "rk_" } as const;
  const { id } = database.key("anna", "order");
  const before = dumpOf(database, users);
  for (const limits of [{ rechargeLimitMicros: 1 }, { rechargeDailyMicros: 1 }]) {
    const create = { ...terms, ...limits, hash: "c".repeat(64), actor: OPERATOR };
    expect(codeOf(() => database.run("createKey", create))).toBe("key_cannot_recharge");
    expect(codeOf(() => database.run("updateKey", { id, changes: limits }))).toBe(
      "key_cannot_recharge",
    );
  }
  expect(dumpOf(database, users)).toBe(before);
  expect(codeOf(() => database.run("updateKey", { id, changes: { label: "shop" } }))).toBeNull();
});

test("the first refusal of each day is noted with the key until the limits change", () => {
  const key = keyWith({ rechargeDailyMicros: 1 });
  const noted = () =>
    Number(
      database.query("SELECT recharge_refused_at AS at FROM keys WHERE id = ?", key)[0]!["at"],
    );
  recharge(key, 1);
  expect(noted()).toBe(0);
  for (const at of [NOON, NOON + 1, MIDNIGHT - 1]) {
    recharge(key, 2, at);
    expect(noted()).toBe(NOON);
  }
  recharge(key, 2, MIDNIGHT);
  expect(noted()).toBe(MIDNIGHT);
  database.run("updateKey", { id: key, changes: { label: "same limits" } });
  expect(noted()).toBe(MIDNIGHT);
  database.run("updateKey", { id: key, changes: { rechargeDailyMicros: 2 } });
  expect(noted()).toBe(0);
});

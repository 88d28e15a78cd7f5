// Users sorted by a column: every order, in pages of any size, holds each user once and in that order.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readAccountTotals } from "../../../src/db/reports/reseller-spend.ts";
import { firstShownDay, readAccountRequests } from "../../../src/db/users/key-requests.ts";
import { readUserFigures } from "../../../src/db/users/user-figures.ts";
import { type ListedUser, listUsersBelow } from "../../../src/db/users/user-lists.ts";
import {
  listSortedUsers,
  USER_SORTS,
  type UserOrder,
  type UserSort,
} from "../../../src/db/users/user-sorting.ts";
import { DAY_MS } from "../../../src/domain/values/spans.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

const USERS = 24;
const DAYS = 30;
const NEWEST = Number.MAX_SAFE_INTEGER;

let database: TestDatabase;
let now: number;
beforeAll(() => {
  database = freshDatabase();
  now = Date.now();
  const service = database.service({ min: 1 });
  const name = (at: number) => `${at % 2 === 0 ? "User" : "user"}${(at * 7) % USERS}`;
  for (let at = 0; at < USERS; at++) database.user(name(at), String(100 + (at % 5)));
  const parents = ["User14", "user7", "User0"];
  for (const [at, parent] of parents.entries()) database.user(`kid${at}`, "1", parent);
  // Those of an hour ago come after those of two months ago, in other numbers.
  for (const [ago, isChosen] of [
    [60 * DAY_MS, (at: number) => at % 5 === 1],
    [3_600_000, (at: number) => at % 3 !== 0],
  ] as const) {
    for (const at of Array.from({ length: USERS }, (_, index) => (index * 5) % USERS)) {
      if (!isChosen(at)) continue;
      const { id: keyId } = database.key(name(at), "full");
      const [user] = database.query<{ account: number }>(
        "SELECT account FROM users WHERE username = ?",
        name(at),
      );
      const placed = { resellerAccount: Number(user!.account), keyId, service, link: "x" };
      for (let order = 0; order <= at % 4; order++)
        database.execute("placeOrder", { ...placed, quantity: 10 + (at % 7) }, now - ago);
      database.run("recordKeyUsage", { uses: [{ id: keyId, usedAt: now - at * 1000 }] });
      const counts = [{ id: keyId, requests: 10, errors: at % 4 }];
      database.run("countKeyRequests", { day: Math.floor(now / DAY_MS), counts });
    }
  }
  while (database.run("countDailyTotals", { limit: 1000 }) !== "done");
});
afterAll(() => database.close());

/** The values by which users are sorted, as the list shows them. */
function valueOf(user: ListedUser, by: UserSort): string | bigint | number {
  const { account, username, name, parent, balanceMicros } = user;
  return database.read((reader) => {
    const totals = readAccountTotals(reader, [account], DAYS, now)(account);
    const { lastOrderAt, keyUsedAt } = readUserFigures(reader, account, 0);
    const { errors } = readAccountRequests(reader, [account], firstShownDay(now))(account);
    const values: Record<UserSort, string | bigint | number> = {
      username: username.toLowerCase(),
      name: name.toLowerCase(),
      kind: parent?.toLowerCase() ?? "",
      balance: balanceMicros,
      spent: totals.spentMicros,
      orders: totals.orders,
      "last-order": lastOrderAt ?? 0,
      "key-used": keyUsedAt ?? 0,
      errors,
    };
    return values[by];
  });
}

const pages = (order: UserOrder, size: number): ListedUser[] => {
  const rows: ListedUser[] = [];
  for (let after: number | null = NEWEST; after !== null;) {
    const from: number = after;
    const page = database.read((reader) => listSortedUsers(reader, {}, order, from, size, now));
    expect(page.rows.length).toBeLessThanOrEqual(size);
    expect(page.isCut).toBe(false);
    rows.push(...page.rows);
    after = page.next;
  }
  return rows;
};

test.each(
  USER_SORTS.flatMap((by) => [
    { by, descending: false },
    { by, descending: true },
  ]),
)("by %p, in pages of every size", (order) => {
  const all = database.read((reader) => listUsersBelow(reader, {}, NEWEST, 100)).rows;
  const rows = pages(order, 7);
  expect(rows.toSorted((a, b) => b.account - a.account)).toEqual(all);
  const values = rows.map((user) => valueOf(user, order.by));
  expect(new Set(values).size).toBeGreaterThan(1);
  for (const [at, value] of values.entries()) {
    const next = values[at + 1];
    if (next === undefined) continue;
    expect(order.descending ? value >= next : value <= next).toBe(true);
  }
  for (const size of [1, 24, 100]) expect(pages(order, size)).toEqual(rows);
});

test("filters apply, and a page after a user who does not match begins at the first", () => {
  const order: UserOrder = { by: "balance", descending: true };
  const list = (filter: object, after: number) =>
    database.read((reader) => listSortedUsers(reader, filter, order, after, 100, now)).rows;
  const found = list({ search: "uSER1" }, NEWEST).map(({ username }) => username);
  const same = Array.from({ length: USERS }, (_, at) => at).filter((at) => `${at}`[0] === "1");
  expect(found.map((name) => name.toLowerCase()).toSorted()).toEqual(
    same.map((at) => `user${at}`).toSorted(),
  );
  expect(list({ search: "user1" }, 1)).toEqual(list({ search: "user1" }, NEWEST));
  expect(list({ isChild: true }, NEWEST).length).toBe(3);
});

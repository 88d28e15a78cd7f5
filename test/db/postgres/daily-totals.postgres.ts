// On PostgreSQL a lower number may be committed after a higher one: totals wait for it, reports do not.

import { expect, test } from "bun:test";
import { SQL } from "bun";
import { readReport } from "../../../src/reports/reports.ts";
import { freshPostgresDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const DAY = Date.parse("2026-03-01T12:00:00.000Z");

test("a transaction that took a number is waited for, however long it takes, and no report misses it", async () => {
  const database = freshPostgresDatabase();
  database.user("anna", "1000");
  database.user("bert", "1000");
  database.service({ id: "likes", price: "1", per: "1", min: 1 });
  const { id: keyId } = database.key("anna", "full");
  const [{ account }, other] = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username IN ('anna', 'bert') ORDER BY username",
  ) as [{ account: number }, { account: number }];
  const order = { service: "likes", link: "x", quantity: 3 };
  const place = () =>
    database.execute("placeOrder", { ...order, resellerAccount: Number(account), keyId }, DAY);
  const count = () => {
    for (;;) {
      const result = database.execute("countDailyTotals", { limit: 1000 }, DAY);
      if (result !== "again") return result;
    }
  };
  // Something else of the cluster may be open for a moment.
  const countAll = async () => {
    while (count() !== "done") await Bun.sleep(5);
    return counted();
  };
  const counted = () =>
    Number(database.query<{ n: number }>("SELECT orders AS n FROM totals_position")[0]!.n);
  const report = async () => {
    const rows = await readReport(database.store, "day", { from: null, to: null });
    return rows.map(({ orders, revenueMicros }) => [orders, revenueMicros]);
  };
  place();
  expect(await countAll()).toBe(1);

  // As a batch does it: the account's lock, then the numbers, then it is held up.
  const late = new SQL(database.location.database!, { max: 1 });
  const held = await late.reserve();
  await held`BEGIN`;
  await held`SELECT 1 FROM accounts WHERE account = ${Number(other.account)} FOR NO KEY UPDATE`;
  const [{ number }] = (await held`SELECT nextval('orders_number')::int AS number`) as [{ number: number }]; // prettier-ignore
  place();
  expect(count()).toBe("waiting");
  expect(count()).toBe("waiting");
  expect(counted()).toBe(1);
  expect(await report()).toEqual([[2, 6_000_000n]]);

  // It commits after all, below a number that is there.
  await held`INSERT INTO orders (order_id, id, reseller_account, service_id, service_name, price_micros, per, link, quantity,
      charge_micros, status, remains, created_at, placement)
    VALUES (${number}, ${"z".repeat(24)}, ${Number(other.account)}, 'likes', 'Followers', 0, 'order', 'x', 5, 0,
      'PROCESSING', 5, ${DAY}, 'manual')`;
  await held`COMMIT`;
  await held.release();
  await late.close();
  expect(await report()).toEqual([[3, 6_000_000n]]);
  expect(await countAll()).toBe(number + 1);
  expect(await report()).toEqual([[3, 6_000_000n]]);
  expect(await verifyStore(database)).toEqual([]);
  database.close();
});

test("a run counts the orders that existed at its start, although orders keep coming", async () => {
  const database = freshPostgresDatabase();
  database.user("anna", "1000");
  database.service({ id: "likes", price: "1", per: "1", min: 1 });
  const { id: keyId } = database.key("anna", "full");
  const [{ account }] = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'anna'",
  ) as [{ account: number }];
  const order = {
    service: "likes",
    link: "x",
    quantity: 3,
    resellerAccount: Number(account),
    keyId,
  };
  let steps = 0;
  const step = () => {
    database.execute("placeOrder", order, DAY);
    steps += 1;
    return database.execute("countDailyTotals", { limit: 1000 }, DAY);
  };
  // Something else of the cluster may be open for a moment.
  for (let result = step(); result !== "reached"; result = step()) {
    if (result === "waiting") await Bun.sleep(5);
    else if (steps > 100) break;
  }
  const [{ n }] = database.query<{ n: number }>("SELECT orders AS n FROM totals_position") as [
    { n: number },
  ];
  expect(Number(n)).toBe(1);
  database.close();
});

test("a goal of another cluster is not waited for", () => {
  const database = freshPostgresDatabase();
  database.query("UPDATE totals_position SET goal_orders = 5, goal_transaction = 9000000000000");
  expect(database.execute("countDailyTotals", { limit: 10 }, DAY)).toBe("done");
  database.user("anna", "1");
  expect(database.execute("countDailyTotals", { limit: 10 }, DAY)).toBe("again");
  database.close();
});

// The job that counts totals of days, and what keeps them right when an order changes its provider.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { startDailyTotals } from "../../src/jobs/daily-totals.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { readReport } from "../../src/reports/reports.ts";
import type { Writer } from "../../src/writer/writer.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { verifyStore } from "../support/databases/verify.ts";

const DAY = Date.parse("2026-03-01T23:59:59.000Z");
const EVER = { from: null, to: null };

let database: TestDatabase;
let place: (service: string) => number;
let placed = 0;

beforeAll(() => {
  database = freshDatabase();
  database.user("anna", "1000");
  for (const name of ["acme", "bulk"]) {
    database.run("createProvider", { name, protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" }); // prettier-ignore
  }
  database.service({ id: "likes", min: 1 });
  database.service({ id: "views", min: 1, provider: { name: "acme", service: "7" } });
  const { id: keyId } = database.key("anna", "full");
  const [{ account }] = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'anna'",
  ) as [{ account: number }];
  const order = { resellerAccount: Number(account), keyId, link: "x", quantity: 500 };
  place = (service) => {
    placed += 1;
    return database.execute("placeOrder", { ...order, service }, DAY).orderId;
  };
});
afterAll(() => database.close());

const totals = () => database.query("SELECT sum(orders) AS orders FROM daily_totals")[0];
const byProvider = async () => {
  const rows = await readReport(database.store, "provider", EVER);
  return rows.map(({ key, orders, revenueMicros }) => [key, orders, revenueMicros]);
};

/** Commands that wait until all are allowed, as those of a busy writer. */
function writerOf(
  calls: { limit: number }[],
  failing: { error: Error | null },
): Pick<Writer, "submit"> {
  return {
    submit: (name, input) => {
      calls.push(input as { limit: number });
      const { error } = failing;
      failing.error = null;
      if (error) return Promise.reject(error);
      return Promise.resolve(database.execute(name, input, DAY));
    },
  };
}

test("the job counts every order in small steps, continues after a failure, and stops on request", async () => {
  for (let index = 0; index < 5; index++) place(index % 2 ? "likes" : "views");
  const calls: { limit: number }[] = [];
  const failing = { error: new Error("the database is away") as Error | null };
  const log = createLog("silent");
  const job = startDailyTotals(writerOf(calls, failing), log, { interval: 1, delay: 0 });
  while (!Number((totals() as { orders: number | null }).orders)) await Bun.sleep(1);
  await job.stop();
  const { length } = calls;
  expect(calls.every(({ limit }) => limit <= 2000)).toBe(true);
  // The orders of each kind of key.
  expect(Number((totals() as { orders: number }).orders)).toBe(15);
  await Bun.sleep(5);
  expect(calls.length).toBe(length);
});

test("only the leading server counts", async () => {
  const calls: { limit: number }[] = [];
  const job = startDailyTotals(writerOf(calls, { error: null }), createLog("silent"), {
    isLeader: () => false,
  });
  await job.stop();
  expect(calls).toEqual([]);
});

test("an order that moves to another provider moves its revenue too, counted or not", async () => {
  const notCounted = place("views");
  expect(await byProvider()).toEqual([
    ["acme", 4, 4_640_000n],
    [null, 2, 2_320_000n],
  ]);
  database.dropTrigger("orders_keep_terms");
  const [bulk] = database.query<{ id: number }>(
    "SELECT provider_id AS id FROM providers WHERE name = 'bulk'",
  );
  for (const orderId of [1, notCounted]) {
    database.query(
      "UPDATE orders SET provider_id = ?, provider_service = '9' WHERE order_id = ?",
      Number(bulk!.id),
      orderId,
    );
  }
  const expected = [
    ["acme", 2, 2_320_000n],
    ["bulk", 2, 2_320_000n],
    [null, 2, 2_320_000n],
  ];
  const sorted = (rows: unknown[][]) => rows.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1)); // prettier-ignore
  expect(sorted(await byProvider())).toEqual(sorted(expected));
  while (database.execute("countDailyTotals", { limit: 1 }, DAY) === "again");
  expect(sorted(await byProvider())).toEqual(sorted(expected));
  expect(await verifyStore(database)).toEqual([]);
});

test("a run ends although orders keep coming; the next run counts them, and starts sooner than when there are none", async () => {
  const ended = Promise.withResolvers<void>();
  const states: unknown[] = [];
  const writer: Pick<Writer, "submit"> = {
    submit(name, input) {
      if (states.filter((state) => state === "reached").length < 3) place("likes");
      const output = database.execute(name, input, DAY);
      states.push(output);
      if ((output as unknown) === "done" || states.length > 100) ended.resolve();
      return Promise.resolve(output);
    },
  };
  // Never in this test: the runs that follow are those after one that had something to count.
  const job = startDailyTotals(writer, createLog("silent"), {
    interval: 1e8,
    busyInterval: 1,
    delay: 0,
  });
  await ended.promise;
  await job.stop();
  expect(states.length).toBeLessThan(100);
  expect(Number((totals() as { orders: number }).orders)).toBe(3 * placed);
});

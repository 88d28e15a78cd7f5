// The median time to completion of each service: real orders of the last 30 days, read in the background
// and again after ten minutes.

import { expect, test } from "bun:test";
import type { ReadStore } from "../../src/db/port/port.ts";
import { findUser } from "../../src/db/users/users.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/domain/values/spans.ts";
import { createCompletionTimes } from "../../src/reports/completion-times.ts";
import { freshDatabase, OPERATOR } from "../support/databases/test-database.ts";

const NOW = Date.UTC(2026, 10, 27);

test("the median is of real orders completed in the last 30 days, and needs five of them", async () => {
  const database = freshDatabase();
  database.user("alice", "1000");
  for (const id of ["fast", "slow", "rare", "old", "tried"]) database.service({ id });
  const account = database.read((reader) => findUser(reader, "alice")!.account);
  const live = { id: database.key("alice", "order").id, resellerAccount: account };
  const { id: testId } = database.key("alice", "order", "all", true);
  const [row] = database.query("SELECT reseller_account FROM keys WHERE id = ?", testId);
  const testSide = { id: testId, resellerAccount: Number(row!["reseller_account"]) };
  const completed = (service: string, tookMs: number, endedAt = NOW - HOUR_MS, by = live) => {
    const { orderId } = database.execute(
      "placeOrder",
      {
        resellerAccount: by.resellerAccount,
        keyId: by.id,
        service,
        link: "https://example.com/a",
        quantity: 100,
        reference: null,
      },
      endedAt - tookMs,
    );
    const id = String(orderId);
    if (by === live) {
      database.execute(
        "transitionOrder",
        { id, to: "COMPLETED", note: null, actor: OPERATOR },
        endedAt,
      );
      return;
    }
    for (const to of ["PROCESSING", "COMPLETED"] as const) {
      database.execute("transitionTestOrder", { keyId: by.id, id, to, remains: 0 }, endedAt);
    }
  };
  for (const hours of [9, 1, 3, 2, 100]) completed("fast", hours * HOUR_MS);
  for (const hours of [40, 10, 20, 30, 50, 60]) completed("slow", hours * HOUR_MS);
  for (const hours of [1, 2, 3, 4]) completed("rare", hours * HOUR_MS);
  for (const hours of [1, 2, 3, 4, 5]) completed("old", hours * HOUR_MS, NOW - 31 * DAY_MS);
  for (const hours of [1, 2, 3, 4, 5]) completed("tried", hours * HOUR_MS, NOW - HOUR_MS, testSide);

  let now = NOW;
  let reads = 0;
  const store: ReadStore = {
    ...database.store,
    read(body) {
      reads++;
      return database.store.read(body);
    },
  };
  const errors: unknown[] = [];
  const times = createCompletionTimes(
    store,
    () => now,
    (error) => void errors.push(error),
  );
  const medians = () => [1, 2, 3, 4, 5].map((service) => times.of(service));
  // Nobody waits for the first reading, and all who ask meanwhile share it.
  expect([medians(), medians()]).toEqual([Array(5).fill(null), Array(5).fill(null)]);
  await times.read();
  const read = reads;
  const found = [3 * HOUR_MS, 30 * HOUR_MS, null, null, null];
  expect(medians()).toEqual(found);
  completed("rare", HOUR_MS);
  now += 10 * MINUTE_MS - 1;
  expect([medians(), reads]).toEqual([found, read]);
  now += 1;
  expect(medians()).toEqual(found);
  await times.read();
  expect(medians()).toEqual(found.with(2, 2 * HOUR_MS));
  expect(errors).toEqual([]);
  database.close();
});

test("a failed reading is reported, and the times stay as they are", async () => {
  const errors: unknown[] = [];
  const store = { read: () => Promise.reject(new Error("away")) } as unknown as ReadStore;
  const times = createCompletionTimes(
    store,
    () => NOW,
    (error) => void errors.push(error),
  );
  await times.read();
  expect([times.of(1), errors]).toEqual([null, [new Error("away")]]);
});

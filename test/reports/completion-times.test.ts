// The median time to completion of each service: real orders of the last 30 days, read again after ten minutes.

import { expect, test } from "bun:test";
import { findUser } from "../../src/db/users/users.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/domain/values/spans.ts";
import { completionTimes } from "../../src/reports/completion-times.ts";
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

  const medians = async (now: number) => {
    const timeOf = await completionTimes(database.store, now);
    return [1, 2, 3, 4, 5].map((service) => timeOf(service));
  };
  const found = [3 * HOUR_MS, 30 * HOUR_MS, null, null, null];
  expect(await medians(NOW)).toEqual(found);
  completed("rare", HOUR_MS);
  expect(await medians(NOW + 10 * MINUTE_MS - 1)).toEqual(found);
  expect(await medians(NOW + 10 * MINUTE_MS)).toEqual(found.with(2, 2 * HOUR_MS));
  database.close();
});

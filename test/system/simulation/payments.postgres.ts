// The payments of simulation/payments.test.ts on PostgreSQL.

import { expect, test } from "bun:test";
import { simulatePayments } from "./simulate-payments.ts";

test("two servers on PostgreSQL credit each payment exactly once, with what was received", async () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const { finding } = await simulatePayments(seed, undefined, "postgres");
    expect([seed, finding]).toEqual([seed, null]);
  }
}, 300_000);

// The payments of simulation/payments.test.ts on PostgreSQL: the auditor finds nothing there either.

import { expect, test } from "bun:test";
import { simulatePayments } from "./simulate-payments.ts";

test("seeds of payments at two servers leave the auditor nothing to find on PostgreSQL", async () => {
  for (let seed = 1; seed <= 3; seed += 1) {
    const { finding } = await simulatePayments(seed, undefined, "postgres");
    expect([seed, finding]).toEqual([seed, null]);
  }
}, 300_000);

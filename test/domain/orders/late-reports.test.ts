// What accepting a late report does: the state and money of every status with every report.

import fc from "fast-check";
import { describe, expect, test } from "bun:test";
import { decideLateReport } from "../../../src/domain/orders/late-reports.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../../src/domain/orders/order-statuses.ts";
import { lateTransitionsFrom } from "../../../src/domain/orders/order-transitions.ts";
import { attempt, Refusal } from "../../../src/domain/values/error-table.ts";

const REPORTED = ["PROCESSING", "COMPLETED", "PARTIAL", "CANCELLED", "FAILED"] as const;
/** What is accepted; everything else is refused. */
const ACCEPTED: Record<string, OrderStatus> = {
  "COMPLETED PARTIAL": "PARTIAL",
  "COMPLETED CANCELLED": "REFUNDED",
  "COMPLETED FAILED": "REFUNDED",
  "PARTIAL CANCELLED": "REFUNDED",
  "PARTIAL FAILED": "REFUNDED",
};

const order = (status: OrderStatus, refundedMicros = 0) => ({
  status,
  quantity: 100,
  chargeMicros: 1_000_001,
  refundedMicros,
  remains: 0,
});

describe.each(ORDER_STATUSES)("an order that is %s", (status) => {
  test.each(REPORTED)("and was reported %s", (reported) => {
    const decided = attempt(() => decideLateReport(order(status), { reported, remains: 33 }));
    const expected = ACCEPTED[`${status} ${reported}`];
    if (expected !== undefined) expect(decided).toMatchObject({ status: expected });
    else expect((decided as Refusal).code).toBe("late_report_inapplicable");
  });
});

test("the table of statuses has exactly the transitions of accepted late reports", () => {
  const inTable = ORDER_STATUSES.flatMap((from) =>
    lateTransitionsFrom(from).map((to) => `${from} ${to}`),
  );
  const accepted = Object.entries(ACCEPTED).map(([pair, to]) => `${pair.split(" ")[0]} ${to}`);
  expect(inTable.toSorted()).toEqual([...new Set(accepted)].sort());
});

test("a PARTIAL refunds what remains of the charge, rounded down", () => {
  const late = { reported: "PARTIAL", remains: 33 } as const;
  expect(decideLateReport(order("COMPLETED"), late)).toEqual({
    status: "PARTIAL",
    remains: 33,
    refundMicros: 330_000,
  });
});

test("no acceptance refunds more than is left of the charge, and none takes money back", () => {
  const statuses = fc.constantFrom(...ORDER_STATUSES);
  const money = fc.integer({ min: 0, max: 10 ** 12 });
  fc.assert(
    fc.property(
      statuses,
      fc.constantFrom(...REPORTED),
      fc.record({ quantity: fc.integer({ min: 1, max: 10 ** 9 }), charge: money, part: money }),
      fc.nat({ max: 10 ** 9 }),
      (status, reported, { quantity, charge, part }, remains) => {
        // COMPLETED orders have no refund: a CHECK of the table.
        const refundedMicros = status === "COMPLETED" ? 0 : Math.min(part, charge);
        const input = { status, quantity, chargeMicros: charge, refundedMicros, remains: 0 };
        const decided = attempt(() => decideLateReport(input, { reported, remains }));
        if (decided instanceof Refusal) return;
        expect(decided.refundMicros).toBeGreaterThanOrEqual(0);
        expect(decided.refundMicros + refundedMicros).toBeLessThanOrEqual(charge);
      },
    ),
  );
});

test("the remaining quantity is required if it was not stored, and is at most the quantity", () => {
  const partial = (remains: number | null) =>
    (
      attempt(() =>
        decideLateReport(order("COMPLETED"), { reported: "PARTIAL", remains }),
      ) as Refusal
    ).code;
  expect(partial(null)).toBe("late_remains_missing");
  expect(partial(101)).toBe("remains_above_quantity");
});

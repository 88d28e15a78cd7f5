// Which transitions an order may make, and what each refunds. docs/specification/orders.md#order-transitions.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  decideTransition,
  refuseProgress,
  type TransitionInput,
} from "../../../src/domain/orders/order-transitions.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../../src/domain/orders/order-statuses.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { anyPrice, anyQuantity } from "../../support/random/random.ts";

/** The state table, docs/specification/orders.md#order-transitions. Every pair that is not here is refused. */
const TRANSITIONS = new Set([
  "PENDING PROCESSING",
  "PENDING FAILED",
  "PENDING CANCELLED",
  "PROCESSING CANCELLED",
  "PROCESSING COMPLETED",
  "PROCESSING PARTIAL",
  "PROCESSING FAILED",
  "COMPLETED REFUNDED",
  "PARTIAL REFUNDED",
]);

const position = (
  status: OrderStatus,
  changes: Partial<TransitionInput> = {},
): TransitionInput => ({
  status,
  quantity: 7,
  chargeMicros: 100,
  refundedMicros: 0,
  remains: 5,
  ...changes,
});

describe("decideTransition follows the state table, every pair of it:", () => {
  const pairs = ORDER_STATUSES.flatMap((from) => ORDER_STATUSES.map((to) => [from, to] as const));
  test.each(pairs)("%s to %s", (from, to) => {
    const refusal = refusalCode(() => decideTransition(position(from), to));
    expect(refusal).toBe(TRANSITIONS.has(`${from} ${to}`) ? null : "order_transition_illegal");
  });
});

describe("a transition refunds", () => {
  test.each([
    ["nothing when it is placed", "PENDING", "PROCESSING", 0, undefined, 5, 0],
    ["nothing when all is delivered", "PROCESSING", "COMPLETED", 0, undefined, 0, 0],
    ["all of it when it failed", "PROCESSING", "FAILED", 0, undefined, 5, 100],
    ["all of it when it failed before", "PENDING", "FAILED", 0, undefined, 5, 100],
    ["all of it when it is cancelled", "PROCESSING", "CANCELLED", 0, undefined, 5, 100],
    ["a part rounded down", "PROCESSING", "PARTIAL", 0, 3, 3, 42],
    ["nothing when nothing remains", "PROCESSING", "PARTIAL", 0, 0, 0, 0],
    ["all of it when all remains", "PROCESSING", "PARTIAL", 0, 7, 7, 100],
    ["what a part left", "PARTIAL", "REFUNDED", 42, undefined, 5, 58],
    ["all of it after completion", "COMPLETED", "REFUNDED", 0, undefined, 5, 100],
    ["nothing that is refunded already", "PARTIAL", "REFUNDED", 100, undefined, 5, 0],
  ] as const)("%s", (_title, from, to, refundedMicros, remains, remainsAfter, refund) => {
    const transition = decideTransition(position(from, { refundedMicros }), to, remains);
    expect(transition).toEqual({ status: to, remains: remainsAfter, refundMicros: refund });
  });

  test("a part that is exact, rounded down and never above the charge", () => {
    const anyOrder = fc
      .tuple(anyPrice, anyQuantity)
      .chain(([charge, quantity]) =>
        fc.tuple(fc.constant(charge), fc.constant(quantity), fc.integer({ min: 0, max: quantity })),
      );
    fc.assert(
      fc.property(anyOrder, ([charge, quantity, remains]) => {
        const order = position("PROCESSING", { chargeMicros: charge, quantity });
        const { refundMicros } = decideTransition(order, "PARTIAL", remains);
        expect(refundMicros).toBe(Number((BigInt(charge) * BigInt(remains)) / BigInt(quantity)));
        expect(refundMicros).toBeLessThanOrEqual(charge);
      }),
    );
  });

  test("nothing when more remains than was ordered: it is refused", () => {
    const partial = () => decideTransition(position("PROCESSING"), "PARTIAL", 8);
    expect(refusalCode(partial)).toBe("remains_above_quantity");
  });
});

describe("refuseProgress", () => {
  test.each(ORDER_STATUSES)("refuses every state but PROCESSING: %s", (status) => {
    const refusal = refusalCode(() => refuseProgress(position(status), null));
    expect(refusal).toBe(status === "PROCESSING" ? null : "order_not_processing");
  });

  test("refuses more remains than the quantity", () => {
    expect(refusalCode(() => refuseProgress(position("PROCESSING"), 7))).toBeNull();
    expect(refusalCode(() => refuseProgress(position("PROCESSING"), 8))).toBe(
      "remains_above_quantity",
    );
  });
});

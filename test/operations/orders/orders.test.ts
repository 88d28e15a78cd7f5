// Orders on a real database: after any sequence of transitions the ledger adds up, and a refusal writes nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findOrder, type Order } from "../../../src/db/orders/orders.ts";
import { listOrderEvents } from "../../../src/db/orders/order-events.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { decideTransition } from "../../../src/domain/orders/order-transitions.ts";
import type { PriceUnit } from "../../../src/domain/catalogue/services.ts";
import { audit } from "../../support/databases/audit.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { anyPrice } from "../../support/random/random.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { sampledOnPostgres } from "../../support/databases/engine-samples.ts";

let database: TestDatabase;
let key: string;
let account: number;

beforeAll(() => {
  database = freshDatabase();
  database.user("anna", "1000000000");
  key = database.key("anna", "full").id;
  account = database.read((reader) => findUser(reader, "anna"))!.account;
});
afterAll(() => database.close());

const place = (service: string, quantity: number): Order => {
  const order = { resellerAccount: account, keyId: key, service, link: "x", quantity };
  return database.run("placeOrder", order);
};

const reload = (id: string): Order => database.read((reader) => findOrder(reader, id))!;

const refusalOf = (body: () => unknown) => refusalCode(body, database);

type Target = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";
const TARGETS: Target[] = ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED", "REFUNDED"];

/** How an order that was just placed gets to a status. */
const WAYS: Record<string, Target[]> = {
  PROCESSING: [],
  COMPLETED: ["COMPLETED"],
  PARTIAL: ["PARTIAL"],
  FAILED: ["FAILED"],
  CANCELLED: ["CANCELLED"],
  REFUNDED: ["COMPLETED", "REFUNDED"],
};

describe("an order is charged", () => {
  const PRICES = ["0.000001", "2.32", "33.333333"];
  const PRICE_UNITS: PriceUnit[] = ["1000", "1", "order"];
  test.each(PRICES.flatMap((price) => PRICE_UNITS.map((per) => [price, per] as const)))(
    "%s per %s to the micro, rounded up, and the balance is short by exactly that",
    (price, per) => {
      const service = database.service({ price, per, min: 1 });
      for (const quantity of [1, 3, 999, 1000, 1001]) {
        const before = database.balance("anna");
        const micros = BigInt(Math.round(Number(price) * 1e6));
        const units = { "1000": BigInt(quantity), "1": BigInt(quantity) * 1000n, order: 1000n }[
          per
        ];
        const charge = Number((micros * units + 999n) / 1000n);
        expect(place(service, quantity).chargeMicros).toBe(charge);
        expect(before - database.balance("anna")).toBe(charge);
      }
    },
  );

  test("its whole balance at the most, to the micro", () => {
    database.user("poor", "0.231999");
    const { account: poor } = database.read((reader) => findUser(reader, "poor"))!;
    const poorKey = database.key("poor", "order").id;
    const service = database.service();
    const order = { resellerAccount: poor, keyId: poorKey, service, link: "x", quantity: 100 };
    const attempt = () => database.run("placeOrder", order);
    expect(refusalOf(attempt)).toBe("insufficient_balance");
    const credit = { username: "poor", amountMicros: 1, note: null, actor: OPERATOR };
    database.run("creditUser", credit);
    expect(attempt().chargeMicros).toBe(232_000);
    expect(database.balance("poor")).toBe(0);
    expect(refusalOf(attempt)).toBe("insufficient_balance");
  });

  test("nothing for a service at 0, and no transfer is written for it", () => {
    const service = database.service({ price: "0" });
    const { orderId, id } = place(service, 10);
    database.run("transitionOrder", { id, to: "FAILED", note: null, actor: OPERATOR });
    expect(database.query("SELECT * FROM transfers WHERE order_id = ?", orderId)).toEqual([]);
  });
});

describe("transitionOrder follows the table for every pair of states:", () => {
  const pairs = Object.keys(WAYS).flatMap((from) => TARGETS.map((to) => [from, to] as const));
  test.each(sampledOnPostgres(pairs, 3))("%s to %s", (from, to) => {
    const service = database.service({ price: "33.333333", per: "1", min: 1 });
    const { id } = place(service, 7);
    for (const step of WAYS[from]!) {
      database.run("transitionOrder", { id, to: step, remains: 3, note: null, actor: OPERATOR });
    }
    const order = reload(id);
    const before = database.balance("anna");
    const command = { id, to, remains: 2, note: "because", actor: OPERATOR };
    const decided = refusalOf(() => decideTransition(order, to, 2));
    expect(refusalOf(() => database.run("transitionOrder", command))).toBe(decided);
    if (decided !== null) return expect(reload(id)).toEqual(order);

    const after = reload(id);
    expect(after.status).toBe(to);
    expect(after.chargeMicros).toBe(order.chargeMicros);
    expect(database.balance("anna") - before).toBe(after.refundedMicros - order.refundedMicros);
    const event = database.read((reader) => listOrderEvents(reader, order.orderId)).at(-1);
    expect(event).toMatchObject({
      fromStatus: from,
      toStatus: to,
      note: "because",
      actor: OPERATOR,
    });
  });

  test("the same transition is refused the second time", () => {
    const { id } = place(database.service(), 10);
    const cancel = () =>
      database.run("transitionOrder", { id, to: "CANCELLED", note: null, actor: OPERATOR });
    expect([refusalOf(cancel), refusalOf(cancel)]).toEqual([null, "order_transition_illegal"]);
  });

  test("nothing is done if the refund differs from the confirmed one", () => {
    const { id } = place(database.service({ price: "1", per: "1" }), 10);
    const move = (to: Target, refundMicros: number) =>
      database.run("transitionOrder", { id, to, remains: 4, refundMicros, note: null });
    expect(refusalOf(() => move("CANCELLED", 9_999_999))).toBe("order_changed");
    expect(reload(id).status).toBe("PROCESSING");
    // Confirmed while nothing was refunded yet; meanwhile a part was.
    move("PARTIAL", 4_000_000);
    expect(refusalOf(() => move("REFUNDED", 10_000_000))).toBe("order_changed");
    expect(reload(id)).toMatchObject({ status: "PARTIAL", refundedMicros: 4_000_000 });
    move("REFUNDED", 6_000_000);
    expect(reload(id).refundedMicros).toBe(10_000_000);
  });

  test("an order is found by either id, and one that is not there is refused", () => {
    const order = place(database.service(), 10);
    const complete = (id: string) =>
      database.run("transitionOrder", { id, to: "COMPLETED", note: null, actor: OPERATOR });
    expect(complete(String(order.orderId)).id).toBe(order.id);
    expect(refusalOf(() => complete("999999"))).toBe("order_not_found");
  });
});

describe("progressOrder", () => {
  test("changes only the given fields", () => {
    const { id } = place(database.service(), 10);
    const progress = (startCount: number | null, remains: number | null) => {
      const order = database.run("progressOrder", { id, startCount, remains });
      expect(reload(id)).toEqual(order);
      return [order.startCount, order.remains];
    };
    expect(progress(5, null)).toEqual([5, 10]);
    expect(progress(null, 0)).toEqual([5, 0]);
    expect(progress(0, 10)).toEqual([0, 10]);
  });

  test("is refused in every other state and past the quantity", () => {
    for (const [status, way] of Object.entries(WAYS)) {
      const { id } = place(database.service(), 10);
      for (const to of way) {
        database.run("transitionOrder", { id, to, remains: 3, note: null, actor: OPERATOR });
      }
      const progress = (remains: number) => () =>
        database.run("progressOrder", { id, startCount: 1, remains });
      const open = status === "PROCESSING";
      expect(refusalOf(progress(11))).toBe(
        open ? "remains_above_quantity" : "order_not_processing",
      );
      expect(refusalOf(progress(9))).toBe(open ? null : "order_not_processing");
    }
  });
});

test("after any sequence of transitions refunds stay within the charge and the ledger adds up", () => {
  const anyStep = fc.record({
    to: fc.constantFrom(...TARGETS),
    remains: fc.integer({ min: 0, max: 60 }),
    progress: fc.option(fc.integer({ min: 0, max: 60 })),
  });
  const anyLife = fc.record({
    price: anyPrice.filter((price) => price <= 100_000_000),
    per: fc.constantFrom<PriceUnit>("1000", "1", "order"),
    quantity: fc.integer({ min: 1, max: 50 }),
    steps: fc.array(anyStep, { maxLength: 8 }),
  });
  const service = database.service({ min: 1 });
  fc.assert(
    fc.property(anyLife, ({ price, per, quantity, steps }) => {
      database.run("updateService", { id: service, changes: { priceMicros: price, per } });
      const before = database.balance("anna");
      const { id, chargeMicros } = place(service, quantity);
      for (const { to, remains, progress } of steps) {
        if (progress !== null) {
          refusalOf(() =>
            database.run("progressOrder", { id, startCount: null, remains: progress }),
          );
        }
        refusalOf(() =>
          database.run("transitionOrder", { id, to, remains, note: null, actor: OPERATOR }),
        );
        const order = reload(id);
        expect(order.chargeMicros).toBe(chargeMicros);
        expect(order.refundedMicros).toBeWithin(0, chargeMicros + 1);
        expect(before - database.balance("anna")).toBe(chargeMicros - order.refundedMicros);
      }
    }),
    { numRuns: 60 },
  );
  expect(audit(database)).toEqual({});
});

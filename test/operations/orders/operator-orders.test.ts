// Orders of the operator: placed for a reseller, failed ones again, and links corrected. docs/specification/orders.md#operator-orders.

import { beforeAll, describe, expect, test } from "bun:test";
import { RESEND_PRICES } from "../../../src/domain/orders/operator-orders.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { PlaceOrderFor, ResendOrder } from "../../../src/operations/orders/operator-orders.ts";
import { auditStore } from "../../support/databases/audit.ts";
import { ENGINES } from "../../support/databases/stores.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { openReached, STATES, type StateShop, type Subject } from "./order-states.ts";

const actor = { keyId: null, operator: "tester" };
const ANY_ROUTE = { provider: null, providerService: null };
const LINK = "https://example.com/right";

describe.each(ENGINES)("on %s", (engine) => {
  let shop: StateShop;
  let subjects: ReadonlyMap<string, Subject>;

  beforeAll(async () => {
    ({ shop, subjects } = await openReached(engine));
  });

  const rowOf = async (orderId: number) => {
    const [row] = await shop.store.query(`SELECT * FROM orders WHERE order_id = ${orderId}`);
    return row!;
  };
  const balance = async () => {
    const account = shop.caller.resellerAccount;
    const [row] = await shop.store.query(
      `SELECT balance_micros FROM users WHERE account = ${account}`,
    );
    return Number(row!["balance_micros"]);
  };
  const codeOf = async (run: Promise<unknown>): Promise<string> => {
    try {
      await run;
      return "done";
    } catch (error) {
      if (error instanceof Refusal) return error.code;
      throw error;
    }
  };
  /** `chargeMicros`: if it is not given, the charge of the failed order. */
  const resend = async (orderId: number, choices: Partial<ResendOrder> = {}) => {
    const chargeMicros = Number((await rowOf(orderId))["charge_micros"]);
    const chosen = { price: "then" as const, link: null, note: null, ...ANY_ROUTE, ...choices };
    const input = { id: String(orderId), chargeMicros, ...chosen, actor };
    return shop.run("resendOrder", input, shop.now);
  };
  /** Places 1000 of `single`, whose price is for 1000. */
  const place = async (choices: Partial<PlaceOrderFor> = {}) => {
    const chargeMicros = await priceOf("single");
    const order = { username: "r0", service: "single", link: LINK, quantity: 1000, chargeMicros };
    const chosen = { reference: null, note: null, ...ANY_ROUTE, ...choices };
    return shop.run("placeOrderFor", { ...order, ...chosen, actor }, shop.now);
  };
  const priceOf = async (id: string) => {
    const [row] = await shop.store.query(`SELECT price_micros FROM services WHERE id = '${id}'`);
    return Number(row!["price_micros"]);
  };
  const everything = async () => {
    const tables = ["transfers", "orders", "resent_orders", "audit"];
    const rows = tables.map((table) => shop.store.query(`SELECT count(*) AS rows FROM ${table}`));
    return [await Promise.all(rows), await balance()];
  };
  const failed = async () => subjects.get("refused by all")!.orderId;

  test("of all states, only a failed order is sent again, and only one that no provider has gets another link", async () => {
    const found = [];
    for (const [state, { orderId }] of subjects) {
      const { status, placement } = await rowOf(orderId);
      const link = await codeOf(
        shop.run("correctLink", { id: String(orderId), link: LINK, actor }, shop.now),
      );
      const again = await codeOf(resend(orderId));
      const isOpen =
        status === "PENDING"
          ? placement === "queued"
          : status === "PROCESSING" && placement === "manual";
      found.push({ state, link, again });
      expect({ state, link, again }).toEqual({
        state,
        link: isOpen ? "done" : "order_link_fixed",
        again: status === "FAILED" ? "done" : "order_not_resendable",
      });
      expect((await rowOf(orderId))["link"] === LINK).toBe(isOpen);
    }
    expect(found.length).toBe(Object.keys(STATES).length);
    expect(await verifyStore(shop)).toEqual([]);
    ({ shop, subjects } = await openReached(engine));
  });

  test("a failed order sent again 20 times at once is placed once, charged once, and names the new order", async () => {
    const orderId = await failed();
    const before = await balance();
    const codes = await Promise.all(Array.from({ length: 20 }, () => codeOf(resend(orderId))));
    expect(codes.toSorted()).toEqual(["done", ...Array(19).fill("order_resent")]);
    const [link] = await shop.store.query(
      `SELECT * FROM resent_orders WHERE order_id = ${orderId}`,
    );
    const [old, fresh] = [await rowOf(orderId), await rowOf(Number(link!["resent_as"]))];
    for (const column of ["reseller_account", "service_id", "link", "quantity", "charge_micros"]) {
      expect(fresh[column]).toEqual(old[column]);
    }
    expect([fresh["status"], fresh["placement"]]).toEqual(["PENDING", "queued"]);
    expect(await balance()).toBe(before - Number(old["charge_micros"]));
  });

  test("it costs what it did then or what it does now, as the operator chooses", async () => {
    const [one, other] = [subjects.get("by hand, failed")!, subjects.get("expired")!];
    const charge = Number((await rowOf(one.orderId))["charge_micros"]);
    for (const id of ["hand", "single"]) {
      await shop.run(
        "updateService",
        { id, changes: { priceMicros: 3_000_000 }, actor } as never,
        shop.now,
      );
    }
    const then = await resend(one.orderId);
    const now = await resend(other.orderId, { price: "now", chargeMicros: 3_000_000 });
    expect([then.chargeMicros, now.chargeMicros]).toEqual([charge, 3_000_000]);
  });

  test("a charge that is not the confirmed one is refused, and nothing changes", async () => {
    const { orderId } = subjects.get("unknown, settled as not placed")!;
    const charge = Number((await rowOf(orderId))["charge_micros"]);
    const [dear, cheap] = [await priceOf("single"), await priceOf("double")];
    const before = await everything();
    for (const change of [-1, 1]) {
      expect(await codeOf(place({ chargeMicros: dear + change }))).toBe("catalogue_changed");
      for (const price of RESEND_PRICES) {
        const chargeMicros = (price === "then" ? charge : cheap) + change;
        const confirmed = { price, chargeMicros };
        expect(await codeOf(resend(orderId, confirmed))).toBe("catalogue_changed");
      }
    }
    expect(await everything()).toEqual(before);
  });

  test("it begins on the chosen route, and an unknown route is refused", async () => {
    const { orderId } = subjects.get("unknown, settled as not placed")!;
    const routes: [Partial<ResendOrder>, string][] = [
      [{ provider: "nobody" }, "provider_not_found"],
      [{ provider: "core" }, "route_not_found"],
      [{ provider: "bulk", providerService: "81" }, "route_not_found"],
    ];
    for (const [choice, code] of routes) expect(await codeOf(resend(orderId, choice))).toBe(code);
    const order = await resend(orderId, { provider: "bulk", link: LINK });
    const { provider_id: id, provider_service: service, link } = await rowOf(order.orderId);
    expect([Number(id), service, link]).toEqual([2, "80", LINK]);
  });

  test("an order for a reseller is charged to its balance, once for each reference", async () => {
    const before = await balance();
    const order = await place({ reference: "ticket-1" });
    expect(await codeOf(place({ reference: "ticket-1" }))).toBe("reference_taken");
    expect(await balance()).toBe(before - order.chargeMicros);
    const [transfer] = await shop.store.query(
      `SELECT operator, key_id FROM transfers WHERE order_id = ${order.orderId}`,
    );
    expect(transfer).toEqual({ operator: "tester", key_id: null });
    const [entry] = await shop.store.query(
      `SELECT action, operator FROM audit WHERE subject = '${order.orderId}'`,
    );
    expect(entry).toEqual({ action: "order.place", operator: "tester" });
  });

  test("what the reseller itself could not order is refused, and nothing changes", async () => {
    await shop.run(
      "createUser",
      { username: "kid", name: "Kid", parent: "r0", actor } as never,
      shop.now,
    );
    const before = await shop.store.query("SELECT * FROM users ORDER BY account");
    const refused: [Partial<PlaceOrderFor>, string][] = [
      [{ username: "nobody" }, "user_not_found"],
      [{ username: "kid" }, "child_places_no_orders"],
      [{ service: "nothing" }, "service_not_found"],
      [{ quantity: 0 }, "quantity_below_minimum"],
      [{ quantity: 10_001 }, "quantity_above_maximum"],
      [{ quantity: null }, "field_missing"],
      [{ given: { runs: 2, interval: 1 } }, "field_invalid"],
      [{ provider: "bulk" }, "route_not_found"],
    ];
    for (const [choice, code] of refused) expect(await codeOf(place(choice))).toBe(code);
    await shop.run("setUserActive", { username: "r0", active: false, actor }, shop.now);
    expect(await codeOf(place())).toBe("user_inactive");
    await shop.run("setUserActive", { username: "r0", active: true, actor }, shop.now);
    expect(await shop.store.query("SELECT * FROM users ORDER BY account")).toEqual(before);
    expect(await verifyStore(shop)).toEqual([]);
    expect(await auditStore(shop.store)).toEqual({});
  });
});

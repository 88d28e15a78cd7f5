// `restored`: once PostgreSQL's own tools have put a database back to an earlier moment, nothing that was done since is done
// again by what the database says.

import { describe, expect, test } from "bun:test";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";
import {
  freshPostgresDatabase,
  freshSqliteDatabase,
} from "../../support/databases/test-database.ts";

/** Orders for a provider, of which the first is being sent, and one by hand. */
function shopWithOrders(): Shop & { orders: Record<"sending" | "queued" | "byHand", number> } {
  const shop = openShop({ database: freshPostgresDatabase() });
  const acme = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:1/", key: "k" } as const;
  shop.run("createProvider", acme);
  const service = shop.service({ id: "delivered", provider: { name: "acme", service: "7" } });
  const [{ account }] = shop.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  ) as [{ account: number }];
  const { id: keyId } = shop.key("alice", "full");
  const place = () => {
    const order = { resellerAccount: Number(account), keyId, service, link: "x", quantity: 20 };
    return shop.run("placeOrder", order);
  };
  const { orderId: sending, delivery } = place();
  const { providerId } = delivery!;
  const server = "s".repeat(24);
  shop.run("startAttempt", { orderId: sending, providerId, server, placeRetryMs: 1e9 });
  return { ...shop, orders: { sending, queued: place().orderId, byHand: shop.order(10) } };
}

const placementsOf = (shop: Shop) =>
  Object.fromEntries(
    shop
      .query<{ order_id: number; placement: string }>("SELECT order_id, placement FROM orders")
      .map(({ order_id: orderId, placement }) => [Number(orderId), placement]),
  );

describe("restored", () => {
  test("reuses no number, submits nothing that may have been submitted, and verifies", async () => {
    const started = Date.now();
    const shop = shopWithOrders();
    const { sending, queued, byHand } = shop.orders;
    shop.run("setMailSettings", { active: true, operator: null });
    const email = { email: "m@x.example", name: null, role: "owner", language: "en" } as const;
    shop.run("inviteMember", { username: "alice", ...email, invitationHash: null });
    const { code, json } = await shop.cli("restored", "--yes", "--json");
    expect(code).toBe(0);
    expect(shop.query("SELECT state FROM mails")).toEqual([{ state: "dropped" }]);
    expect(json).toEqual({
      ok: true,
      database: shop.location.database!.replace(/\/\/[^@]*@/, "//"),
      next: {
        orderId: byHand + 1_000_001,
        transaction: expect.any(Number),
        audit: expect.any(Number),
        service: expect.any(Number),
      },
      unknownOrders: 2,
      webhooksWaiting: 0,
      mailsDropped: 1,
      usableKeys: 2,
      invoiceSeries: null,
    });
    expect(placementsOf(shop)).toEqual({
      [sending]: "unknown",
      [queued]: "unknown",
      [byHand]: "manual",
    });
    expect(shop.order(10)).toBe(json.next.orderId);
    const [transfer] = shop.query<{ seq: number }>("SELECT max(seq) AS seq FROM transfers");
    expect(Number(transfer!.seq)).toBe(json.next.transaction);
    shop.service({ id: "later" });
    const [service] = shop.query<{ number: number }>("SELECT max(number) AS number FROM services");
    expect(Number(service!.number)).toBe(json.next.service);
    const [order] = shop.query<{ sequence: number }>(
      "SELECT sequence FROM orders WHERE order_id = ?",
      byHand,
    );
    expect(Number(order!.sequence)).toBeGreaterThanOrEqual(started);
    expect((await shop.cli("verify")).code).toBe(0);
    shop.close();
  });

  test("run twice skips numbers twice and changes nothing else", async () => {
    const shop = shopWithOrders();
    const first = (await shop.cli("restored", "--yes", "--json")).json;
    const placements = placementsOf(shop);
    const second = await shop.cli("restored", "--yes", "--json");
    expect([second.code, second.json.unknownOrders]).toEqual([0, 0]);
    expect(second.json.next.orderId).toBe(first.next.orderId + 1_000_000);
    expect(placementsOf(shop)).toEqual(placements);
    shop.close();
  });

  test("begins a new series of invoices, because those since the restored moment are unknown", async () => {
    const shop = openShop({ database: freshPostgresDatabase() });
    const changes = { mode: "credit", sellerName: "s", sellerAddress: "a", prefix: "A-" } as const;
    shop.run("setInvoicing", { changes });
    const credit = { username: "alice", amountMicros: 5, note: null };
    shop.run("creditUser", credit);
    shop.run("issueInvoices", { limit: 10 });
    const { code, json } = await shop.cli("restored", "--yes", "--json");
    expect([code, json.invoiceSeries]).toEqual([0, expect.stringMatching(/^A-R\d{12}-$/)]);
    shop.run("creditUser", credit);
    shop.run("issueInvoices", { limit: 10 });
    const issued = shop.query("SELECT prefix, number FROM invoices ORDER BY invoice_id");
    expect(issued.map(({ prefix, number }) => `${String(prefix)}${Number(number)}`)).toEqual([
      "A-1",
      `${json.invoiceSeries}1`,
    ]);
    expect((await shop.cli("verify")).code).toBe(0);
    shop.close();
  });

  test("gives the next order the requested number, but never one that was given out", async () => {
    const shop = shopWithOrders();
    const before = shop.dump();
    const refused = await shop.cli("restored", "--yes", "--order-numbers-from", "3");
    expect([refused.code, refused.told]).toEqual([
      1,
      expect.stringContaining("order numbers up to 3 were issued"),
    ]);
    expect(shop.dump()).toBe(before);
    expect((await shop.cli("restored", "--yes", "--order-numbers-from", "77")).code).toBe(0);
    expect(shop.order(10)).toBe(77);
    shop.close();
  });

  test("is refused while a server runs, without confirmation and without PostgreSQL, and changes nothing", async () => {
    const shop = shopWithOrders();
    const before = shop.dump();
    const unasked = await shop.cli("restored");
    expect([unasked.code, unasked.told]).toEqual([2, expect.stringContaining("repeat with --yes")]);
    expect(shop.dump()).toBe(before);
    const lease = { id: "a".repeat(24), name: "one", ended: [] };
    shop.execute("renewLease", lease, Date.now());
    const served = shop.dump();
    const beside = await shop.cli("restored", "--yes");
    expect([beside.code, beside.told]).toEqual([
      1,
      expect.stringContaining("is in use by the server one: stop it first"),
    ]);
    expect(shop.dump()).toBe(served);
    shop.close();
    const sqlite = freshSqliteDatabase();
    const file = await reseller("restored", "--yes", "--data", sqlite.folder);
    expect([file.code, file.told]).toEqual([2, expect.stringContaining("only for PostgreSQL")]);
    sqlite.close();
  });
});

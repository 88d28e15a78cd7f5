// `move` copies everything to the other engine and back, or changes nothing.

import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { describe, expect, test } from "bun:test";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { NUMBERED_TABLES } from "../../../src/db/ledger/number-floors.ts";
import {
  dailyTotals,
  hourlySpend,
  moneyTotals,
  totalsPosition,
} from "../../../src/db/tables/reports.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { readReport } from "../../../src/reports/reports.ts";
import { planCatalogue, requireProvider } from "../../../src/operations/providers/providers.ts";
import { claimDataDirectory, lockDataDirectory } from "../../../src/storage/file/open.ts";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { DOLLAR, TERMS } from "../../support/seeds/payments.ts";
import { openShop, reseller, type Shop } from "../../support/worlds/shop.ts";
import { below, type Random, randomFrom } from "../../support/random/seeded.ts";
import {
  dumpOf,
  freshPostgresDatabase,
  freshSqliteDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { runs } from "../../support/runs.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

const placeOf = ({ location }: TestDatabase): string => location.database ?? location.data;
const move = (from: string, to: string, ...more: string[]) =>
  reseller("move", "--from", from, "--to", to, ...more);
const moved = (from: TestDatabase, to: TestDatabase) => move(placeOf(from), placeOf(to), "--json");

/** Totals of reports are counted anew. */
const COUNTED_ANEW: readonly AnyTable[] = [dailyTotals, hourlySpend, moneyTotals, totalsPosition];

/** Those that a market need not have rows of. */
const MAYBE_EMPTY: ReadonlySet<string> = new Set([
  "late_reports",
  "unrecognized_numbers",
  "servers",
  "panel_sessions",
  "member_sessions",
  "inspections",
  "daily_totals",
  "hourly_spend",
  "money_totals",
]);

/** Everything but what only one engine has. */
function dump(database: TestDatabase): string {
  const version = database.query("SELECT version FROM catalogue_version");
  const moving = TABLES.filter((table) => !COUNTED_ANEW.includes(table));
  return [...moving.map((table) => dumpOf(database, table)), JSON.stringify(version)].join("\n");
}

/** An order that its provider took, with what it charges. */
function chargeOrder(shop: Shop, service: string): void {
  const [{ account }] = shop.query<{ account: number }>("SELECT account FROM users WHERE username = 'alice'") as [{ account: number }]; // prettier-ignore
  const { id: keyId } = shop.key("alice", "full");
  const order = { resellerAccount: Number(account), keyId, service, link: "x", quantity: 20 };
  const { orderId, delivery } = shop.run("placeOrder", order);
  const { providerId } = delivery!;
  shop.attempt(orderId, { outcome: "accepted", providerOrder: "901" });
  const cost = { charge: "0.0123456789", currency: "USD" };
  const report = { word: "In progress", startCount: null, remains: null, text: "{}", cost };
  const polled = { providerId, pollIntervalMs: 1e9, jitter: 0 };
  shop.run("recordReports", { ...polled, reports: [{ orderId, report }] });
}

/** Imports a user, its key, a service, a past order and an open one of another panel. */
function importPanel(shop: Shop): void {
  shop.run("beginImport", { run: "r", isAlone: false, orders: 2, services: 5 });
  const user = { source: "9", username: "moved", name: "Moved", email: "moved@example.com" };
  const balance = { balanceMicros: 7, discountPpm: 0, active: true };
  shop.run("importUsers", { users: [{ ...user, ...balance }] });
  const provider = { name: "acme", service: "77" };
  const terms = { name: "Likes", priceMicros: 5, per: "1000", min: 1, max: 9, provider } as const;
  shop.run("importPanelServices", { services: [{ number: 5, ...terms }] });
  const key = { source: "9", hash: "5".repeat(64), start: "9f86", label: "old" };
  shop.run("importKeys", { keys: [key] });
  const order = {
    source: "9",
    serviceNumber: 5,
    serviceName: "Likes",
    link: "x",
    quantity: 10,
    chargeMicros: 4,
    startCount: 0,
    remains: 0,
    createdAt: 1,
    provider: "3",
  };
  const open = { providerOrder: "8001", deliveredBy: { name: "acme", service: null } };
  shop.run("importOrders", {
    orders: [
      { ...order, orderId: 1, status: "COMPLETED", providerOrder: "8000", deliveredBy: null },
      { ...order, orderId: 2, status: "PROCESSING", ...open },
    ],
  });
}

/** A payment by bank transfer, with a picture of it, which the operator approved, and which was paid once more. */
function payByBank(shop: Shop, operator: string): void {
  const actor = { keyId: null, operator };
  const terms = { ...TERMS, bonusSteps: '[{"from":1000000,"ppm":100000}]' };
  const method = { methodId: "bank", kind: "manual", currency: "USD", terms, known: [] };
  shop.run("createPaymentMethod", { ...method, resellers: ["alice"] });
  const asked = { methodId: "bank", amountMicros: 2 * DOLLAR, requestKey: "form-1", actor };
  const { id } = shop.run("createPayment", asked);
  const file = { type: "image/png", bytes: 3, sha256: "6".repeat(64), data: "AAAA" } as const;
  shop.run("claimPayment", { id, reference: "ümlaut", file, isClaimed: true, actor });
  shop.run("approvePayment", { id, receivedMicros: null, creditMicros: null });
  // A program reports it too, so it is a surplus.
  const paid = { id, programId: "ümlaut", amountMicros: 2 * DOLLAR, currency: "USD" };
  shop.run("recordPaid", { methodId: "bank", ...paid });
}

/** Adds rows to every table: orders in every state, used keys, replaced keys, grants, pending deliveries. */
function randomMarket(shop: Shop, random: Random): void {
  const attempt = (body: () => unknown) => {
    try {
      body();
    } catch (error) {
      // The next does something else.
      if (!(error instanceof Refusal)) throw error;
    }
  };
  shop.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "http://127.0.0.1:1/",
    key: "k",
  });
  importPanel(shop);
  const hook = { url: "https://shop.example/", events: "*", balanceLowBelow: 5, secret: "s" };
  shop.run("createWebhook", { ...hook, username: "alice" });
  const admin = { name: "ada", invitationHash: "1".repeat(64) };
  shop.run("inviteAdministrator", { ...admin, role: "owner" });
  shop.run("acceptInvitation", { ...admin, site: "panel", passwordHash: "p" });
  const from = { address: "::1", network: "::1", userAgent: "u" };
  shop.run("beginSignIn", { site: "panel", step: "password", name: "ada", ...from });
  shop.query("INSERT INTO known_networks VALUES ('ada', '::1', 1)");
  shop.query("INSERT INTO saved_views VALUES ('ada', 'Failed', 'status=FAILED')");
  shop.query("INSERT INTO category_order VALUES ('c', 1)");
  shop.query("INSERT INTO key_requests SELECT id, 1, 2, 1 FROM keys");
  const ann = { email: "ann@alice.example", name: "Ann", role: "owner", language: "es" } as const;
  const asMember = { site: "portal", invitationHash: "3".repeat(64) } as const;
  shop.run("inviteMember", { ...ann, username: "alice", invitationHash: "3".repeat(64) });
  const member = shop.run("acceptInvitation", { ...asMember, passwordHash: "p" });
  shop.run("beginSignIn", { site: "portal", step: "password", name: ann.email, ...from });
  shop.query("INSERT INTO member_networks VALUES (?, '::1', 1)", member);
  shop.query("INSERT INTO member_recovery_codes VALUES (?, ?)", member, "4".repeat(64));
  shop.run("register", {
    email: "bea@example.com",
    name: "Bea",
    language: "tr",
    limit: 1000,
    from: VISITOR,
  });
  shop.run("setPortal", { username: "alice", changes: { keys: "full" } });
  shop.run("setMailSettings", { active: true, operator: "op@shop.example" });
  shop.query(`INSERT INTO mails (mail_id, id, kind, account, member, email, data, state, due_at, created_at)
    SELECT 1, 'evt_mail00000000000000000001', 'sign_in', account, id, email, '{}', 'waiting', 2, 1 FROM members`);
  shop.run("addNotice", { texts: { en: "Closed on Sunday" }, untilAt: null });
  payByBank(shop, memberAuthor(member));
  shop.run("takeConfirmation", { id: "1700000000000-abcdefghijklmnop" });
  shop.query("INSERT INTO recovery_codes (administrator, hash) VALUES ('ada', ?)", "2".repeat(64));
  const asked = { cancel: true, refill: true };
  const delivered = shop.service({
    id: "delivered",
    provider: { name: "acme", service: "7" },
    ...asked,
  });
  const further = { provider: "acme", providerService: "8", priority: null };
  shop.run("putRoute", { id: delivered, ...further });
  const begun = [{ kind: "disk_low", subject: "disk", message: "full" } as const];
  shop.run("recordAlerts", { begun, ended: [] });
  const limits = { rateLimit: "5/m", spendPerDayMicros: 1e15, openOrders: 0 };
  shop.run("setLimits", { username: "alice", changes: limits });
  for (const { id } of shop.query<{ id: string }>("SELECT id FROM services")) {
    shop.run("updateService", { id, changes: asked });
  }
  for (const balance of [5, -0.25]) {
    shop.run("recordProviderBalance", { providerId: 1, balance, currency: "USD" });
  }
  const seller = { sellerName: "Panel \u{1f600}", sellerAddress: "Street 1\nCity" };
  const changes = { mode: "credit", prefix: "A-", nextNumber: 7, taxPpm: 200_000, ...seller };
  shop.run("setInvoicing", { changes: changes as never });
  const billing = { name: "Älice", address: "x", taxId: "", taxPpm: 0, taxText: "reverse charge" };
  shop.run("setBilling", { username: "alice", billing });
  shop.run("creditUser", { username: "alice", amountMicros: 5, note: null });
  shop.run("issueInvoices", { limit: 1 });
  const steps: (() => unknown)[] = [
    () => shop.run("issueInvoices", { limit: 2 }),
    () => shop.run("correctInvoice", { prefix: "A-", number: 7 + below(random, 5), amountMicros: null, reason: "wrong", reissue: below(random, 2) === 0 }),
    () => shop.order(10 + below(random, 500)),
    () => shop.run("transitionOrder", { id: String(1 + below(random, 40)), to: (["COMPLETED", "CANCELLED", "FAILED", "REFUNDED"] as const)[below(random, 4)]!, note: "ümlaut \u{1f600}", actor: OPERATOR }),
    () => shop.run("transitionOrder", { id: String(1 + below(random, 40)), to: "PARTIAL", remains: below(random, 10), note: null, actor: OPERATOR }),
    () => shop.run("creditUser", { username: "alice", amountMicros: 1 + below(random, 5e6), note: null, publicNote: "told", reference: `r${below(random, 1e9)}`, actor: OPERATOR }),
    () => shop.run("setDiscount", { username: "alice", discountPpm: below(random, 1e6) }),
    () => shop.run("debitUser", { username: "kid", amountMicros: 1 + below(random, 5e5), note: "x", actor: OPERATOR }),
    () => shop.run("grantService", { id: "secret", username: "alice", priceMicros: below(random, 2) ? 5 : null }),
    () => shop.key("bob", "order"),
    () => {
      const { id: keyId } = shop.key(below(random, 2) ? "alice" : "bob", "full", "all", true);
      const [twin] = shop.query<{ account: number }>("SELECT account FROM users WHERE test_of IS NOT NULL ORDER BY account DESC");
      shop.run("recharge", { keyId, resellerAccount: Number(twin!.account), username: "kid", amountMicros: 1 + below(random, 5e6), isTest: true });
      shop.run("placeOrder", { resellerAccount: Number(twin!.account), keyId, service: delivered, link: "x", quantity: 20 });
    },
    () => shop.user(`user${below(random, 1e6)}`, "3", "alice"),
    () => {
      const { id: keyId } = shop.key("alice", "order");
      const [order] = shop.query<{ id: string; account: number; status: string }>(
        "SELECT orders.id AS id, account, status FROM orders JOIN users ON account = reseller_account WHERE username = 'alice' AND placement = 'manual' AND status IN ('COMPLETED', 'PROCESSING') ORDER BY orders.id LIMIT 1",
      );
      if (!order) return;
      const kind = order.status === "COMPLETED" ? "refill" : "cancel";
      const request = { resellerAccount: Number(order.account), keyId, kind, id: order.id } as const;
      return shop.run("makeRequestOnce", { request, claim: { key: `r${below(random, 1e9)}`, requestHash: "0".repeat(64) } });
    },
    () => {
      const [queued] = shop.query<{ orderId: number }>("SELECT order_id AS \"orderId\" FROM orders WHERE placement = 'queued'");
      if (queued) shop.run("startAttempt", { orderId: queued.orderId, providerId: 1, server: "s", placeRetryMs: 1e9 });
    },
    () => {
      const [key] = shop.query<{ id: string; account: number }>(
        "SELECT keys.id AS id, account FROM keys JOIN users ON account = reseller_account WHERE username = 'alice'",
      );
      const order = { resellerAccount: Number(key!.account), keyId: key!.id, service: delivered, link: "x", quantity: 20, reference: `r${below(random, 1e9)}` };
      return shop.run("placeOrderOnce", { order, claim: { key: `k${below(random, 1e9)}`, requestHash: "0".repeat(64) } } as never);
    },
    () => {
      const [key] = shop.query<{ id: string }>("SELECT id FROM keys WHERE replaced_by IS NULL AND active = 1");
      const text = String(below(random, 1e9));
      const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex");
      return shop.run("rotateKey", { id: key!.id, hash, start: "rk_x", graceMilliseconds: 1000 });
    },
    () => {
      const [due] = shop.run("takeDueWebhookDeliveries", { server: "s", limit: 2, perEndpoint: 2 });
      const reply = { httpStatus: 500, error: "status", response: "ümlaut \u{1f600}", retryAfterSeconds: null };
      const attempts = due ? [{ ...due, at: Date.now(), durationMs: 1, ...reply }] : [];
      shop.run("recordWebhookAttempts", { attempts, jitter: 0 });
    },
  ]; // prettier-ignore
  const entry = {
    service: "7",
    name: "Seven",
    category: "c",
    type: "Default",
    rate: "1.5",
    min: 1,
    max: 9,
    dripfeed: false,
    cancel: false,
    refill: false,
  };
  const plan = shop.read((reader) =>
    planCatalogue(reader, requireProvider(reader, "acme"), [entry], { markup: "0" }),
  );
  shop.run("syncCatalogue", { name: "acme", upstream: [entry], markup: "0", plan }); // prettier-ignore
  for (let step = 0; step < 120; step++) attempt(steps[below(random, steps.length)]!);
  chargeOrder(shop, delivered);
  const failed = shop.order(10);
  shop.run("transitionOrder", { id: String(failed), to: "FAILED", note: null, actor: OPERATOR });
  const [order] = shop.query("SELECT charge_micros FROM orders WHERE order_id = ?", failed);
  const again = {
    price: "then",
    chargeMicros: Number(order!["charge_micros"]),
    link: null,
    note: null,
    provider: null,
    providerService: null,
  } as const;
  shop.run("resendOrder", { id: String(failed), ...again, actor: OPERATOR });
}

describe("everything moves and comes back as it was:", () => {
  test.each(runs([1], [1, 2, 3]))("market %i", async (seed) => {
    const shop = openShop({ database: freshSqliteDatabase() });
    randomMarket(shop, randomFrom(seed));
    for (const { name } of TABLES) {
      const rows = shop.query(`SELECT 1 FROM ${name}`).length;
      if (!MAYBE_EMPTY.has(name)) expect([name, rows]).not.toEqual([name, 0]);
    }
    shop.run("countDailyTotals", { limit: 1000 });
    const before = dump(shop);
    const report = await readReport(shop.store, "reseller", { from: null, to: null });
    const there = freshPostgresDatabase();
    const { code, stderr, json } = await moved(shop, there);
    expect([code, stderr]).toEqual([0, ""]);
    const [{ orders, highest }] = shop.query<{ orders: number; highest: number }>("SELECT count(*) AS orders, max(order_id) AS highest FROM orders") as [{ orders: number; highest: number }]; // prettier-ignore
    expect(json).toMatchObject({ ok: true, orders, next: { orderId: highest + 1 } });
    expect(dump(shop)).toBe(before);
    const back = freshSqliteDatabase();
    expect(await readReport(there.store, "reseller", { from: null, to: null })).toEqual(report);
    expect((await moved(there, back)).code).toBe(0);
    expect(dump(back)).toBe(before);
    expect(await readReport(back.store, "reseller", { from: null, to: null })).toEqual(report);
    for (const database of [there, back]) database.close();
  });
});

describe("no number is given again:", () => {
  test("the floors of a restore become sequences, and those floors again", async () => {
    const shop = openShop({ database: freshSqliteDatabase() });
    shop.order(10);
    const floors = {
      orders: 500,
      transfers: 600,
      audit: 700,
      services: 800,
      order_requests: 900,
      service_changes: 950,
    };
    shop.run("carryOver", { floors, endedKeys: [], actor: OPERATOR });
    const there = freshPostgresDatabase();
    const { json } = await moved(shop, there);
    expect(json.next).toEqual({ orderId: 501, transaction: 601, audit: 701, service: 801 });
    const back = freshSqliteDatabase();
    expect((await moved(there, back)).json.next).toEqual(json.next);
    for (const database of [there, back]) {
      database.user("zoe", "1");
      const [{ highest }] = database.query<{ highest: number }>(
        "SELECT max(seq) AS highest FROM transfers",
      ) as [{ highest: number }];
      expect(Number(highest)).toBe(601);
      database.close();
    }
  });
});

test("invoices go on without a gap after a move and the way back, and what was due is invoiced once", async () => {
  const shop = openShop({ database: freshSqliteDatabase() });
  const changes = { mode: "credit", sellerName: "s", sellerAddress: "a", prefix: "A-" } as const;
  shop.run("setInvoicing", { changes });
  const credit = (database: TestDatabase) =>
    database.run("creditUser", { username: "bob", amountMicros: 5, note: null });
  credit(shop);
  credit(shop);
  shop.run("issueInvoices", { limit: 1 });
  const there = freshPostgresDatabase();
  const back = freshSqliteDatabase();
  for (const [from, to] of [
    [shop, there],
    [there, back],
  ] as const) {
    expect((await moved(from, to)).code).toBe(0);
    credit(to);
    expect(to.run("issueInvoices", { limit: 50 })).toBe(from === shop ? 2 : 1);
  }
  const found = back.query("SELECT prefix, number FROM invoices ORDER BY invoice_id");
  expect(found.map(({ prefix, number }) => `${String(prefix)}${Number(number)}`)).toEqual([
    "A-1",
    "A-2",
    "A-3",
    "A-4",
  ]);
  expect(await verifyStore(back)).toEqual([]);
  for (const database of [there, back]) database.close();
});

describe("gaps at the end of numbers, which PostgreSQL leaves after rollbacks,", () => {
  test.each(runs([1], [1, 2]))(
    "keep no database from going back and forth: seed %i",
    async (seed) => {
      const random = randomFrom(seed);
      const shop = openShop({ database: freshSqliteDatabase() });
      randomMarket(shop, random);
      let here: TestDatabase = shop;
      for (let round = 0; round < 3; round += 1) {
        const there = freshPostgresDatabase();
        expect((await moved(here, there)).stderr).toBe("");
        const numbered = TABLES.filter(({ numberField }) => numberField !== null);
        for (const { name } of numbered) {
          for (let skip = below(random, 4); skip > 0; skip -= 1)
            there.query(`SELECT nextval('${name}_number')`);
        }
        const given = Object.fromEntries(
          NUMBERED_TABLES.map((name) => {
            const [row] = there.query<{ given: number }>(
              `SELECT (CASE WHEN is_called THEN last_value ELSE last_value - 1 END)::int AS given FROM ${name}_number`,
            );
            return [name, row!.given];
          }),
        );
        const before = dump(here);
        const back = freshSqliteDatabase();
        const { stderr, json } = await moved(there, back);
        expect([stderr, json?.ok]).toEqual(["", true]);
        expect(dump(back)).toBe(before);
        expect((await reseller("verify", "--data", back.folder)).code).toBe(0);
        // Numbers that callers know go on above all that were given there.
        back.run("creditUser", {
          username: "alice",
          amountMicros: 1e9,
          note: null,
          actor: OPERATOR,
        });
        const [last] = back.query<{ seq: number }>("SELECT max(seq) AS seq FROM transfers");
        expect(last!.seq).toBe(given["transfers"]! + 1);
        expect(json.next).toEqual({
          orderId: given["orders"]! + 1,
          transaction: given["transfers"]! + 1,
          audit: given["audit"]! + 1,
          service: given["services"]! + 1,
        });
        there.close();
        here = back;
      }
    },
  );
});

describe("is refused, and changes nothing, where", () => {
  test("the target holds anything", async () => {
    const shop = openShop({ database: freshSqliteDatabase() });
    const other = freshPostgresDatabase();
    other.user("somebody");
    const before = dump(other);
    const { code, stderr } = await move(placeOf(shop), placeOf(other));
    expect([code, stderr]).toEqual([1, expect.stringContaining("is not empty (accounts: 5 rows)")]);
    expect(dump(other)).toBe(before);
    const empty = freshSqliteDatabase();
    expect((await move(placeOf(other), placeOf(shop))).stderr).toContain("is not empty");
    expect((await move(placeOf(other), placeOf(empty))).code).toBe(0);
    other.close();
  });

  test("a server has the data directory", async () => {
    const shop = openShop({ database: freshSqliteDatabase() });
    const empty = freshPostgresDatabase();
    const release = lockDataDirectory(shop.folder);
    const { code, stderr } = await move(placeOf(shop), placeOf(empty));
    release();
    expect([code, stderr]).toEqual([1, expect.stringContaining("another server uses")]);
    expect(empty.query("SELECT 1 FROM users")).toEqual([]);
    empty.close();
  });

  test("a server holds a lease on the database, as source or as target", async () => {
    const served = openShop({ database: freshPostgresDatabase() });
    const lease = { id: "b".repeat(24), name: "left", ended: [] };
    served.execute("renewLease", lease, Date.now());
    const folder = freshFolder();
    const { code, stderr } = await move(placeOf(served), folder);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("is in use by the server left: stop it first"),
    ]);
    expect(existsSync(`${folder}/reseller.db`)).toBe(false);
    const empty = freshPostgresDatabase();
    empty.execute("renewLease", lease, Date.now());
    const shop = openShop({ database: freshSqliteDatabase() });
    expect((await move(placeOf(shop), placeOf(empty))).stderr).toContain(
      "is in use by the server left",
    );
    // A minute later it counts as ended.
    served.execute("renewLease", lease, Date.now() - 60_000);
    expect((await move(placeOf(served), folder)).stderr).toBe("");
    for (const database of [served, empty]) database.close();
  });

  test("a command writes to the source", async () => {
    const [from, to] = [freshPostgresDatabase(), freshSqliteDatabase()];
    await using writer = await holding(from, "ROW EXCLUSIVE");
    expect(await moved(from, to)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is in use: stop all programs that write to it"),
    });
    expect(writer.isHeld).toBe(true);
    from.close();
  });

  test("the source does not add up", async () => {
    const shop = openShop({ database: freshSqliteDatabase() });
    shop.connection.sqlite.run("UPDATE users SET balance_micros = 7 WHERE username = 'kid'");
    const empty = freshPostgresDatabase();
    const { code, stderr } = await move(placeOf(shop), placeOf(empty));
    expect([code, stderr]).toEqual([1, expect.stringContaining("does not add up")]);
    expect(empty.query("SELECT 1 FROM users")).toEqual([]);
    // On purpose it is moved as it is, and says so.
    const accepted = await move(placeOf(shop), placeOf(empty), "--unverified", "--json");
    expect(accepted).toMatchObject({ code: 0, json: { ok: false } });
    const [kid] = empty.query<{ micros: number }>(
      "SELECT balance_micros AS micros FROM users WHERE username = 'kid'",
    );
    expect(Number(kid!.micros)).toBe(7);
    empty.close();
  });

  test("two places of one kind, or an unknown place, are wrong usage", async () => {
    const url = "postgres://me:s3cret@127.0.0.1:1/shop";
    expect((await move("a", "b")).code).toBe(2);
    expect((await move(url, url)).code).toBe(2);
    expect((await move("a", "postgres://me:s3cret@")).code).toBe(2);
    expect(await move(freshFolder(), url)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("no database at"),
    });
    const unreachable = await move(freshSqliteDatabase().folder, url);
    expect([unreachable.code, unreachable.stderr]).toEqual([
      1,
      expect.stringContaining("cannot be reached"),
    ]);
    expect(unreachable.stderr).not.toContain("s3cret");
  });
});

test("what autovacuum has locked is waited for", async () => {
  const [from, to] = [freshPostgresDatabase(), freshSqliteDatabase()];
  await using vacuum = await holding(from, "SHARE UPDATE EXCLUSIVE");
  const moving = moved(from, to);
  await vacuum.endOnceWaitedFor();
  expect(await moving).toMatchObject({ code: 0 });
  from.close();
});

/** A session that has locked a table so. */
async function holding(database: TestDatabase, mode: string) {
  const sql = new SQL(database.location.database!, { max: 1 });
  const session = await sql.reserve();
  await session.unsafe(`BEGIN; LOCK TABLE orders IN ${mode} MODE`);
  let isHeld = true;
  const end = async () => {
    if (isHeld) await session.unsafe("ROLLBACK");
    isHeld = false;
  };
  return {
    get isHeld() {
      return isHeld;
    },
    async endOnceWaitedFor() {
      const waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass";
      while ((await session.unsafe(waiting)).length === 0) await Bun.sleep(10);
      await end();
    },
    async [Symbol.asyncDispose]() {
      await end();
      await session.release();
      await sql.close();
    },
  };
}

test("no table without rows is analyzed: plans that assume an empty one would be kept while it grows", async () => {
  const shop = openShop({ database: freshSqliteDatabase() });
  shop.order(10);
  const there = freshPostgresDatabase();
  await moved(shop, there);
  const analyzed = there.query<{ name: string; rows: number }>(
    "SELECT relname AS name, reltuples::float8 AS rows FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples >= 0",
  );
  const rowsOf = Object.fromEntries(analyzed.map(({ name, rows }) => [name, Number(rows)]));
  expect(rowsOf).toMatchObject({ orders: 1 });
  expect(Object.values(rowsOf)).not.toContain(0);
  there.close();
});

test("an omitted source or target is --database, from its variable or a file of its own", async () => {
  const source = freshSqliteDatabase();
  const target = freshPostgresDatabase();
  const secret = join(freshFolder(), "address");
  writeFileSync(secret, `${target.location.database!}\n`, { mode: 0o600 });
  process.env["RESELLER_DATABASE_FILE"] = secret;
  try {
    expect((await reseller("move", "--from", source.folder)).stderr).toBe("");
    const back = freshFolder();
    expect((await reseller("move", "--to", back, "--json")).json).toMatchObject({ ok: true });
  } finally {
    delete process.env["RESELLER_DATABASE_FILE"];
  }
  expect(target.query("SELECT count(*)::int AS n FROM accounts")).toEqual([{ n: 4 }]);
  expect((await reseller("move", "--from", source.folder)).code).toBe(2);
  expect((await reseller("move")).code).toBe(2);
  target.close();
});

/** By every command that opens it. */
async function expectRefused(...place: string[]): Promise<void> {
  for (const command of ["admin user list", "verify", "doctor", "panel list"]) {
    const { code, stdout, stderr } = await reseller(...command.split(" "), ...place);
    expect([command, code]).toEqual([command, 1]);
    expect(stdout + stderr).toContain("is the target of an unfinished move: repeat the move");
  }
}

test("a move that is killed leaves a target that is refused and the source as it was; the next one succeeds", async () => {
  const database = freshSqliteDatabase();
  fillInBulk(database, 5000);
  const before = dump(database);
  const target = freshPostgresDatabase();
  const administrator = new SQL(target.location.database!, { max: 1 });
  const program = [process.execPath, "src/main.ts", "move"];
  for (const [from, to] of [[database.folder, target.location.database!]] as const) {
    const child = Bun.spawn([...program, "--from", from, "--to", to], { stderr: "ignore" });
    // It has written something by the time it has a transaction id, once it has marked the target.
    const writing = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'reseller move' AND backend_xid IS NOT NULL AND to_regclass('unfinished_move') IS NOT NULL"; // prettier-ignore
    while ((await administrator.unsafe(writing)).length === 0) expect(child.exitCode).toBe(null);
    child.kill("SIGKILL");
    expect(await child.exited).not.toBe(0);
  }
  while ((await administrator.unsafe("SELECT 1 FROM pg_stat_activity WHERE application_name = 'reseller move'")).length > 0); // prettier-ignore
  await administrator.close();
  expect(target.query("SELECT 1 FROM users")).toEqual([]);
  await expectRefused("--database", target.location.database!);
  expect(dump(database)).toBe(before);
  expect((await moved(database, target)).json).toMatchObject({ ok: true, orders: 5000 });
  target.close();
});

test("a move to a data directory that is killed leaves a database that is refused; the next one succeeds", async () => {
  const filled = freshSqliteDatabase();
  fillInBulk(filled, 5000);
  const source = freshPostgresDatabase();
  expect((await moved(filled, source)).code).toBe(0);
  const folder = freshFolder();
  const child = Bun.spawn(
    [process.execPath, "src/main.ts", "move", "--from", source.location.database!, "--to", folder],
    { stderr: "ignore" },
  );
  const administrator = new SQL(source.location.database!, { max: 1 });
  // By then users were written, and all is still to be verified.
  const reading = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'reseller move' AND query LIKE '%FROM orders WHERE (order_id) >%'"; // prettier-ignore
  while ((await administrator.unsafe(reading)).length === 0) expect(child.exitCode).toBe(null);
  child.kill("SIGKILL");
  expect(await child.exited).not.toBe(0);
  await administrator.close();
  await expectRefused("--data", folder);
  expect(() => claimDataDirectory(folder, 1)).toThrow("an unfinished move");
  const again = await move(source.location.database!, folder, "--json");
  expect([again.stderr, again.json?.orders]).toEqual(["", 5000]);
  expect(readdirSync(folder).filter((name) => name.includes("migration"))).toEqual([]);
  source.close();
});

// `admin order late`: a report after an order's end is accepted with its refund, or dismissed. docs/specification/delivery.md#polling-late.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Shop, openShop } from "../../support/worlds/shop.ts";
import { seedProvider, orderOf } from "../../support/seeds/shop-orders.ts";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

/** 2 USD for 1000. */
const CHARGE = 2_000_000;

/** Each a millisecond after the one before: which is the newest goes by its time. */
let time = Date.now();

function report(shop: Shop, id: string, word: string, remains: number | null = null) {
  const entry = { word, remains, startCount: null, text: word };
  const reports = [{ orderId: Number(id), report: entry }];
  const polled = { providerId: 1, reports, pollIntervalMs: 1000, jitter: 0 };
  return shop.execute("recordReports", polled, (time += 1));
}

/** An order that is COMPLETED by its provider. */
function completedOrder(shop: Shop): string {
  const id = orderOf(shop, "placed");
  report(shop, id, "Completed");
  return id;
}

const late = (shop: Shop, ...argv: string[]) =>
  shop.cli("admin", "order", "late", ...argv, "--json");
const listed = async (shop: Shop) =>
  (await shop.cli("admin", "order", "list", "--late", "--json")).json as unknown[];
const attention = async (shop: Shop) => (await shop.cli("admin", "provider", "list")).stdout;

test("accepting a late PARTIAL makes the order PARTIAL, refunds what remains and leaves no open report", async () => {
  const shop = seedProvider(openShop(), upstream);
  const id = completedOrder(shop);
  const before = shop.balance("alice");
  expect(report(shop, id, "Partial", 250)).toMatchObject([{ kind: "late" }]);
  expect(await listed(shop)).toMatchObject([
    { status: "COMPLETED", reportedLate: { status: "PARTIAL", remains: 250 } },
  ]);
  const { stdout } = await shop.cli("admin", "order", "list", "--late");
  expect(stdout).toMatch(/ STATUS +REPORTED LATE /);
  expect(stdout).toMatch(/ COMPLETED +PARTIAL, 250 remain /);
  expect(await attention(shop)).toContain("changed at acme after its end");
  const accepted = await late(shop, id, "--accept", "--public-note", "250 were not delivered");
  expect(accepted.json).toMatchObject({ status: "PARTIAL", remains: 250, refunded: 0.5 });
  expect(shop.balance("alice") - before).toBe(CHARGE / 4);
  expect(await listed(shop)).toEqual([]);
  const [all] = (await shop.cli("admin", "order", "list", "--json")).json as object[];
  expect(all).toMatchObject({ orderId: Number(id), reportedLate: null });
  expect(await attention(shop)).not.toContain("changed at acme after its end");
  const transactions = [
    "admin",
    "transaction",
    "list",
    "--user",
    "alice",
    "--limit",
    "1",
    "--json",
  ];
  expect((await shop.cli(...transactions)).json).toMatchObject([
    { kind: "partial_refund", amount: 0.5, publicNote: "250 were not delivered" },
  ]);
  expect((await shop.cli("verify")).code).toBe(0);
  // What is left of the charge can still be refunded, and no more.
  await shop.cli("admin", "order", "refund", id);
  expect(shop.balance("alice") - before).toBe(CHARGE);
});

test.each(["Canceled", "Failed"])(
  "accepting a late %s makes the order REFUNDED and refunds the rest of the charge",
  async (word) => {
    const shop = seedProvider(openShop(), upstream);
    const id = completedOrder(shop);
    const before = shop.balance("alice");
    report(shop, id, word);
    expect((await late(shop, id, "--accept")).json).toMatchObject({
      status: "REFUNDED",
      refunded: 2,
    });
    expect(shop.balance("alice") - before).toBe(CHARGE);
    expect((await shop.cli("verify")).code).toBe(0);
  },
);

test("dismissing leaves the order as it is, and the same report is not asked about again", async () => {
  const shop = seedProvider(openShop(), upstream);
  const id = completedOrder(shop);
  report(shop, id, "Partial", 250);
  const before = shop.balance("alice");
  const dismissed = await late(shop, id, "--dismiss", "--note", "agreed by mail");
  expect(dismissed.json).toMatchObject({ status: "COMPLETED", refunded: 0 });
  expect(await listed(shop)).toEqual([]);
  expect(report(shop, id, "Partial", 250)).toEqual([]);
  expect(await listed(shop)).toEqual([]);
  // Another number is another report.
  expect(report(shop, id, "Partial", 300)).toMatchObject([{ kind: "late" }]);
  expect(await listed(shop)).toHaveLength(1);
  expect(shop.balance("alice")).toBe(before);
  const { json } = await shop.cli("admin", "order", "show", id, "--json");
  const { timeline } = json as { timeline: { what: string; by: string | null }[] };
  expect(timeline.find(({ what }) => what === "late report dismissed")?.by).toBeString();
  const audited = await shop.cli("admin", "audit", "list", "--action", "order.late", "--json");
  expect(audited.json).toMatchObject([
    { subject: id, after: { reported: "PARTIAL", decision: "dismissed", note: "agreed by mail" } },
  ]);
});

test("only the newest report counts; earlier ones are decided with it", async () => {
  const shop = seedProvider(openShop(), upstream);
  const id = completedOrder(shop);
  report(shop, id, "In progress");
  report(shop, id, "Partial", 100);
  report(shop, id, "Partial", 400);
  expect((await late(shop, id, "--accept")).json).toMatchObject({ remains: 400, refunded: 0.8 });
  expect(await listed(shop)).toEqual([]);
  expect(shop.query("SELECT reported, decision FROM late_reports ORDER BY reported")).toEqual([
    { reported: "PARTIAL", decision: "accepted" },
    { reported: "PROCESSING", decision: "dismissed" },
  ]);
});

describe("is refused and changes nothing", () => {
  test.each([
    ["a report that would take money back or open the order again", "In progress", ["--accept"], 1],
    ["neither --accept nor --dismiss", "Canceled", [], 2],
    ["both", "Canceled", ["--accept", "--dismiss"], 2],
    ["a public note with --dismiss", "Canceled", ["--dismiss", "--public-note", "x"], 2],
    ["above the limit without --yes", "Canceled", ["--accept", "--confirm-above", "1"], 2],
  ] as const)("%s", async (_, word, argv, code) => {
    const shop = seedProvider(openShop(), upstream);
    const id = completedOrder(shop);
    report(shop, id, word);
    const before = shop.dump();
    expect((await late(shop, id, ...argv)).code).toBe(code);
    expect(shop.dump()).toBe(before);
  });

  test("an order without a late report, and one that was decided", async () => {
    const shop = seedProvider(openShop(), upstream);
    const id = completedOrder(shop);
    expect((await late(shop, id, "--accept")).stderr).toContain("no late report waits");
    report(shop, id, "Canceled");
    await late(shop, id, "--dismiss");
    const before = shop.dump();
    for (const flag of ["--accept", "--dismiss"]) {
      expect((await late(shop, id, flag)).code).toBe(1);
    }
    expect(shop.dump()).toBe(before);
  });
});

test("--remains gives the remaining quantity for a PARTIAL reported with an impossible number", async () => {
  const shop = seedProvider(openShop(), upstream);
  const id = completedOrder(shop);
  shop.query(
    "INSERT INTO late_reports (order_id, reported, status, created_at) VALUES (?, 'PARTIAL', 'COMPLETED', 1)",
    id,
  );
  expect((await late(shop, id, "--accept")).stderr).toContain("give --remains");
  expect((await late(shop, id, "--accept", "--remains", "1001")).code).toBe(1);
  expect((await late(shop, id, "--accept", "--remains", "500")).json).toMatchObject({
    refunded: 1,
  });
});

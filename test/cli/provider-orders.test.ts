// The operator's commands for orders of providers: settle, cancel.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openProviderShop, orderOf } from "../support/provider-shop.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => openProviderShop(upstream);

describe("settle", () => {
  test("--placed polls the order from then on, --not-placed refunds it", async () => {
    const shop = shopOf();
    const [found, lost] = [orderOf(shop, "unknown"), orderOf(shop, "unknown")];
    const { json: unknown } = await shop.cli("admin", "order", "list", "--unknown", "--json");
    expect(unknown.map(({ orderId }: { orderId: number }) => String(orderId))).toEqual([
      lost,
      found,
    ]);
    const { json: listed } = await shop.cli("admin", "provider", "list", "--json");
    expect(listed[0]).toMatchObject({ open: 2, unknown: 2 });
    const placed = await shop.cli(
      "admin",
      "order",
      "settle",
      found,
      "--placed",
      "23501",
      "--no-check",
      "--json",
    );
    expect(placed.json).toMatchObject({
      status: "PROCESSING",
      provider: "acme",
      providerOrder: "23501",
      placement: "placed",
      refunded: 0,
    });
    const before = shop.balance("alice");
    const refunded = await shop.cli("admin", "order", "settle", lost, "--not-placed", "--json");
    expect(refunded.json).toMatchObject({ status: "FAILED", placement: "refused", refunded: 2 });
    expect(shop.balance("alice") - before).toBe(2_000_000);
    const { json: shown } = await shop.cli("admin", "order", "show", lost, "--json");
    expect(shown.timeline).toMatchObject([
      { what: "sending" },
      { what: "unknown", note: "no answer within 30 s" },
      { what: "status", from: "PENDING", to: "FAILED" },
    ]);
    expect(shown.timeline[2].by).toBeString();
  });

  test("refuses a number that another order of the provider has, and orders that are not unknown", async () => {
    const shop = shopOf();
    orderOf(shop, "placed", "501");
    const unknown = orderOf(shop, "unknown");
    const queued = orderOf(shop);
    const sending = orderOf(shop, "sending");
    const before = shop.dump();
    const taken = await shop.cli(
      "admin",
      "order",
      "settle",
      unknown,
      "--placed",
      "501",
      "--no-check",
    );
    expect(taken.code).toBe(1);
    for (const id of [queued, sending, "1"]) {
      expect((await shop.cli("admin", "order", "settle", id, "--not-placed")).code).toBe(1);
    }
    for (const argv of [
      [],
      ["--placed", "0"],
      ["--placed", "abc"],
      ["--placed", "5", "--not-placed"],
    ]) {
      expect((await shop.cli("admin", "order", "settle", unknown, ...argv)).code).toBe(2);
    }
    expect(shop.dump()).toBe(before);
  });
});

test("an operator cancels a PENDING order that is queued or unknown, never one being sent, and fails none", async () => {
  const shop = shopOf();
  const balance = shop.balance("alice");
  for (const [outcome, placement, code] of [
    [undefined, "queued", 0],
    ["unknown", "unknown", 0],
    ["sending", "sending", 1],
  ] as const) {
    const id = orderOf(shop, outcome);
    expect((await shop.cli("admin", "order", "fail", id)).code).toBe(1);
    expect((await shop.cli("admin", "order", "cancel", id)).code).toBe(code);
    const { json: shown } = await shop.cli("admin", "order", "show", id, "--json");
    expect(shown).toMatchObject({ status: code === 0 ? "CANCELLED" : "PENDING", placement });
  }
  expect(balance - shop.balance("alice")).toBe(2_000_000);
  expect((await shop.cli("admin", "order", "list", "--unknown", "--json")).json).toEqual([]);
});

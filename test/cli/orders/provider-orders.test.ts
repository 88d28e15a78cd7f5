// The operator's commands for orders of providers: settle, cancel.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";
import { seedProvider, orderOf } from "../../support/seeds/shop-orders.ts";
import { startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let upstream: Upstream;
beforeAll(async () => (upstream = await startUpstream()));
afterAll(() => upstream.stop());

const shopOf = () => seedProvider(openShop(), upstream);

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

  test("an unknown order is not revenue in a report until it is settled, and the report says so", async () => {
    const shop = shopOf();
    const [found, lost] = [orderOf(shop, "unknown"), orderOf(shop, "unknown")];
    const report = async () => {
      const { stderr } = await shop.cli("report", "--by", "provider");
      const { json } = await shop.cli("report", "--by", "provider", "--json");
      const [{ orders, revenue, refunds, margin }] = json;
      return [
        orders,
        revenue,
        refunds,
        margin,
        stderr.match(/2 orders of this period \(4 USD\)|1 order of this period \(2 USD\)/)?.[0],
      ];
    };
    expect(await report()).toEqual([2, 0, 0, 0, "2 orders of this period (4 USD)"]);
    await shop.cli("admin", "order", "settle", found, "--placed", "9", "--no-check");
    expect(await report()).toEqual([2, 2, 0, 2, "1 order of this period (2 USD)"]);
    await shop.cli("admin", "order", "settle", lost, "--not-placed");
    expect(await report()).toEqual([2, 4, 2, 2, undefined]);
  });

  test("--not-placed of several orders settles each by itself, says what became of each, and exits 1 if one was not settled", async () => {
    const shop = shopOf();
    const [first, queued, second] = [
      orderOf(shop, "unknown"),
      orderOf(shop),
      orderOf(shop, "unknown"),
    ];
    const before = shop.balance("alice");
    const settle = (...argv: string[]) => shop.cli("admin", "order", "settle", ...argv);
    const untouched = shop.dump();
    const several = await settle(first, second, "--placed", "77", "--no-check");
    expect(several).toMatchObject({ code: 2, stderr: expect.stringContaining("for one order") });
    const limited = await settle(first, second, "--not-placed", "--confirm-above", "3.99");
    expect(limited).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("refund 4 USD of 2 orders"),
    });
    expect(shop.dump()).toBe(untouched);
    const { code, json } = await settle(`${first},${queued}`, second, "--not-placed", "--json");
    expect(code).toBe(1);
    expect(json).toMatchObject([
      { id: first, done: true, order: { status: "FAILED", placement: "refused", refunded: 2 } },
      { id: queued, done: false, code: "order_not_unknown" },
      { id: second, done: true, order: { status: "FAILED" } },
    ]);
    expect(shop.balance("alice") - before).toBe(4_000_000);
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

describe("settle --placed asks the provider first", () => {
  test("an unknown number is refused and changes nothing; a known one is accepted", async () => {
    const shop = shopOf();
    const id = orderOf(shop, "unknown");
    const settle = (...argv: string[]) => shop.cli("admin", "order", "settle", id, ...argv);
    const before = shop.dump();
    const refused = await settle("--placed", "999");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("provider acme does not recognize 999");
    expect(refused.stderr).toContain("--no-check");
    expect(shop.dump()).toBe(before);
    upstream.book.set("777", { form: {}, status: { status: "In progress", remains: "5" } });
    const taken = await settle("--placed", "777");
    expect(taken).toMatchObject({ code: 0, stderr: "acme has 777: In progress\n" });
    expect((await shop.cli("verify")).code).toBe(0);
  });

  test("without an answer nothing changes, and --no-check accepts the number unchecked", async () => {
    const shop = shopOf();
    const id = orderOf(shop, "unknown");
    upstream.always("status", { body: "<html>", headers: {} });
    const before = shop.dump();
    const refused = await shop.cli("admin", "order", "settle", id, "--placed", "778");
    upstream.always("status", null);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("could not be asked for 778");
    expect(shop.dump()).toBe(before);
    expect(
      (await shop.cli("admin", "order", "settle", id, "--placed", "778", "--no-check")).code,
    ).toBe(0);
  });
});

test("an error for the call itself is not an answer about the number", async () => {
  const shop = shopOf();
  const id = orderOf(shop, "unknown");
  upstream.next("status", { body: '{"error":"Invalid API key"}' });
  const { code, stderr } = await shop.cli("admin", "order", "settle", id, "--placed", "779");
  expect(code).toBe(1);
  expect(stderr).toContain("could not be asked for 779: it says");
  expect(stderr).not.toContain("does not know");
});

describe("a number that was settled wrongly", () => {
  const report = (
    shop: ReturnType<typeof shopOf>,
    id: string,
    entry: object,
    providerOrder?: string,
  ) =>
    shop.run("recordReports", {
      providerId: 1,
      reports: [
        {
          orderId: Number(id),
          ...(providerOrder === undefined ? {} : { providerOrder }),
          report: { word: null, startCount: null, remains: null, text: "", ...entry },
        },
      ],
      pollIntervalMs: 1000,
      jitter: 0,
    });
  const settled = async (shop: ReturnType<typeof shopOf>, number: string) => {
    const id = orderOf(shop, "unknown");
    await shop.cli("admin", "order", "settle", id, "--placed", number, "--no-check");
    return id;
  };
  const NOT_KNOWN = { text: '{"error":"Incorrect order ID"}', isUnrecognized: true } as const;

  test("is named under ATTENTION and by doctor, and corrected while nothing was reported", async () => {
    const shop = shopOf();
    const id = await settled(shop, "999");
    report(shop, id, NOT_KNOWN);
    expect((await shop.cli("admin", "provider", "list")).stdout).toContain(
      `acme does not know the number of 1 order (999 of order ${id})`,
    );
    expect((await shop.cli("doctor")).stdout).toContain(
      "The provider does not know the number of 1 order",
    );
    const settle = ["admin", "order", "settle", id, "--placed", "1000", "--no-check", "--json"];
    const corrected = await shop.cli(...settle);
    expect(corrected.json).toMatchObject({ status: "PROCESSING", providerOrder: "1000" });
    expect((await shop.cli("admin", "provider", "list")).stdout).not.toContain("does not know");
    expect((await shop.cli("verify")).code).toBe(0);
    const audited = await shop.cli("admin", "audit", "list", "--action", "order.settle", "--json");
    expect(audited.json).toMatchObject([
      { subject: id, before: { providerOrder: "999" }, after: { providerOrder: "1000" } },
    ]);
  });

  test("a reply that is still about the former number changes nothing", async () => {
    const shop = shopOf();
    const id = await settled(shop, "999");
    await shop.cli("admin", "order", "settle", id, "--placed", "1000", "--no-check");
    report(shop, id, { word: "Completed" }, "999");
    const { json } = await shop.cli("admin", "order", "show", id, "--json");
    expect(json).toMatchObject({ status: "PROCESSING", providerOrder: "1000" });
    report(shop, id, { word: "Completed" }, "1000");
    const shown = await shop.cli("admin", "order", "show", id, "--json");
    expect(shown.json).toMatchObject({ status: "COMPLETED" });
  });

  test("cannot be corrected once the provider has reported, nor can one that the provider gave", async () => {
    const shop = shopOf();
    const id = await settled(shop, "999");
    report(shop, id, { word: "In progress" });
    const accepted = orderOf(shop, "placed", "501");
    const before = shop.dump();
    for (const each of [id, accepted]) {
      const { code } = await shop.cli(
        "admin",
        "order",
        "settle",
        each,
        "--placed",
        "3",
        "--no-check",
      );
      expect(code).toBe(1);
    }
    expect(shop.dump()).toBe(before);
  });

  test("is no longer named once the provider reports on it", async () => {
    const shop = shopOf();
    const id = await settled(shop, "999");
    report(shop, id, NOT_KNOWN);
    report(shop, id, { word: "Pending" });
    expect((await shop.cli("admin", "provider", "list")).stdout).not.toContain("does not know");
    expect((await shop.cli("doctor")).stdout).toContain(
      "providers recognize all their order numbers",
    );
  });

  test("an invalid key or a rate limit says nothing about the number", async () => {
    const shop = shopOf();
    const id = await settled(shop, "999");
    report(shop, id, { text: '{"error":"Invalid API key"}' });
    expect((await shop.cli("admin", "provider", "list")).stdout).not.toContain("does not know");
  });
});

test("an operator cancels what a provider delivers only once it has agreed, or with --no-ask", async () => {
  const shop = shopOf();
  const id = orderOf(shop, "placed", "98777");
  shop.run("updateService", { id: "likes", changes: { cancel: true } });
  const cancel = (...more: string[]) => shop.cli("admin", "order", "cancel", id, ...more);
  const cancels = () => upstream.received.filter(({ action }) => action === "cancel").length;
  const before = [cancels(), shop.dump()] as const;
  // The provider does not know that number.
  const refused = await cancel();
  expect([refused.code, shop.dump(), cancels()]).toEqual([1, before[1], before[0] + 1]);
  expect(refused.stderr).toContain(`order ${id}: acme delivers it as number 98777. acme is asked`);
  expect(refused.stderr).toContain("nothing was changed; use --no-ask to cancel it here anyway");
  upstream.book.set("98777", { form: {}, status: {} });
  const { json } = await cancel("--json", "--note", "by mail");
  expect(json).toMatchObject({ status: "CANCELLED", refunded: 2 });
  const shown = await shop.cli("admin", "order", "show", id, "--json");
  expect(shown.json.timeline.map(({ note }: { note: string | null }) => note)).toContain(
    "by mail; acme was asked to cancel it and agreed",
  );
  expect(cancels()).toBe(before[0] + 2);

  shop.run("grantService", { id: "likes", username: "alice", priceMicros: 0 });
  const free = orderOf(shop, "placed", "98779");
  shop.run("revokeService", { id: "likes", username: "alice" });
  upstream.book.set("98779", { form: {}, status: {} });
  const note = ["--public-note", "sorry"];
  // Without a refund the user would never see the note.
  const untold = await shop.cli("admin", "order", "cancel", free, ...note);
  expect([untold.code, cancels()]).toEqual([1, before[0] + 2]);

  const another = orderOf(shop, "placed", "98778");
  const unasked = await shop.cli("admin", "order", "cancel", another, "--no-ask");
  expect(unasked.code).toBe(0);
  expect(unasked.stderr).toContain("acme is not told, and may still deliver and charge it");
  expect(cancels()).toBe(before[0] + 2);
});

test("an operator cancels a PENDING order that is queued or unknown, never one being sent, and fails no order", async () => {
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

// Discounts, references, public notes, late reports and corrected numbers in the panel: the same operations, with their refusals.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { seedPanelMarket, type PanelMarket } from "../../support/seeds/panel-market.ts";
import { openPanel } from "../../support/worlds/panel.ts";
import { PROVIDER_KEY, startUpstream, type Upstream } from "../../support/peers/upstream.ts";

let market: PanelMarket;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream();
  market = seedPanelMarket(await openPanel());
  market.run("updateProvider", { name: "acme", changes: { url: upstream.url, key: PROVIDER_KEY } });
});
afterAll(async () => {
  await market.stop();
  await upstream.stop();
});

const credit = (fields: Record<string, string>) =>
  market.confirm("/users/alice/balance", { direction: "credit", amount: "5", ...fields });

function report(orderId: number, word: string, remains: number | null = null): void {
  const entry = { word, remains, startCount: null, text: word };
  const reports = [{ orderId, report: entry }];
  market.run("recordReports", { providerId: 1, reports, pollIntervalMs: 1000, jitter: 0 });
}

describe("an adjustment", () => {
  test("has an internal note and a note that the user sees", async () => {
    await credit({ note: "complained", "public-note": "sorry for the delay" });
    const { text } = await market.get("/users/alice/transactions");
    expect(text).toMatch(/data-label="Note"[^>]*><bdi class="typed short">complained</);
    expect(text).toMatch(
      /data-label="Note to the user"[^>]*><bdi class="typed short">sorry for the delay</,
    );
  });

  test("with a reference that was used is not made again, and the page says so", async () => {
    await credit({ reference: "inv-7" });
    const before = market.balance("alice");
    const rows = () => market.query("SELECT count(*) AS n FROM transfers")[0]!["n"];
    const transfers = rows();
    expect((await credit({ reference: "inv-7" })).status).toBe(303);
    expect([market.balance("alice"), rows()]).toEqual([before, transfers]);
    const other = await credit({ reference: "inv-7", amount: "6" });
    expect(other.status).toBe(422);
    expect(market.balance("alice")).toBe(before);
  });
});

describe("a discount", () => {
  test("is saved, shown and applied to what the reseller pays", async () => {
    const saved = await market.post("/users/bob/discount", { percent: "12.5" });
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/users/bob#prices"]);
    const { text } = await market.get("/users/bob");
    expect(text).toContain("12.5 %");
    const orderId = market.order({ user: "bob", quantity: 1000 });
    const [order] = market.query("SELECT charge_micros FROM orders WHERE order_id = ?", orderId);
    expect(order).toEqual({ charge_micros: 2_030_000 });
  });

  test.each(["101", "-1", "x", ""])("of %p is refused beside its field", async (percent) => {
    const before = market.fingerprint();
    const { status, text } = await market.post("/users/bob/discount", { percent });
    expect([status, text]).toEqual([422, expect.stringContaining("percent")]);
    expect(market.fingerprint()).toBe(before);
  });

  test("a child user has no form for one, and is refused one", async () => {
    expect((await market.get("/users/kid")).text).not.toContain("Discount in percent");
    const before = market.fingerprint();
    expect((await market.post("/users/kid/discount", { percent: "5" })).status).toBe(422);
    expect(market.fingerprint()).toBe(before);
  });
});

describe("the limits of a reseller", () => {
  const LABELS = {
    "rate-limit": "Requests of all its keys",
    "orders-per-minute": "Orders per minute",
    "spend-per-day": "Spend per day in USD",
    "spend-per-month": "Spend per month in USD",
    "open-orders": "Open orders",
  };
  const NONE = {
    "rate-limit": "",
    "orders-per-minute": "",
    "spend-per-day": "",
    "spend-per-month": "",
    "open-orders": "",
  };

  test("are saved and shown; an empty field is the default", async () => {
    const fields = { ...NONE, "rate-limit": "20/s", "spend-per-day": "12.5", "open-orders": "0" };
    const saved = await market.post("/users/bob/limits", fields);
    expect([saved.status, saved.headers.get("location")]).toEqual([303, "/users/bob#limits"]);
    const [row] = market.query("SELECT * FROM reseller_limits");
    expect(row).toMatchObject({
      rate_limit: "20/s",
      orders_per_minute: null,
      spend_per_day_micros: 12_500_000,
      spend_per_month_micros: null,
      open_orders: 0,
    });
    const { text } = await market.get("/users/bob");
    for (const shown of ["20/s", "12.5 USD", "none (default)"]) expect(text).toContain(shown);
    await market.post("/users/bob/limits", NONE);
    expect(market.query("SELECT * FROM reseller_limits")).toEqual([]);
  });

  test.each(Object.entries(LABELS))(
    "with a wrong %s are refused beside it",
    async (field, label) => {
      const before = market.fingerprint();
      const { status, text } = await market.post("/users/bob/limits", { ...NONE, [field]: "-1" });
      expect([status, text]).toEqual([422, expect.stringContaining(`${label} must be `)]);
      expect(market.fingerprint()).toBe(before);
    },
  );

  test("are not for a child user", async () => {
    expect((await market.get("/users/kid")).text).not.toContain("Save the limits");
    expect((await market.post("/users/kid/limits", NONE)).status).toBe(422);
  });
});

describe("a late report", () => {
  const completed = (number: string) => {
    const orderId = market.delivered({ placed: number });
    report(orderId, "Completed");
    return orderId;
  };

  test("of PARTIAL is accepted with the refund that its button says", async () => {
    const id = completed("9001");
    report(id, "Partial", 25);
    const { text } = await market.get(`/orders/${id}`);
    expect(text).toContain("Reported late: partial, 25 remain");
    expect(text).toContain("Accept, refund 0.025 USD");
    const before = market.balance("alice");
    const { asked, status } = await market.confirm(`/orders/${id}/late`, { decision: "accept" });
    expect(asked).toContain("+0.025 USD");
    expect(status).toBe(303);
    expect(market.status(id)).toBe("PARTIAL");
    expect(market.balance("alice") - before).toBe(25_000);
    expect((await market.get(`/orders/${id}`)).text).not.toContain("Reported late");
  });

  test("a late report that cannot be applied can only be dismissed", async () => {
    const id = completed("9002");
    report(id, "In progress");
    const { text } = await market.get(`/orders/${id}`);
    expect(text).not.toContain("Accept, refund");
    const refused = await market.post(`/orders/${id}/late`, { decision: "accept" });
    expect(refused.status).toBe(422);
    const listed = (await market.get("/orders?late=yes")).text;
    expect(listed).toContain(`href="/orders/${id}"`);
    expect(listed).toContain("Reported late");
    expect((await market.get("/orders")).text).not.toContain("Reported late");
    expect((await market.post(`/orders/${id}/late`, { decision: "dismiss" })).status).toBe(303);
    expect(market.status(id)).toBe("COMPLETED");
    expect((await market.get("/orders?late=yes")).text).not.toContain(`href="/orders/${id}"`);
  });
});

describe("a settlement", () => {
  const settle = (id: number, number: string, more: Record<string, string> = {}) =>
    market.post(`/orders/${id}/settle`, {
      settlement: "placed",
      "provider-order": number,
      ...more,
    });

  test("asks the provider, and refuses a number that it does not know beside its field", async () => {
    const id = market.delivered("unknown");
    const before = market.fingerprint();
    const refused = await settle(id, "4040");
    expect(refused.status).toBe(422);
    expect(refused.text).toContain("acme does not know it");
    expect(market.fingerprint()).toBe(before);
    upstream.book.set("4041", { form: {}, status: { status: "Pending" } });
    const taken = await settle(id, "4041");
    expect(taken.status).toBe(303);
    expect(market.status(id)).toBe("PROCESSING");
  });

  test("without that check is named on Today once the provider does not know the number, and can be corrected", async () => {
    const id = market.delivered("unknown");
    expect((await settle(id, "4050", { unchecked: "yes" })).status).toBe(303);
    const entry = { word: null, remains: null, startCount: null, text: "Incorrect order ID" };
    const reports = [{ orderId: id, report: { ...entry, isUnrecognized: true as const } }];
    market.run("recordReports", { providerId: 1, reports, pollIntervalMs: 1000, jitter: 0 });
    const today = await market.get("/");
    expect(today.text).toContain("acme does not know the number of 1 order");
    const [, href] = /does not know the number.*?href="([^"]+)"/s.exec(today.text)!;
    expect((await market.get(href!.replaceAll("&amp;", "&"))).text).toContain(
      `href="/orders/${id}"`,
    );
    expect((await market.get(`/orders/${id}`)).text).toContain("Correct its number");
    expect((await settle(id, "4051", { unchecked: "yes" })).status).toBe(303);
    expect((await market.get("/")).text).not.toContain("does not know the number");
  });
});

// The page Reports and its CSV.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

const DAY = 86_400_000;

let panel: TestPanel;
let today: string;

beforeAll(async () => {
  panel = await openPanel({ role: "support" });
  const { now } = panel.clock;
  today = new Date(now).toISOString().slice(0, 10);
  panel.user("@alice", "100");
  panel.service({ id: "likes", name: "<b>Likes</b>", price: "1", per: "1" });
  const { id: keyId } = panel.key("@alice", "full");
  const order = { resellerAccount: 3, keyId, service: "likes", link: "x", quantity: 10 };
  panel.execute("placeOrder", order, now - 40 * DAY);
  panel.execute("placeOrder", order, now - DAY);
  const { orderId } = panel.execute("placeOrder", { ...order, quantity: 20 }, now);
  const refund = { id: String(orderId), to: "PARTIAL", remains: 5, note: null } as const;
  panel.execute("transitionOrder", { ...refund, actor: { keyId: null, operator: "t" } }, now);
});
afterAll(() => panel.stop());

const cells = (html: string, label: string) =>
  [...html.matchAll(new RegExp(`data-label="${label}"[^>]*>(.*?)</td>`, "g"))].map(([, cell]) =>
    cell!.replace(/<[^>]*>/g, ""),
  );

test("a report shows the last seven days by day, with a total and a chart", async () => {
  const { text } = await panel.get("/reports");
  const yesterday = new Date(panel.clock.now - DAY).toISOString().slice(0, 10);
  expect(cells(text, "Day")).toEqual([yesterday, today, "Total"]);
  expect(cells(text, "Orders")).toEqual(["1", "1", "2"]);
  expect(cells(text, "Revenue USD")).toEqual(["10.00", "20.00", "30.00"]);
  expect(cells(text, "Refunds USD")).toEqual(["0.00", "5.00", "5.00"]);
  expect(cells(text, "Net USD")).toEqual(["10.00", "15.00", "25.00"]);
  expect(text).toContain("<svg");
});

test("a report of a period groups by service, reseller or provider, with a link to each", async () => {
  const get = async (by: string) => (await panel.get(`/reports?by=${by}&from=2000-01-01`)).text;
  const service = await get("service");
  expect(cells(service, "Service")).toEqual(["&lt;b>Likes&lt;/b>", "Total"]);
  expect(service).toContain('href="/services/likes"');
  expect(await get("reseller")).toContain('href="/users/%40alice"');
  expect(cells(await get("provider"), "Provider")).toEqual(["by hand", "Total"]);
  expect(cells(service, "Revenue USD")).toEqual(["40.00", "40.00"]);
});

test("errors are shown beside their field, and an empty period says so", async () => {
  expect((await panel.get("/reports?by=colour")).text).toContain("By must be one of");
  expect((await panel.get("/reports?from=2026-02-01&to=2026-01-01")).text).toContain(
    "From must be at or before to",
  );
  expect((await panel.get("/reports?to=2001-01-01&from=2001-01-01")).text).toContain(
    "No orders, no refunds and no costs",
  );
});

test("a CSV request with a wrong field gets the page that names it", async () => {
  for (const query of ["by=colour", "from=x", "from=2026-02-01&to=2026-01-01"]) {
    const { status, headers, text } = await panel.get(`/reports.csv?${query}`);
    expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toMatch(/ must be /);
  }
});

test("no cell of the CSV is a formula", async () => {
  const { text, headers } = await panel.get(`/reports.csv?by=reseller&from=${today}&to=${today}`);
  expect(text).toBe("key,orders,revenue,refunds,net,cost,margin\r\n'@alice,1,20,5,15,0,15\r\n");
  expect(headers.get("content-disposition")).toContain("report-by-reseller.csv");
});

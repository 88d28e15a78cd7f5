// The page of the money report and its CSV.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
let today: string;

beforeAll(async () => {
  panel = await openPanel({ role: "support" });
  today = new Date(panel.clock.now).toISOString().slice(0, 10);
  panel.user("alice", "100");
  panel.service({ id: "likes", price: "1", per: "1" });
  const { id: keyId } = panel.key("alice", "full");
  panel.run("recharge", { keyId, resellerAccount: 3, username: "alice", amountMicros: 5_000_001 });
  panel.run("placeOrder", { resellerAccount: 3, keyId, service: "likes", link: "x", quantity: 10 });
});
afterAll(() => panel.stop());

const cells = (html: string, label: string) =>
  [...html.matchAll(new RegExp(`data-label="${label}"[^>]*>(.*?)</td>`, "g"))].map(([, cell]) =>
    cell!.replace(/<[^>]*>/g, ""),
  );

test("it adds up from the balances before the period to those after it", async () => {
  const { text } = await panel.get("/reports/money");
  const lines = cells(text, "Line").map((line) => line.replace(/\w{24}/, "ID"));
  expect(lines).toEqual([
    "balances at the first moment",
    "credits: tester",
    "credits: key ID of alice",
    "charges",
    "balances at the last moment",
    "charges of unknown orders",
    "revenue: charges less unknown",
    "net: revenue less refunds",
  ]);
  expect(cells(text, "Amount USD")).toEqual([
    "0.00",
    "100.00",
    "5.000001",
    "-10.00",
    "95.000001",
    "0.00",
    "10.00",
    "10.00",
  ]);
  expect(text).toContain(`href="/transactions?from=${today.slice(0, 8)}01"`);
});

test("a period after all transfers begins and ends with the same balances", async () => {
  const { text } = await panel.get("/reports/money?from=2999-01-01&to=2999-01-31");
  expect(cells(text, "Amount USD")).toEqual(["95.000001", "95.000001", "0.00", "0.00", "0.00"]);
});

test("the CSV has the same lines, each amount with its sign and all digits", async () => {
  const { text, headers } = await panel.get(`/reports/money.csv?from=${today}`);
  expect(headers.get("content-disposition")).toContain("money.csv");
  expect(text.replace(/\w{24}/, "ID").split("\r\n")).toEqual([
    "line,kind,source,count,amount",
    "opening,,,,0",
    "credit,adjustment,tester,1,100",
    "credit,recharge,key ID of alice,1,5.000001",
    "charge,order,,1,-10",
    "closing,,,,95.000001",
    "unknown,,,0,0",
    "revenue,,,,10",
    "net,,,,10",
    "",
  ]);
});

test.each(["from=x", "to=2026-02-31", "from=2026-02-01&to=2026-01-01"])(
  "%s is named as wrong, on the page and instead of the CSV",
  async (query) => {
    for (const path of ["/reports/money", "/reports/money.csv"]) {
      const { status, headers, text } = await panel.get(`${path}?${query}`);
      expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(text).toMatch(/ must be /);
    }
  },
);

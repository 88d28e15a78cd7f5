// The counts and the sum above the list of orders, for every filter, against what SQL counts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { formatMicros } from "../../../src/domain/ledger/money.ts";
import { ORDER_STATUSES } from "../../../src/domain/orders/order-statuses.ts";
import { stateText } from "../../../src/web/components/shown.tsx";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { type PanelMarket, seedPanelMarket } from "../../support/seeds/panel-market.ts";
import { until } from "../../support/until.ts";
import { openPanel } from "../../support/worlds/panel.ts";

const DAY_MS = 86_400_000;
const live = "provider_id IS NULL OR provider_id >= 0";

/** The texts of the tabs, such as `All 12`, and the sentence with the hits. */
function shownIn(html: string): { tabs: string[]; hits: string } {
  const [, nav] = /<nav class="tabs" aria-label="Status">(.*?)<\/nav>/s.exec(html)!;
  const tabs = [...nav!.matchAll(/<a [^>]*>([A-Z][a-z]+)<small> ([^<]*)<\/small>/g)];
  const [, hits] = /<h1>Orders<\/h1><small>([^<]*)</.exec(html)!;
  return { tabs: tabs.map(([, text, count]) => `${text} ${count}`), hits: hits! };
}

describe("the counts of the list", () => {
  let market: PanelMarket;
  let today: string;
  beforeAll(async () => {
    market = seedPanelMarket(await openPanel());
    const { now } = market.clock;
    today = new Date(now).toISOString().slice(0, 10);
    for (let each = 0; each < 7; each++) market.order({ user: each % 2 ? "bob" : "alice" });
    const [first, second] = [market.order(), market.order({ link: "https://example.com/lost" })];
    market.run("transitionOrder", { id: String(first), to: "COMPLETED", note: null });
    market.run("transitionOrder", { id: String(second), to: "CANCELLED", note: null });
    market.delivered("unknown");
    market.delivered("queued");
    market.delivered({ placed: "77" });
    // Orders of other days: placed then, so that numbers grow with time only in part.
    const [order] = market.query<{ reseller_account: number }>(
      "SELECT reseller_account FROM orders LIMIT 1",
    );
    const keyId = market.key("alice", "full").id;
    for (const ago of [1, 6, 7, 29, 30, 45]) {
      const placed = {
        resellerAccount: Number(order!.reseller_account),
        keyId,
        service: "followers",
        link: "https://example.com/old",
        quantity: 100,
      };
      market.execute("placeOrder", placed, now - ago * DAY_MS);
    }
  });
  afterAll(() => market.stop());

  const account = (user: string) =>
    `reseller_account = (SELECT account FROM users WHERE username = '${user}')`;
  const since = (days: number) =>
    `created_at >= ${market.clock.now - (market.clock.now % DAY_MS) - (days - 1) * DAY_MS}`;

  test.each([
    ["", () => "1 = 1"],
    ["days=1", () => since(1)],
    ["days=7", () => since(7)],
    ["days=30", () => since(30)],
    ["user=alice", () => account("alice")],
    ["user=bob&days=7", () => `${account("bob")} AND ${since(7)}`],
    ["service=likes", () => "service_id = 'likes'"],
    ["provider=acme", () => "provider_id = 1"],
    ["link=LOST", () => "link LIKE '%lost%'"],
    ["provider-order=77", () => "provider_order = '77'"],
    ["placement=queued", () => "placement = 'queued'"],
    ["test=yes", () => "provider_id < 0"],
    ["to=TODAY", () => "1 = 1"],
  ])(
    "with the filter %p are those of the table, for all and for each status",
    async (query, sql) => {
      const filter = query.replace("TODAY", today);
      const condition = `${sql()} ${query.includes("test") ? "" : `AND (${live})`}`;
      const rows = market.query<{ status: string; orders: number; micros: number }>(
        `SELECT status, count(*) AS orders, sum(charge_micros) AS micros FROM orders WHERE ${condition} GROUP BY status`,
      );
      const count = (status: string | null) =>
        rows.reduce(
          (sum, row) => sum + (status === null || row.status === status ? Number(row.orders) : 0),
          0,
        );
      const tabs = [null, ...ORDER_STATUSES].map(
        (status) => `${status === null ? "All" : stateText(status)} ${count(status)}`,
      );
      for (const status of [null, ...ORDER_STATUSES]) {
        const path = `/orders?${filter}${status === null ? "" : `&status=${status}`}`;
        const shown = shownIn((await market.get(path)).text);
        const micros = rows.reduce(
          (sum, row) => sum + (status === null || row.status === status ? Number(row.micros) : 0),
          0,
        );
        const orders = count(status);
        expect(shown.tabs).toEqual(tabs);
        expect(shown.hits).toStartWith(`${orders} ${orders === 1 ? "order" : "orders"}, `);
        expect(Number(shown.hits.split(", ")[1]!.replace(" USD", ""))).toBeCloseTo(
          Number(formatMicros(micros)),
          2,
        );
      }
    },
  );
});

test.skipIf(ENGINE !== "sqlite")(
  "more than five thousand orders are counted exactly where running counts know them, else said to be more",
  async () => {
    const panel = await openPanel();
    fillInBulk(panel, 5050);
    const read = async (query: string) => shownIn((await panel.get(`/orders?${query}`)).text);
    await until(async () => !(await read("")).hits.includes("more than"));
    expect(await read("status=PROCESSING")).toEqual({
      tabs: [
        "All 5,050", "Pending 0", "Processing 4,545", "Completed 0", "Partial 0", "Failed 0", "Cancelled 505",
        "Refunded 0",
      ],
      hits: "4,545 orders, 4\u202f545.00 USD",
    }); // prettier-ignore
    const bounded = await read("link=0");
    expect(bounded.hits).toBe("more than 5,000 orders; the newest 5,000: 5\u202f000.00 USD");
    expect(bounded.tabs.slice(0, 3)).toEqual(["All 5,000+", "Pending 0+", "Processing 4,500+"]);
    expect((await read("link=000505")).hits).toBe(
      "2 orders of the newest 5,000, 2.00 USD; older ones are not counted",
    );
    await panel.stop();
  },
);

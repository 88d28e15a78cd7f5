// Reports: each row is what the ledger and the orders say of its day, service, reseller or provider, to the micro.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { REPORT_KEYS, type ReportKey } from "../../src/db/reports/reports.ts";
import { readReport, totalOf } from "../../src/reports/reports.ts";
import { optionsOf, reseller } from "../support/worlds/shop.ts";
import { freshDatabase, OPERATOR, type TestDatabase } from "../support/databases/test-database.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-03-01T12:00:00.000Z");

let database: TestDatabase;

beforeAll(() => {
  database = freshDatabase();
  for (const name of ["anna", "bert"]) database.user(name, "1000000");
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
  database.run("createProvider", provider);
  // Charges that no double adds up exactly.
  database.service({ id: "likes", price: "0.000333", per: "1" });
  database.service({
    id: "views",
    name: "Views",
    price: "2.1",
    provider: { name: "acme", service: "7" },
  });
  database.service({ id: "free", price: "0" });
  const keys = { anna: database.key("anna", "full").id, bert: database.key("bert", "full").id };
  for (let index = 0; index < 60; index++) {
    const username = index % 3 === 0 ? "bert" : "anna";
    const service = ["likes", "views", "free"][index % 5 === 4 ? 2 : index % 2]!;
    // The clock is put back by three days in the middle.
    const at = START + Math.floor(index / 6) * DAY - (index >= 30 ? 3 * DAY : 0);
    const [{ account }] = database.query<{ account: number }>(
      "SELECT account FROM users WHERE username = ?",
      username,
    ) as [{ account: number }];
    const input = {
      resellerAccount: account,
      keyId: keys[username],
      service,
      link: "x",
      quantity: 10 + index,
    };
    const { orderId } = database.execute("placeOrder", input, at);
    const move = (to: "CANCELLED" | "PARTIAL" | "REFUNDED", days: number) =>
      database.execute(
        "transitionOrder",
        {
          id: String(orderId),
          to,
          note: null,
          actor: OPERATOR,
          ...(to === "PARTIAL" ? { remains: 3 } : {}),
        },
        at + days * DAY,
      );
    if (index % 7 === 0) move("CANCELLED", 1);
    else if (service === "likes" && index % 4 === 0) {
      move("PARTIAL", 0);
      if (index % 8 === 0) move("REFUNDED", 2);
    }
  }
});
afterAll(() => database.close());

type Row = [key: string | null, orders: number, revenue: bigint, refunds: bigint];

/** The same from every row of the ledger, added up one by one. */
function ledgerReport(by: ReportKey, from: number, to: number): Row[] {
  const sums = new Map<string | null, Row>();
  const rowOf = (key: string | null): Row => {
    if (!sums.has(key)) sums.set(key, [key, 0, 0n, 0n]);
    return sums.get(key)!;
  };
  const rows = database.query<Record<string, string | number | null>>(
    `SELECT 'order' AS kind, orders.created_at AS at, 0 AS amount, service_id, users.username, providers.name AS provider
      FROM orders JOIN users ON account = reseller_account LEFT JOIN providers USING (provider_id)
    UNION ALL
    SELECT CASE WHEN kind = 'order' THEN 'charge' ELSE 'refund' END, transfers.created_at, amount_micros, service_id,
        users.username, providers.name
      FROM transfers JOIN orders USING (order_id) JOIN users ON account = reseller_account
      LEFT JOIN providers USING (provider_id)`,
  );
  for (const row of rows) {
    const at = Number(row["at"]);
    if (at < from || at > to) continue;
    const keys = {
      day: new Date(at).toISOString().slice(0, 10),
      service: row["service_id"],
      reseller: row["username"],
      provider: row["provider"],
    };
    const sum = rowOf(keys[by] as string | null);
    if (row["kind"] === "order") sum[1] += 1;
    if (row["kind"] === "charge") sum[2] += BigInt(row["amount"]!);
    if (row["kind"] === "refund") sum[3] += BigInt(row["amount"]!);
  }
  return [...sums.values()];
}

const byKey = (rows: Row[]) => rows.toSorted(([a], [b]) => ((a ?? "") < (b ?? "") ? -1 : 1));

describe.each([
  ["everything", null, null],
  ["some days", START + 2 * DAY, START + 4 * DAY + 1],
  ["parts of two days", START + DAY - DAY / 2, START + DAY + DAY / 2 - 1],
  ["a time without orders", 0, 1],
])("a report of %s", (_, from, to) => {
  test.each(REPORT_KEYS.map((by) => [by]))("by %s matches the ledger", async (by) => {
    const rows = await readReport(database.store, by, { from, to });
    const found = rows.map((row): Row => [
      row.key,
      row.orders,
      row.revenueMicros,
      row.refundsMicros,
    ]);
    expect(byKey(found)).toEqual(byKey(ledgerReport(by, from ?? 0, to ?? Infinity)));
    for (const row of rows) expect(row.netMicros).toBe(row.revenueMicros - row.refundsMicros);
  });
});

test("all reports of a period have equal totals, which match the sales account's balance", async () => {
  const window = { from: null, to: null };
  const totals = await Promise.all(
    REPORT_KEYS.map(async (by) => totalOf(await readReport(database.store, by, window))),
  );
  for (const total of totals) expect(total).toEqual(totals[0]!);
  const [sales] = database.query<{ micros: number }>(
    `SELECT sum(CASE credit_account WHEN 2 THEN amount_micros ELSE -amount_micros END) AS micros
      FROM transfers WHERE 2 IN (credit_account, debit_account)`,
  );
  expect(totals[0]!.netMicros).toBe(BigInt(sales!.micros));
  expect(totals[0]!.orders).toBe(60);
});

test("days come in their order, other keys by revenue", async () => {
  const window = { from: null, to: null };
  const days = (await readReport(database.store, "day", window)).map(({ key }) => key!);
  expect(days).toEqual(days.toSorted());
  const services = await readReport(database.store, "service", window);
  expect(services.map(({ key, name }) => [key, name])).toEqual([
    ["views", "Views"],
    ["likes", "Followers"],
    ["free", "Followers"],
  ]);
});

describe("reseller report", () => {
  const report = (...argv: string[]) => reseller("report", ...argv, ...optionsOf(database));

  test("--json: key, orders, revenue, refunds, net, cost, margin", async () => {
    const { json, code } = await report("--by", "provider", "--from", "2026-01-01", "--json");
    expect(code).toBe(0);
    const [acme, byHand] = json;
    expect(Object.keys(acme)).toEqual([
      "key",
      "orders",
      "revenue",
      "refunds",
      "net",
      "cost",
      "margin",
    ]);
    expect([acme.key, byHand.key]).toEqual(["acme", null]);
    expect(Math.round((acme.revenue - acme.refunds) * 1e6)).toBe(Math.round(acme.net * 1e6));
  });

  test("--csv: the same with a header, also for a single day", async () => {
    const day = "2026-03-01";
    const { stdout } = await report("--csv", "--from", day, "--to", day);
    const [header, row, ...rest] = stdout.trimEnd().split("\n");
    expect(header).toBe("key,orders,revenue,refunds,net,cost,margin");
    const [expected] = ledgerReport("day", Date.parse(day), Date.parse(day) + DAY - 1);
    const [key, orders, revenue, refunds] = row!.split(",");
    const micros = (text: string) => BigInt(Math.round(Number(text) * 1e6));
    expect([key!, Number(orders), micros(revenue!), micros(refunds!)]).toEqual([
      ...expected!,
    ] as never);
    expect(rest.length).toBe(0);
  });

  test("as a table with a total; a wrong key or window is exit 2", async () => {
    const { stdout } = await report("--by", "service", "--from", "2026-01-01");
    expect(stdout).toMatch(/SERVICE +ORDERS +REVENUE USD +REFUNDS USD +COST USD +MARGIN USD/);
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(/^total +60 /);
    expect((await report("--by", "colour")).code).toBe(2);
    expect((await report("--from", "soon")).code).toBe(2);
    expect((await report("--csv", "--json")).code).toBe(2);
    expect((await report("--to", "2020-01-01", "--from", "2019-01-01")).stdout).toContain(
      "no orders",
    );
  });
});

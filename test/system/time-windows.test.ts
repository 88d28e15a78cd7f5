// A window of time means the same in every list, report and export, on the command line, in the API, the panel and the
// portal: rows are made one millisecond before, at and after each boundary, and each answer is compared with the rows' own
// times. On the engine of this run.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse } from "csv-parse/sync";
import { listCommands } from "../../src/cli/kernel/command-tree.ts";
import { createProgram } from "../../src/cli/kernel/program.ts";
import { findUser } from "../../src/db/users/users.ts";
import { hashKey } from "../../src/domain/users/keys.ts";
import { endOfMonth, parseMonth, startOfMonth } from "../../src/domain/values/calendar.ts";
import { DAY_MS } from "../../src/domain/values/spans.ts";
import { OPERATOR, type TestDatabase } from "../support/databases/test-database.ts";
import { sampleOf } from "../support/runs.ts";
import { askPayment, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { openPanel, type TestPanel } from "../support/worlds/panel.ts";
import { openPortal, type TestPortal } from "../support/worlds/portal.ts";
import { openService, type TestService } from "../support/worlds/service.ts";
import { optionsOf, reseller } from "../support/worlds/shop.ts";

/** Beginnings of a month: in UTC, in zones east and west of it, and where the year changes. */
const BOUNDARIES = [
  "2025-11-01T00:00:00.000Z",
  "2025-11-01T00:00:00.000+05:30",
  "2025-12-01T00:00:00.000-03:00",
  "2026-01-01T00:00:00.000Z",
].map((text) => ({ text, at: Date.parse(text) }));
const INSTANTS = BOUNDARIES.flatMap(({ at }) => [at - 1, at, at + 1]).toSorted((a, b) => a - b);

interface Window {
  since: string | null;
  until: string | null;
  /** In milliseconds; both ends belong to the window. */
  from: number;
  to: number;
}

const iso = (at: number) => new Date(at).toISOString();
/** The same time as a person in another zone writes it. */
const inZone = (at: number, hours: number) =>
  iso(at + hours * 3_600_000).replace(
    "Z",
    `${hours < 0 ? "-" : "+"}${String(Math.abs(hours)).padStart(2, "0")}:00`,
  );
const dayOf = (at: number) => iso(at).slice(0, 10);
const startOf = (day: string) => Date.parse(day);

/** Windows with times, which the portal does not take. */
const TIMES: Window[] = BOUNDARIES.flatMap(({ text, at }) => [
  { since: text, until: null, from: at, to: Infinity },
  { since: null, until: text, from: 0, to: at },
  { since: iso(at), until: iso(at), from: at, to: at },
  { since: inZone(at, 9), until: inZone(at, -8), from: at, to: at },
  { since: iso(at - 1), until: iso(at + 1), from: at - 1, to: at + 1 },
  { since: iso(at + 1), until: null, from: at + 1, to: Infinity },
  { since: null, until: iso(at - 1), from: 0, to: at - 1 },
]);
/** Windows of whole UTC days: the day before a boundary, the one that it begins, both, and a month. */
const DAYS: Window[] = BOUNDARIES.flatMap(({ at }) => {
  const [before, day] = [dayOf(at - 1), dayOf(at)];
  const end = (text: string) => startOf(text) + DAY_MS - 1;
  return [
    { since: before, until: before, from: startOf(before), to: end(before) },
    { since: day, until: day, from: startOf(day), to: end(day) },
    { since: before, until: day, from: startOf(before), to: end(day) },
    { since: day, until: null, from: startOf(day), to: Infinity },
    { since: null, until: before, from: 0, to: end(before) },
  ];
});
const ALL = sampleOf([...TIMES, ...DAYS], 3);

/** Makes one of everything that is listed, at each instant. */
function seed(database: TestDatabase): void {
  const run: TestDatabase["execute"] = (...call) => database.execute(...call);
  database.user("alice", "100");
  database.service({ id: "likes", cancel: true });
  database.run("setMailSettings", { active: true, operator: null });
  const seller = { sellerName: "s", sellerAddress: "a" };
  database.run("setInvoicing", { changes: { ...seller, mode: "credit" } });
  const actor = seedMember(database);
  seedMethod(database, "bank", "manual");
  const { id: keyId } = database.key("alice", "order");
  const { account: resellerAccount } = database.read((reader) => findUser(reader, "alice")!);
  let tested = "";
  INSTANTS.forEach((at, n) => {
    const signed = { actor: OPERATOR };
    run("createUser", { username: `user-${n}`, name: "", parent: null, ...signed }, at);
    const key = { type: "order", reach: "children", label: "", start: "rk_abcde" } as const;
    run("createKey", { username: "alice", ...key, hash: hashKey(`${n}`), ...signed }, at);
    const terms = { name: `S${n}`, priceMicros: 1, per: "1000", min: 1, max: 9 } as const;
    const more = { private: false, type: "default", dripfeed: false, cancel: false } as const;
    const rest = { refill: false, provider: null, ...signed };
    run("createService", { id: `service-${n}`, ...terms, ...more, ...rest }, at);
    const upstream = { protocol: "smm-api", url: "http://127.0.0.1:9/", key: "k" };
    run("createProvider", { name: `provider-${n}`, ...upstream, ...signed }, at);
    const invited = { role: "support", invitationHash: hashKey(`admin ${n}`) } as const;
    run("inviteAdministrator", { name: `admin-${n}`, ...invited, ...signed }, at);
    const email = `m${n}@alice.example`;
    const member = { email, name: null, role: "viewer", language: "en" } as const;
    run("inviteMember", { username: "alice", ...member, invitationHash: null, ...signed }, at);
    const url = `https://hooks.example/${n}`;
    const hook = { username: `user-${n}`, url, events: "*", secret: "s", balanceLowBelow: null };
    const { id: webhook } = run("createWebhook", { ...hook, ...signed }, at);
    if (n === 0) tested = webhook;
    run("testWebhook", { id: tested, ...signed }, at);
    const sender = { server: "s".repeat(24), limit: 9, perEndpoint: 9 };
    const due = run("takeDueWebhookDeliveries", sender, at);
    const reply = { httpStatus: 200, error: null, response: "", retryAfterSeconds: null };
    const attempts = due.map((each) => ({ ...each, at, durationMs: 1, ...reply }));
    run("recordWebhookAttempts", { attempts, jitter: 0 }, at);
    const endpoint = { url: `https://alerts.example/${n}` };
    if (n < 5) run("createAlertEndpoint", { target: endpoint, secret: "s", ...signed }, at);
    const credit = { username: "alice", amountMicros: 1_000_000 + n, note: null };
    run("creditUser", { ...credit, ...signed }, at);
    run("issueInvoices", { limit: 9 }, at);
    const order = { resellerAccount, keyId, service: "likes", link: "https://x.example/" };
    const { orderId } = run("placeOrder", { ...order, quantity: 100, reference: null }, at);
    const asked = { resellerAccount, keyId, kind: "cancel" } as const;
    run("makeRequest", { ...asked, id: String(orderId) }, at);
    const payment = askPayment(database, { methodId: "bank", actor, now: at });
    run("approvePayment", { id: payment, receivedMicros: null, creditMicros: null, ...signed }, at);
  });
}

/** What is listed: a list's name, what identifies a row in it, and the rows with their times. */
interface Listed {
  id: string;
  sql: string;
}
const REAL = "test_of IS NULL";
const TABLES: Record<string, Listed> = {
  users: {
    id: "username",
    sql: `SELECT username AS id, created_at AS at FROM users WHERE ${REAL}`,
  },
  keys: { id: "id", sql: "SELECT id, created_at AS at FROM keys" },
  services: { id: "id", sql: "SELECT id, created_at AS at FROM services" },
  providers: {
    id: "name",
    sql: "SELECT name AS id, created_at AS at FROM providers WHERE name NOT LIKE 'test:%'",
  },
  administrators: { id: "name", sql: "SELECT name AS id, created_at AS at FROM administrators" },
  members: { id: "email", sql: "SELECT email AS id, created_at AS at FROM members" },
  webhooks: {
    id: "url",
    sql: "SELECT url AS id, created_at AS at FROM webhooks WHERE reseller_account IS NOT NULL",
  },
  alerts: {
    id: "id",
    sql: "SELECT id, created_at AS at FROM webhooks WHERE reseller_account IS NULL",
  },
  deliveries: {
    id: "at",
    sql: `SELECT at AS id, at FROM webhook_attempts WHERE webhook_id =
    (SELECT min(webhook_id) FROM webhooks WHERE reseller_account IS NOT NULL)`,
  },
  orders: { id: "orderId", sql: "SELECT order_id AS id, created_at AS at FROM orders" },
  requests: { id: "id", sql: "SELECT id, created_at AS at FROM order_requests" },
  payments: { id: "id", sql: "SELECT id, created_at AS at FROM payments" },
  invoices: { id: "number", sql: "SELECT number AS id, issued_at AS at FROM invoices" },
  transactions: { id: "seq", sql: "SELECT seq AS id, created_at AS at FROM transfers" },
  audit: { id: "seq", sql: "SELECT seq AS id, created_at AS at FROM audit" },
  mails: { id: "id", sql: "SELECT mail_id AS id, created_at AS at FROM mails" },
};

const idsIn = (database: TestDatabase, { sql }: Listed, { from, to }: Window): string[] =>
  database
    .query<{ id: string | number; at: number }>(sql)
    .filter(({ at }) => Number(at) >= from && Number(at) <= to)
    .map(({ id }) => String(id))
    .toSorted();
const sorted = (rows: readonly Record<string, unknown>[], { id }: Listed) =>
  rows.map((row) => String(id === "at" ? Date.parse(row[id] as string) : row[id])).toSorted();
const linesOf = (text: string) =>
  text
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const csvOf = (text: string) => parse(text, { columns: true }) as Record<string, string>[];

let portal: TestPortal;
let panel: TestPanel;
let service: TestService;
let key = "";
let [cookie, webhook] = ["", ""];

beforeAll(async () => {
  portal = await openPortal();
  seed(portal);
  panel = await openPanel({ beside: portal });
  cookie = portal.session(portal.member("alice", "reader@alice.example", "viewer"));
  portal.query(`UPDATE users SET created_at = ${INSTANTS[0]! - DAY_MS} WHERE username = 'alice'`);
  const hooks = "SELECT id FROM webhooks WHERE reseller_account IS NOT NULL ORDER BY webhook_id";
  webhook = portal.query<{ id: string }>(hooks)[0]!.id;
  service = await openService();
  seed(service);
  key = service.key("alice", "full").text;
});
afterAll(async () => {
  await panel.stop();
  await portal.stop();
  await service.stop();
});

const CLI: [words: string, listed: string, form: "json" | "lines" | "csv"][] = [
  ["admin user list --limit 500", "users", "json"],
  ["admin key list --limit 500", "keys", "json"],
  ["admin service list --limit 500", "services", "json"],
  ["admin provider list", "providers", "json"],
  ["panel list", "administrators", "json"],
  ["admin portal list --limit 500", "members", "json"],
  ["admin webhook list", "webhooks", "json"],
  ["admin webhook deliveries WEBHOOK --limit 500", "deliveries", "json"],
  ["admin alert list", "alerts", "json"],
  ["admin order list --limit 500", "orders", "json"],
  ["admin request list --limit 500", "requests", "json"],
  ["admin payment list --limit 500", "payments", "json"],
  ["admin payment list --csv", "payments", "csv"],
  ["admin invoice list --limit 500", "invoices", "json"],
  ["admin invoice list --csv", "invoices", "csv"],
  ["admin invoice export", "invoices", "csv"],
  ["admin transaction list --all --limit 500", "transactions", "json"],
  ["admin transaction list --user alice --limit 500", "transactions", "json"],
  ["admin transaction export", "transactions", "csv"],
  ["admin transaction export --json-lines", "transactions", "lines"],
  ["admin audit list --limit 500", "audit", "json"],
  ["admin mail list --limit 500", "mails", "json"],
];

describe("on the command line", () => {
  /** They show what is there now, or need S3. */
  const WITHOUT = [
    "admin backup list",
    "backup list",
    "admin category list",
    "admin grant list",
    "admin payment method list",
    "admin portal notice list",
    "admin service export",
    "report",
  ];
  test("every list and export is here", async () => {
    const words = listCommands(await createProgram())
      .filter(({ command }) => command.commands.length === 0)
      .map((each) => each.words)
      .filter((each) => /(^| )(list|report|deliveries|export)$/.test(each));
    const missing = words.filter((each) => !CLI.some(([given]) => given.startsWith(each)));
    expect(missing.filter((each) => !WITHOUT.includes(each))).toEqual([]);
  });

  test.each(CLI)("%s", async (given, name, form) => {
    const listed = TABLES[name]!;
    const words = given.replace("WEBHOOK", () => webhook);
    for (const window of ALL) {
      const limits = [
        ...(window.since === null ? [] : ["--since", window.since]),
        ...(window.until === null ? [] : ["--until", window.until]),
      ];
      const json = form === "json" ? ["--json"] : [];
      const ran = await reseller(...words.split(" "), ...json, ...limits, ...optionsOf(portal));
      expect([limits, ran.code, ran.stderr]).toEqual([limits, 0, ""]);
      const { stdout } = ran;
      const rows = form === "json" ? ran.json : form === "csv" ? csvOf(stdout) : linesOf(stdout);
      expect([limits, sorted(rows, listed)]).toEqual([limits, idsIn(portal, listed, window)]);
    }
  });
});

const queryOf = ({ since, until }: Window) =>
  new URLSearchParams({
    ...(since === null ? {} : { from: since }),
    ...(until === null ? {} : { to: until }),
  });

describe("in the API", () => {
  const LISTS = [
    ["/orders", "orders"],
    ["/transactions", "transactions"],
  ] as const;
  test.each(LISTS)("GET %s", async (path, name) => {
    const listed = TABLES[name]!;
    for (const window of ALL) {
      const query = queryOf(window);
      query.set("limit", "100");
      const { status, body } = await service.call("GET", `${path}?${query}`, key);
      expect([String(query), status]).toEqual([String(query), 200]);
      const ids = sorted(body[name], listed);
      expect([String(query), ids]).toEqual([String(query), idsIn(service, listed, window)]);
    }
  });
});

/** Pages that answer with CSV. The order's number is `orderId` there. */
const PAGES: [path: string, listed: string, id: string][] = [
  ["/orders.csv", "orders", "orderId"],
  ["/transactions.csv", "transactions", "seq"],
  ["/users/alice/transactions.csv", "transactions", "seq"],
  ["/invoices.csv", "invoices", "number"],
  ["/payments.csv", "payments", "id"],
];

describe("in the panel", () => {
  test.each(PAGES)("%s", async (path, name, id) => {
    const listed = { ...TABLES[name]!, id };
    for (const window of ALL) {
      const query = queryOf(window);
      const { status, text } = await panel.get(`${path}?${query}`);
      expect([String(query), status]).toEqual([String(query), 200]);
      const ids = sorted(csvOf(text), listed);
      expect([String(query), ids]).toEqual([String(query), idsIn(portal, listed, window)]);
    }
  });

  test("the audit log", async () => {
    const listed = TABLES["audit"]!;
    for (const window of ALL) {
      const { text } = await panel.get(`/audit?${queryOf(window)}`);
      const shown = text.match(/<tr>/g)?.length ?? 0;
      // The first row is the heading; a page has at most 50.
      const count = idsIn(portal, listed, window).length;
      expect([String(queryOf(window)), Math.max(0, shown - 1)]).toEqual([
        String(queryOf(window)),
        Math.min(50, count),
      ]);
    }
  });
});

describe("in the portal, which takes days", () => {
  const LISTS = [
    ["/orders.csv", "orders", "orderId"],
    ["/balance.csv", "transactions", "seq"],
  ] as const;
  test.each(LISTS)("%s", async (path, name, id) => {
    const listed = { ...TABLES[name]!, id };
    for (const window of DAYS) {
      const query = queryOf(window);
      const { status, text } = await portal.get(`${path}?${query}`, cookie);
      expect([String(query), status]).toEqual([String(query), 200]);
      const ids = sorted(csvOf(text), listed);
      expect([String(query), ids]).toEqual([String(query), idsIn(portal, listed, window)]);
    }
  });
});

test.each(["2025-10", "2025-11", "2025-12", "2026-01", "2026-02"])(
  "the statement of %s in the portal has the credits of that UTC month",
  async (name) => {
    const month = parseMonth(name)!;
    const { status, text } = await portal.get(`/balance/${name}`, cookie);
    expect(status).toBe(200);
    const cells = [...text.matchAll(/<td class="number[^"]*"[^>]*>(-?\$[^<]*)<\/td><\/tr>/g)];
    const listed = cells.map(([, amount]) =>
      Math.round(Number(amount!.replace(/[$,]/g, "")) * 1e6),
    );
    const credited = portal
      .query<{ micros: number; at: number }>(
        "SELECT amount_micros AS micros, created_at AS at FROM transfers WHERE debit_account = 1 ORDER BY seq",
      )
      .filter(({ at }) => Number(at) >= startOfMonth(month) && Number(at) <= endOfMonth(month))
      .map(({ micros }) => Number(micros));
    // Between what the balance was at the beginning, and what orders took and it was at the end.
    expect(listed.slice(1, 1 + credited.length)).toEqual(credited);
    expect(cells).toHaveLength(credited.length + 3);
  },
);

describe("a window that ends before it begins is refused", () => {
  const [since, until] = ["2025-12-01", "2025-11-30"];
  test.each([...CLI.map(([words]) => words), "report", "report --money"])("%s", async (given) => {
    const words = given.replace("WEBHOOK", () => webhook).split(" ");
    const ran = await reseller(...words, "--since", since, "--until", until, ...optionsOf(portal));
    expect([ran.code, ran.stdout]).toEqual([2, ""]);
    expect(ran.stderr).toContain("--since must be at or before --until");
  });

  test("in the API, the panel and the portal", async () => {
    const query = `from=${since}&to=${until}`;
    for (const path of ["/orders", "/transactions"]) {
      const { status, body } = await service.call("GET", `${path}?${query}`, key);
      expect([path, status, body.message]).toEqual([path, 400, "from must be at or before to"]);
    }
    for (const [path] of PAGES) {
      const { headers, text } = await panel.get(`${path}?${query}`);
      expect([path, headers.get("content-type")]).toEqual([path, "text/html; charset=utf-8"]);
      expect(text).toContain("at or before");
    }
    for (const path of ["/orders.csv", "/balance.csv"]) {
      const { text } = await portal.get(`${path}?${query}`, cookie);
      expect(text).toContain('id="filter-from-error"');
    }
  });
});

describe("sums are those of the rows in the window", () => {
  const sumIn = (sql: string, { from, to }: Pick<Window, "from" | "to">) =>
    portal
      .query<{ micros: number; at: number }>(sql)
      .filter(({ at }) => Number(at) >= from && Number(at) <= to)
      .reduce((sum, { micros }) => sum + Number(micros), 0);
  const CREDITS =
    "SELECT amount_micros AS micros, created_at AS at FROM transfers WHERE debit_account = 1";
  const CHARGES =
    "SELECT amount_micros AS micros, created_at AS at FROM transfers WHERE kind = 'order'";
  const ORDERS = "SELECT 1 AS micros, created_at AS at FROM orders";
  const limitsOf = ({ since, until }: Window) => [
    ...(since === null ? ["--since", "2000-01-01"] : ["--since", since]),
    ...(until === null ? [] : ["--until", until]),
  ];

  const RECEIVED = "SELECT received_micros AS micros, paid_at AS at FROM payments";
  test("report --money, with what was owed at both ends and what was received", async () => {
    for (const window of ALL) {
      const ran = await reseller(
        "report",
        "--money",
        "--json",
        ...limitsOf(window),
        ...optionsOf(portal),
      );
      const before = { from: 0, to: window.from - 1 };
      const opening = sumIn(CREDITS, before) - sumIn(CHARGES, before);
      const [credits, charges] = [sumIn(CREDITS, window), sumIn(CHARGES, window)];
      const found = ["opening", "credits", "charges", "closing"].map((name) =>
        Math.round(Number(ran.json[name]) * 1e6),
      );
      expect([limitsOf(window), found]).toEqual([
        limitsOf(window),
        [opening, credits, charges, opening + credits - charges],
      ]);
      const amounts = (ran.json.received as { amount: number }[]).map(({ amount }) => amount);
      const received = Math.round(amounts.reduce((sum, each) => sum + each, 0) * 1e6);
      expect([limitsOf(window), received]).toEqual([limitsOf(window), sumIn(RECEIVED, window)]);
    }
  });

  test("report without --since is about the 30 days up to --until", async () => {
    const until = "2025-12-31";
    const to = startOf(until) + DAY_MS - 1;
    const window = { from: to - 30 * DAY_MS, to };
    const ran = await reseller("report", "--until", until, "--json", ...optionsOf(portal));
    const rows = ran.json as { orders: number }[];
    const orders = rows.reduce((sum, row) => sum + row.orders, 0);
    expect([orders, orders > 0]).toEqual([sumIn(ORDERS, window), true]);
  });

  test.each(["day", "service", "reseller", "provider"])("report --by %s", async (by) => {
    for (const window of ALL) {
      const words = ["report", "--by", by, "--json", ...limitsOf(window)];
      const ran = await reseller(...words, ...optionsOf(portal));
      const rows = ran.json as { orders: number; revenue: number }[];
      const sum = (name: "orders" | "revenue") =>
        Math.round(rows.reduce((all, row) => all + row[name], 0) * 1e6);
      expect([limitsOf(window), sum("orders") / 1e6, sum("revenue")]).toEqual([
        limitsOf(window),
        sumIn(ORDERS, window),
        sumIn(CHARGES, window),
      ]);
    }
  });
});

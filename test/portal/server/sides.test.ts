// The live and the test side of the portal: every page and every form of the route table, whoever adds it. What is done
// on one side shows and changes nothing of the other.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { audit } from "../../../src/db/tables/administrators.ts";
import { members, portalSettings } from "../../../src/db/tables/members.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { accountOfOrders, findUser } from "../../../src/db/users/users.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import type { ActionRoute, PageRoute } from "../../../src/portal/server/route.ts";
import { listWebhooks } from "../../../src/db/webhooks/webhooks.ts";
import { LIVE_PATHS, ROUTES } from "../../../src/portal/server/routes.ts";
import { TEST_SIDE } from "../../../src/portal/server/visitor.ts";
import { seedInvoice } from "../../support/seeds/invoices.ts";
import { askPayment, seedMethod } from "../../support/seeds/payments.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { openPortal, type Reply, type TestPortal } from "../../support/worlds/portal.ts";

const SIDES = ["", TEST_SIDE] as const;
type Side = (typeof SIDES)[number];
const otherOf = (side: Side): Side => (side === "" ? TEST_SIDE : "");

const PREFIX = "/portal";
const ACTIONS = ROUTES.filter((route): route is ActionRoute => route.method === "POST");
const PAGES = ROUTES.filter((route): route is PageRoute => route.method === "GET");
/** Parameters that name something of one side. */
const OWNED = /:(order|key|webhook|payment|invoice)\b/;
/** Payments are only on the live side. */
const isOn = (side: string, path: string) => side === "" || !LIVE_PATHS.has(path);

let portal: TestPortal;
let [owner, bob] = ["", ""];
let payer: Actor;
let [colleague, invoice] = ["", ""];

beforeAll(async () => {
  portal = await openPortal({ prefix: PREFIX, settings: { registration: "open" } });
  portal.user("alice", "100");
  portal.user("bob", "100");
  portal.service({ id: "followers", cancel: true, refill: true });
  owner = portal.session(portal.member("alice", "owner@alice.example"));
  bob = portal.session(portal.member("bob", "owner@bob.example"));
  payer = { keyId: null, operator: memberAuthor(portal.member("alice", "payer@alice.example")) };
  seedMethod(portal, "bank", "manual");
  invoice = seedInvoice(portal, "alice");
  colleague = portal.member("alice", "colleague@alice.example", "viewer");
});
afterAll(() => portal.stop());

const accountOf = (side: Side) =>
  portal.read((reader) =>
    accountOfOrders(reader, findUser(reader, "alice")!.account, side === TEST_SIDE),
  );

/** A word that is in everything of one side. */
const wordOf = (side: Side) => (side === "" ? "onlylive" : "onlytest");

let made = 0;
let lastPayment = "";
/** Makes an order, a key and a webhook of a side. Returns what stands for the parameters of a path. */
function makeOwn(side: Side): Record<string, string> {
  made++;
  const word = `${wordOf(side)}${made}`;
  const { id: key } = portal.key("alice", "order", "all", side === TEST_SIDE);
  portal.run("updateKey", { id: key, changes: { label: word } });
  const { orderId } = portal.run("placeOrder", {
    resellerAccount: accountOf(side),
    keyId: key,
    service: "followers",
    link: `https://example.com/${word}`,
    quantity: 10,
    reference: word,
  });
  // The earlier ones make room below the limit.
  for (const { id } of portal.read((reader) => listWebhooks(reader, accountOf(side)))) {
    portal.run("deleteWebhook", { id });
  }
  const hook = { username: null, url: `https://${word}.example/`, events: "*", secret: "s" };
  const actor = { keyId: key, operator: null };
  const { id: webhook } = portal.run("createWebhook", { ...hook, balanceLowBelow: null, actor });
  const month = new Date(portal.clock.now).toISOString().slice(0, 7);
  const shared = { service: "1", kind: "cancel", member: colleague, user: "alice", month };
  const own = { ...shared, order: String(orderId), key, webhook };
  if (side !== "") return own;
  if (lastPayment) portal.run("rejectPayment", { id: lastPayment, reason: "room" });
  const payment = (lastPayment = askPayment(portal, {
    methodId: "bank",
    actor: payer,
    now: portal.clock.now,
  }));
  portal.run("claimPayment", {
    id: payment,
    reference: word,
    file: null,
    isClaimed: true,
    actor: payer,
  });
  return { ...own, payment, invoice };
}

function pathOf(path: string, own: Record<string, string>): string {
  return path.replace(/:(\w+)/g, (_, name: string) => {
    if (own[name] === undefined) throw new Error(`add a value for the parameter :${name}`);
    return own[name];
  });
}

/** Tables of the reseller, whichever side its member is on. */
const SHARED: readonly AnyTable[] = [members, portalSettings, audit];
/** Tables whose rows belong to no account, and that forms and requests change. */
const NOBODYS = new Set(
  `uptime servers member_recovery_codes member_sessions member_networks member_attempts
  confirmations`.split(/\s+/),
);

/** All rows of a side of alice, of the cash and the sales of that side, and those that belong to no account. */
function rowsOf(side: Side): string {
  const account = accountOf(side);
  const accounts = side === "" ? [account, 1, 2] : [account, -1, -2];
  const listed = accounts.join();
  const owners: Record<string, string> = {
    account: listed,
    reseller_account: listed,
    debit_account: listed,
    credit_account: listed,
    order_id: `SELECT order_id FROM orders WHERE reseller_account IN (${listed})`,
    webhook_id: `SELECT webhook_id FROM webhooks WHERE reseller_account IN (${listed})`,
    key_id: `SELECT id FROM keys WHERE reseller_account IN (${listed})`,
  };
  return TABLES.filter((table) => !SHARED.includes(table))
    .map((table) => {
      const found = table.columns.map(({ name }) => name).filter((name) => name in owners);
      if (NOBODYS.has(table.name)) return "";
      const where = found.map((name) => `${name} IN (${owners[name]})`).join(" OR ") || "1 = 1";
      return JSON.stringify([
        table.name,
        portal.query(`SELECT * FROM ${table.name} WHERE ${where}`),
      ]);
    })
    .join("\n");
}

const FIELDS = {
  name: "Other",
  email: "new@alice.example",
  role: "viewer",
  language: "en",
  timeZone: "UTC",
  link: "https://example.com/b",
  quantity: "100",
  lines: "1 | https://example.com/c | 100",
  label: "Other",
  url: "https://other.example/",
  method: "bank",
  amount: "10",
  reference: "mine",
  events: "*",
  grace: "24",
  since: new Date(Date.now() - 86_400_000).toISOString().slice(0, 10),
};

/** Sends a form, and what its answer asks to confirm. */
async function send(path: string, cookie: string): Promise<Reply> {
  const reply = await portal.post(path, cookie, FIELDS);
  const asked = reply.status === 200 ? hiddenFields(reply.text) : {};
  return Object.keys(asked).length === 0 ? reply : portal.post(path, cookie, asked);
}

test("pages that need no session are only on the live side", async () => {
  for (const { method, path, role } of ROUTES) {
    if (role !== "anyone") continue;
    const asked = TEST_SIDE + path;
    const reply = method === "GET" ? await portal.get(asked, owner) : await send(asked, owner);
    expect([path, reply.status, reply.headers.get("location")]).toEqual([path, 303, PREFIX + path]);
  }
  expect((await portal.get("/", owner)).status).toBe(200);
  const { status, headers } = await portal.get(TEST_SIDE, owner);
  expect([status, headers.get("location")]).toEqual([303, `${PREFIX}${TEST_SIDE}/`]);
});

test("without a test account every page and form of test mode leads to the live side, and changes nothing", async () => {
  const before = portal.query("SELECT count(*) AS users FROM users");
  for (const { method, path, role } of ROUTES) {
    if (role === "anyone") continue;
    const asked = TEST_SIDE + path.replace(/:\w+/g, "1");
    const reply = method === "GET" ? await portal.get(asked, bob) : await send(asked, bob);
    expect([path, reply.status, reply.headers.get("location")]).toEqual([path, 303, `${PREFIX}/`]);
  }
  expect(portal.query("SELECT count(*) AS users FROM users")).toEqual(before);
});

test("the first step into test mode gives 1,000 USD of test money, once, also with test keys", async () => {
  const balance = () => portal.query("SELECT balance_micros FROM users WHERE test_of IS NOT NULL");
  for (let times = 0; times < 3; times++) {
    const { status, headers } = await portal.post("/test-mode", owner);
    expect([status, headers.get("location")]).toEqual([303, `${PREFIX}${TEST_SIDE}/`]);
    expect(balance()).toEqual([{ balance_micros: 1_000_000_000 }]);
  }
  portal.key("alice", "order", "all", true);
  expect(balance()).toEqual([{ balance_micros: 1_000_000_000 }]);
  expect((await portal.get("/test/", owner)).text).toContain("$1,000.00");
});

describe.each(SIDES)("the side %p", (side) => {
  const other = otherOf(side);

  test("shows nothing of the other side on any page, and says which side it is", async () => {
    const own = makeOwn(side);
    makeOwn(other);
    for (const { path, role } of PAGES) {
      if (role === "anyone" || !isOn(side, path)) continue;
      const { status, text } = await portal.get(side + pathOf(path, own), owner);
      expect([path, status, text.includes(wordOf(other))]).toEqual([path, 200, false]);
      if (path.endsWith(".csv")) continue;
      expect([path, text.includes("<strong>Test mode.</strong>")]).toEqual([path, side !== ""]);
    }
    const shown = await Promise.all(
      ["/orders", "/orders.csv", "/api"].map((path) => portal.get(side + path, owner)),
    );
    expect(shown.filter(({ text }) => text.includes(wordOf(side)))).toHaveLength(shown.length);
  });

  test("answers for what is on the other side as for nothing, and changes nothing", async () => {
    const foreign = makeOwn(other);
    for (const { path } of ROUTES.filter(
      (route) => OWNED.test(route.path) && !LIVE_PATHS.has(route.path),
    )) {
      const isPage = PAGES.some((page) => page.path === path);
      const ask = (asked: string) =>
        isPage ? portal.get(side + asked, owner) : send(side + asked, owner);
      const before = SIDES.map(rowsOf);
      const reply = await ask(pathOf(path, foreign));
      const none = await ask(path.replace(/:(\w+)/g, "999999"));
      expect([path, [404, 422].includes(reply.status)]).toEqual([path, true]);
      expect([path, reply.status, reply.text]).toEqual([path, none.status, none.text]);
      expect(SIDES.map(rowsOf)).toEqual(before);
    }
  });

  test("changes no row of the other side by any form", async () => {
    const changed = new Set<string>();
    for (const { path, role } of ACTIONS) {
      if (role === "anyone" || !isOn(side, path)) continue;
      const own = makeOwn(side);
      const [before, foreign] = [rowsOf(side), rowsOf(other)];
      await send(side + pathOf(path, own), owner);
      expect([path, rowsOf(other) === foreign]).toEqual([path, true]);
      if (rowsOf(side) !== before) changed.add(path);
    }
    // The forms did what they are for, so that the comparison means something.
    expect([...changed].toSorted()).toEqual(
      [
        "/orders/:order/:kind",
        "/new-order/:service",
        "/new-orders",
        "/api/keys",
        "/api/keys/:key/rotate",
        "/api/keys/:key/deactivate",
        "/api/webhooks",
        "/api/webhooks/:webhook",
        "/api/webhooks/:webhook/test",
        "/api/webhooks/:webhook/rotate",
        "/api/webhooks/:webhook/disable",
        "/api/webhooks/:webhook/delete",
        ...(side === "" ? ["/add-funds", "/payments/:payment/claim"] : []),
      ].toSorted(),
    );
  });
});

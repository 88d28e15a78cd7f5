// Every route of the panel's table, whoever adds it: who may not, changes nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listRegistrations } from "../../../src/db/members/registrations.ts";
import { findUser } from "../../../src/db/users/users.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { servers, uptime } from "../../../src/db/tables/database.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { ROLES } from "../../../src/domain/administrators/administrators.ts";
import { SESSION_IDLE_MS, SESSION_MOST_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { ASSETS } from "../../../src/web/server/assets.ts";
import type { ActionRoute } from "../../../src/panel/server/route.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { pageAt } from "../../../src/web/server/site.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openPanel, type Reply, type TestPanel } from "../../support/worlds/panel.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

/** What stands for the parameters of a path; any other is `1`. */
const PARAMETERS: Record<string, string> = { name: "other", user: "alice", service: "followers" };

const ACTIONS = ROUTES.filter((route): route is ActionRoute => route.method === "POST");
const pathOf = (path: string) =>
  path.replace(/:(\w+)/g, (_, name: string) => PARAMETERS[name] ?? "1");

let panel: TestPanel;
const cookies: Record<string, string> = {};

beforeAll(async () => {
  panel = await openPanel();
  for (const role of ROLES) {
    panel.administrator(`a-${role}`, role);
    cookies[role] = panel.session(`a-${role}`);
  }
  panel.administrator("other", "operator");
  panel.user("alice", "100");
  panel.service({ id: "followers" });
  PARAMETERS["key"] = panel.key("alice", "order").id;
  const hook = { username: "alice", url: "https://hooks.example/", events: "*", secret: "s" };
  PARAMETERS["webhook"] = panel.run("createWebhook", { ...hook, balanceLowBelow: null }).id;
  const invitation = { email: "ann@alice.example", name: null, role: "viewer" } as const;
  PARAMETERS["member"] = panel.run("inviteMember", {
    username: "alice",
    ...invitation,
    language: "en",
    invitationHash: "0".repeat(64),
  });
  panel.run("register", {
    email: "eve@new.example",
    name: "Eve",
    language: "en",
    limit: 1000,
    from: VISITOR,
  });
  PARAMETERS["notice"] = panel.run("addNotice", { texts: { en: "Hello" }, untilAt: null });
  PARAMETERS["registration"] = panel.read(listRegistrations)[0]!.id;
  const payer = seedMember(panel);
  seedMethod(panel, "bank", "manual");
  PARAMETERS["method"] = "bank";
  const asked = { methodId: "bank", actor: payer, now: panel.clock.now };
  const payment = (PARAMETERS["payment"] = askPayment(panel, asked));
  const data = Buffer.from("%PDF-1.7").toString("base64");
  const file = { type: "application/pdf", bytes: 8, sha256: "0".repeat(64), data } as const;
  panel.run("claimPayment", {
    id: payment,
    reference: "r",
    file,
    isClaimed: true,
    actor: payer,
  });
  const target = { url: "http://10.1.2.3/" };
  PARAMETERS["endpoint"] = panel.run("createAlertEndpoint", { target, secret: "s" }).id;
  const { account } = panel.read((reader) => findUser(reader, "alice")!);
  panel.run("placeOrder", {
    resellerAccount: account,
    keyId: PARAMETERS["key"],
    service: "followers",
    link: "https://example.com/a",
    quantity: 100,
    reference: null,
  });
});
afterAll(() => panel.stop());

/** Written by the server itself meanwhile. */
const OWN: readonly AnyTable[] = [servers, uptime];
const everything = () =>
  TABLES.filter((table) => !OWN.includes(table))
    .map((table) => dumpOf(panel, table))
    .join("\n");

/** Fields that most forms have. */
const FIELDS = {
  name: "other",
  session: "x",
  amount: "1",
  note: "n",
  role: "support",
  username: "alice",
};

async function post(path: string, headers: Record<string, string>): Promise<Reply> {
  const body = new URLSearchParams(FIELDS);
  return panel.ask(pathOf(path), { method: "POST", body, headers });
}

async function refused(path: string, headers: Record<string, string>): Promise<Reply> {
  const before = everything();
  const reply = await post(path, headers);
  expect(everything()).toBe(before);
  return reply;
}

const own = () => ({ origin: panel.url });
const isTurnedAway = ({ status, headers }: Reply) =>
  status === 403 || (status === 303 && headers.get("location") === "/sign-in");

describe.each(ACTIONS.map((route) => [route.path, route] as const))("POST %s", (path, { role }) => {
  test("from another site changes nothing", async () => {
    const cookie = cookies["owner"]!;
    const foreign: Record<string, string>[] = [
      { "sec-fetch-site": "cross-site", origin: panel.url },
      { "sec-fetch-site": "same-site", origin: panel.url },
      { origin: "https://evil.example" },
      { origin: "null" },
      {},
    ];
    for (const headers of foreign) {
      expect((await refused(path, { cookie, ...headers })).status).toBe(403);
    }
  });

  if (role === "anyone") {
    test("is not read beyond 16 KiB, however its length is sent", async () => {
      const before = everything();
      const long = new URLSearchParams({ ...FIELDS, password: "x".repeat(17_000) }).toString();
      const type = { "content-type": "application/x-www-form-urlencoded" };
      for (const body of [long, new Blob([long]).stream()]) {
        const init = { method: "POST", body, headers: { ...own(), ...type } };
        expect((await panel.ask(pathOf(path), init)).status).toBe(413);
      }
      expect(everything()).toBe(before);
    });
    return;
  }

  test("without a session, or with one that has expired, leads to sign-in and changes nothing", async () => {
    const cookie = cookies["owner"]!;
    const [pair, secret] = cookie.split(".") as [string, string];
    const others = [
      "",
      `${pair}.${"A".repeat(secret.length)}`,
      `reseller=nobody.${secret}`,
      "reseller=.",
    ];
    for (const other of others) {
      const { status, headers } = await refused(path, { ...own(), cookie: other });
      expect([status, headers.get("location")]).toEqual([303, "/sign-in"]);
    }
    const { now } = panel.clock;
    for (const later of [SESSION_IDLE_MS + 1000, SESSION_MOST_MS + 1000]) {
      // The use of a session is recorded by the clock of the machine.
      panel.clock.now = Date.now() + later;
      const { headers } = await refused(path, { ...own(), cookie });
      expect(headers.get("location")).toBe("/sign-in");
    }
    panel.clock.now = now;
  });

  test("with too low a role changes nothing", async () => {
    for (const lower of ROLES.slice(0, ROLES.indexOf(role))) {
      const { status } = await refused(path, { ...own(), cookie: cookies[lower]! });
      expect(status).toBe(403);
    }
  });
});

test("each of these succeeds with the least role and the panel's own origin: the guards are what refuses", async () => {
  for (const { path, role } of ACTIONS) {
    if (role === "anyone") continue;
    panel.administrator(
      `b-${role}-${path.length}-${ACTIONS.findIndex((each) => each.path === path)}`.slice(0, 32),
      role,
    );
    const name =
      `b-${role}-${path.length}-${ACTIONS.findIndex((each) => each.path === path)}`.slice(0, 32);
    const reply = await post(path, { ...own(), cookie: panel.session(name) });
    expect([path, isTurnedAway(reply)]).toEqual([path, false]);
  }
});

test("every action names a page with its form, and every page answers who may see it", async () => {
  for (const { back } of ACTIONS) expect(pageAt(ROUTES, back).method).toBe("GET");
  for (const route of ROUTES) {
    if (route.method !== "GET" || route.path.includes(":")) continue;
    const role = route.role === "anyone" ? "support" : route.role;
    const { status } = await panel.ask(route.path, { headers: { cookie: cookies[role]! } });
    expect([route.path, [200, 303].includes(status)]).toEqual([route.path, true]);
  }
});

test("an action's address leads to the page with its form, when it is asked for as a page", async () => {
  for (const { path, back } of ACTIONS) {
    if (ROUTES.some((route) => route.method === "GET" && route.path === path)) continue;
    const { status, headers } = await panel.ask(pathOf(path));
    expect([path, status, headers.get("location")]).toEqual([path, 303, pathOf(back)]);
  }
});

test("a page is shown only to its role and higher roles", async () => {
  for (const route of ROUTES) {
    if (route.method !== "GET" || route.role === "anyone") continue;
    for (const lower of ROLES.slice(0, ROLES.indexOf(route.role))) {
      const { status } = await panel.ask(pathOf(route.path), {
        headers: { cookie: cookies[lower]! },
      });
      expect([route.path, status]).toEqual([route.path, 403]);
    }
    const { status, headers } = await panel.ask(pathOf(route.path));
    expect([status, headers.get("location")!.startsWith("/sign-in")]).toEqual([303, true]);
  }
});

test("every response has every header", async () => {
  const paths = [
    ...ROUTES.filter(({ method }) => method === "GET").map(({ path }) => pathOf(path)),
    "/nowhere",
  ];
  for (const path of paths) {
    const { headers } = await panel.get(path);
    expect([path, headers.get("content-security-policy")]).toEqual([
      path,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ]);
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("strict-transport-security")).toBe(null);
  }
});

test("no page has a script or a style in it", async () => {
  for (const route of ROUTES) {
    if (route.method !== "GET") continue;
    const { text } = await panel.get(pathOf(route.path));
    expect(text.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:/gi)).toBe(
      null,
    );
  }
});

test("HEAD gets the response of GET without the body, for pages, files and 404", async () => {
  const cookie = cookies["owner"]!;
  const paths = [
    ...ROUTES.filter(({ method }) => method === "GET").map(({ path }) => pathOf(path)),
    ...ASSETS.map(({ path }) => path),
    "/nowhere",
  ];
  for (const path of paths) {
    const get = await panel.ask(path, { headers: { cookie } });
    const head = await panel.ask(path, { method: "HEAD", headers: { cookie } });
    const told = ({ status, headers }: Reply) => {
      // What is shown may be counted meanwhile.
      const { date: _, "content-length": length, ...others } = Object.fromEntries(headers);
      return { path, status, ...others, hasLength: length !== undefined };
    };
    expect(told(head)).toEqual(told(get));
    expect(head.text).toBe("");
  }
  const { status } = await panel.ask("/audit", { method: "PURGE", headers: { cookie } });
  expect(status).toBe(404);
});

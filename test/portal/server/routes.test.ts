// Every route of the portal's table, whoever adds it, on the live and on the test side: roles × pages × forms ×
// resellers. Who may not, sees and changes nothing.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { servers, uptime } from "../../../src/db/tables/database.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { accountOfOrders, findUser } from "../../../src/db/users/users.ts";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import { memberAuthor, MEMBER_ROLES, mayMember } from "../../../src/domain/members/members.ts";
import type { ActionRoute, PageRoute } from "../../../src/portal/server/route.ts";
import { LIVE_PATHS, ROUTES } from "../../../src/portal/server/routes.ts";
import { TEST_SIDE } from "../../../src/portal/server/visitor.ts";
import { ASSETS } from "../../../src/web/server/assets.ts";
import { pageAt } from "../../../src/web/server/site.ts";
import { seedInvoice } from "../../support/seeds/invoices.ts";
import { mailTo } from "../../support/seeds/mails.ts";
import { askPayment, seedMethod } from "../../support/seeds/payments.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { openPortal, type Reply, type TestPortal } from "../../support/worlds/portal.ts";

const SIDES = ["", TEST_SIDE];
/** What stands for the parameters of a path: objects of alice, by side. Each is none of bob's. */
const OWN: Record<string, Record<string, string>> = {};
/** Parameters that name something that all resellers see, or that permit by themselves what a route does. */
const SHARED: ReadonlySet<string> = new Set(["service", "kind", "month", "mail"]);

const ACTIONS = ROUTES.filter((route): route is ActionRoute => route.method === "POST");
const PAGES = ROUTES.filter((route): route is PageRoute => route.method === "GET");
/** Payments are only on the live side. */
const isOn = (side: string, path: string) => side === "" || !LIVE_PATHS.has(path);
const pagesOf = (side: string) => PAGES.filter(({ path }) => isOn(side, path));
const pathOf = (path: string, side = "") =>
  side +
  path.replace(/:(\w+)/g, (_, name: string) => {
    const value = OWN[side]![name];
    if (value === undefined) throw new Error(`add a value for the parameter :${name} to OWN`);
    return value;
  });
const isOwned = (path: string) =>
  [...path.matchAll(/:(\w+)/g)].some(([, name]) => !SHARED.has(name!));

const PREFIX = "/portal";
let portal: TestPortal;
/** Cookies of alice's members by role, of the members by language, and of bob's owner. */
const cookies: Record<string, string> = {};

beforeAll(async () => {
  portal = await openPortal({ prefix: PREFIX, settings: { registration: "open" } });
  portal.user("alice", "100");
  portal.user("bob", "100");
  portal.service({ id: "followers", cancel: true, refill: true });
  for (const role of MEMBER_ROLES) {
    cookies[role] = portal.session(portal.member("alice", `${role}@alice.example`, role));
  }
  for (const language of LANGUAGES) {
    const email = `${language.toLowerCase()}@alice.example`;
    cookies[language] = portal.session(portal.member("alice", email, "owner", language));
  }
  cookies["bob"] = portal.session(portal.member("bob", "owner@bob.example"));
  const { account } = portal.read((reader) => findUser(reader, "alice")!);
  portal.run("setMailSettings", { active: true, operator: null });
  const shared = {
    service: "1",
    kind: "cancel",
    member: portal.member("alice", "colleague@alice.example", "viewer"),
    mail: mailTo(portal, portal.member("alice", "reader@alice.example", "viewer")),
    user: "alice",
    month: new Date(portal.clock.now).toISOString().slice(0, 7),
  };
  portal.key("bob", "order", "all", true);
  const invoice = seedInvoice(portal, "alice");
  const payer = { keyId: null, operator: memberAuthor(shared.member) };
  portal.run("setMemberRole", { id: shared.member, role: "owner" });
  seedMethod(portal, "bank", "manual");
  const asked = { methodId: "bank", actor: payer, now: portal.clock.now };
  const payment = askPayment(portal, asked);
  portal.run("setMemberRole", { id: shared.member, role: "viewer" });
  for (const side of SIDES) {
    const { id: keyId } = portal.key("alice", "order", "all", side === TEST_SIDE);
    const of = portal.read((reader) => accountOfOrders(reader, account, side === TEST_SIDE));
    const { orderId } = portal.run("placeOrder", {
      resellerAccount: of,
      keyId,
      service: "followers",
      link: "https://example.com/a",
      quantity: 100,
      reference: null,
    });
    const hook = { username: null, url: "https://hooks.example/", events: "*", secret: "s" };
    const actor = { keyId, operator: null };
    const { id: webhook } = portal.run("createWebhook", { ...hook, balanceLowBelow: null, actor });
    OWN[side] = { ...shared, payment, invoice, order: String(orderId), key: keyId, webhook };
  }
});
afterAll(() => portal.stop());

/** Written by the server itself meanwhile. */
const BY_SERVER: readonly AnyTable[] = [servers, uptime];
const everything = () =>
  TABLES.filter((table) => !BY_SERVER.includes(table))
    .map((table) => dumpOf(portal, table))
    .join("\n");

/** Fields that most forms have. */
const FIELDS = {
  name: "Other",
  email: "other@alice.example",
  session: "x",
  role: "viewer",
  language: "es",
  timeZone: "UTC",
  link: "https://example.com/b",
  quantity: "100",
  label: "Other",
  url: "https://other.example/",
};

const own = () => ({ origin: portal.url });
async function refused(path: string, headers: Record<string, string>): Promise<Reply> {
  const before = everything();
  const reply = await portal.ask(path, {
    method: "POST",
    body: new URLSearchParams(FIELDS),
    headers,
  });
  expect(everything()).toBe(before);
  return reply;
}

const SIGN_IN = `${PREFIX}/sign-in`;

/** Actions on both sides; those that need no session are only on the live one. */
const SIDED = ACTIONS.flatMap((route) =>
  (route.role === "anyone" ? [""] : SIDES)
    .filter((side) => isOn(side, route.path))
    .map((side) => [side, route.path, route] as const),
);

test("only what the path itself permits is taken from other sites", () => {
  const open = ACTIONS.filter(({ isForAll }) => isForAll).map(({ path }) => path);
  expect(open).toEqual(["/unsubscribe/:mail"]);
});

describe.each(SIDED)("POST %s%s", (side, path, { role, isForAll }) => {
  if (!isForAll) {
    test("from another site changes nothing", async () => {
      const cookie = cookies["owner"]!;
      const foreign: Record<string, string>[] = [
        { "sec-fetch-site": "cross-site", origin: portal.url },
        { "sec-fetch-site": "same-site", origin: portal.url },
        { origin: "https://evil.example" },
        { origin: "null" },
        {},
      ];
      for (const headers of foreign) {
        expect((await refused(pathOf(path, side), { cookie, ...headers })).status).toBe(403);
      }
    });
  }

  if (role === "anyone") {
    test("is not read beyond 16 KiB", async () => {
      const before = everything();
      const body = new URLSearchParams({ ...FIELDS, password: "x".repeat(17_000) });
      const init = { method: "POST", body, headers: own() };
      expect((await portal.ask(pathOf(path, side), init)).status).toBe(413);
      expect(everything()).toBe(before);
    });
    return;
  }

  test("without a session leads to sign-in and changes nothing", async () => {
    const [pair, secret] = cookies["owner"]!.split(".") as [string, string];
    const others = ["", `${pair}.${"A".repeat(secret.length)}`, `reseller-portal=nobody.${secret}`];
    for (const cookie of others) {
      const { status, headers } = await refused(pathOf(path, side), { ...own(), cookie });
      expect([status, headers.get("location")]).toEqual([303, SIGN_IN]);
    }
  });

  test("with a role that does not allow it changes nothing", async () => {
    for (const each of MEMBER_ROLES.filter((member) => !mayMember(member, role))) {
      const { status } = await refused(pathOf(path, side), { ...own(), cookie: cookies[each]! });
      expect([each, status]).toEqual([each, 403]);
    }
  });

  if (isOwned(path)) {
    test("of another reseller is refused like of none, and changes nothing", async () => {
      const headers = { ...own(), cookie: cookies["bob"]! };
      const reply = await refused(pathOf(path, side), headers);
      const none = side + path.replace(/:(\w+)/g, "999999");
      const body = new URLSearchParams(FIELDS);
      const missing = await portal.ask(none, { method: "POST", body, headers });
      // 422: the page with the form is about something else, and is shown again.
      expect([404, 422]).toContain(reply.status);
      expect([reply.status, reply.text]).toEqual([missing.status, missing.text]);
    });
  }
});

test.each(SIDES)(
  "%s: a page is shown to the roles that may see it, and to no other",
  async (side) => {
    for (const { path, role } of pagesOf(side)) {
      if (role === "anyone") continue;
      for (const each of MEMBER_ROLES) {
        const { status } = await portal.get(pathOf(path, side), cookies[each]!);
        const expected = mayMember(each, role);
        expect([path, each, status === 403]).toEqual([path, each, !expected]);
        if (expected) expect([path, each, status]).toEqual([path, each, 200]);
      }
      const { status, headers } = await portal.ask(pathOf(path, side));
      expect([path, status, headers.get("location")!.startsWith(SIGN_IN)]).toEqual([
        path,
        303,
        true,
      ]);
    }
  },
);

test.each(SIDES)(
  "%s: a page about something of another reseller is the same 404 as about nothing",
  async (side) => {
    for (const { path } of pagesOf(side).filter((route) => isOwned(route.path))) {
      const { status, text } = await portal.get(pathOf(path, side), cookies["bob"]!);
      const none = await portal.get(side + path.replace(/:(\w+)/g, "999999"), cookies["bob"]!);
      expect([path, status, text]).toEqual([path, 404, none.text]);
    }
  },
);

test.each(SIDES)("%s: no page of another reseller names anything of alice", async (side) => {
  for (const { path, role } of pagesOf(side)) {
    if (role === "anyone" || isOwned(path)) continue;
    const { text } = await portal.get(pathOf(path, side), cookies["bob"]!);
    expect([path, text.match(/alice|example\.com\/a/)]).toEqual([path, null]);
  }
});

test("nothing is open to a member who is disabled, or whose reseller or portal is off", async () => {
  const id = portal.member("bob", "gone@bob.example");
  const switches: [() => void, () => void][] = [
    [
      () => portal.run("setUserActive", { username: "bob", active: false }),
      () => portal.run("setUserActive", { username: "bob", active: true }),
    ],
    [
      () => portal.run("setPortal", { username: "bob", changes: { active: false } }),
      () => portal.run("setPortal", { username: "bob", changes: { active: true } }),
    ],
    [() => portal.run("setMemberActive", { id, active: false }), () => {}],
  ];
  for (const [off, on] of switches) {
    const cookie = portal.session(id);
    expect((await portal.get("/", cookie)).status).toBe(200);
    off();
    for (const { path, role } of PAGES) {
      if (role === "anyone") continue;
      const { status, headers } = await portal.get(pathOf(path), cookie);
      expect([status, headers.get("location")!.startsWith(SIGN_IN)]).toEqual([303, true]);
    }
    on();
  }
});

test("every action names a page with its form", () => {
  for (const { back } of ACTIONS) expect(pageAt(ROUTES, back).method).toBe("GET");
});

test.each(SIDES)(
  "%s: every path in a page is below the prefix, in every language, and the page names its language",
  async (side) => {
    for (const language of LANGUAGES) {
      for (const { path, role } of pagesOf(side)) {
        if (role === "anyone" && side !== "") continue;
        const headers =
          role === "anyone"
            ? { cookie: `reseller-portal-language=${language}` }
            : { cookie: cookies[language]! };
        const { status, text } = await portal.ask(pathOf(path, side), { headers });
        // The page for a code leads to sign-in before there was a password.
        if (path === "/sign-in/code" || path.endsWith(".csv")) continue;
        expect([path, status]).toEqual([path, 200]);
        expect(text).toStartWith(`<!doctype html><html lang="${language}">`);
        const paths = [...text.matchAll(/\s(?:href|src|action)="(\/[^"]*)"/g)].map(([, to]) => to!);
        expect(paths.filter((to) => !to.startsWith(`${PREFIX}/`))).toEqual([]);
        expect([path, language, text.includes("undefined")]).toEqual([path, language, false]);
      }
    }
  },
);

test.each(SIDES)("%s: every response has every header", async (side) => {
  for (const path of [...pagesOf(side).map((route) => pathOf(route.path, side)), "/nowhere"]) {
    const { headers } = await portal.get(path, cookies["owner"]!);
    expect([path, headers.get("content-security-policy")]).toEqual([
      path,
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ]);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test.each(SIDES)("%s: no page has a script or a style in it", async (side) => {
  for (const { path } of pagesOf(side)) {
    const { text } = await portal.get(pathOf(path, side), cookies["owner"]!);
    expect(text.match(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=|javascript:/gi)).toBe(
      null,
    );
  }
});

test.each(SIDES)("%s: HEAD gets the response of GET without the body", async (side) => {
  const cookie = cookies["owner"]!;
  for (const path of [
    ...pagesOf(side).map((route) => pathOf(route.path, side)),
    ASSETS[0]!.path,
    "/nowhere",
  ]) {
    const get = await portal.get(path, cookie);
    const head = await portal.ask(path, { method: "HEAD", headers: { cookie } });
    expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
  }
});

// Signing in to the portal, invitations, links to new passwords, registration, and sessions.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  findMemberByEmail,
  listInvitedByEmail,
  listMembersOf,
} from "../../../src/db/members/members.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { parseNetwork } from "../../../src/config/networks.ts";
import { codeOf, stepAt } from "../../../src/domain/sign-ins/second-factor.ts";
import { lifetimesOf } from "../../../src/domain/sign-ins/sign-ins.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { openPortal, PASSWORD, type Reply, type TestPortal } from "../../support/worlds/portal.ts";

let portal: TestPortal;
let ann = "";
beforeEach(async () => {
  portal = await openPortal({
    settings: { registration: "open" },
    trustedProxy: [parseNetwork("127.0.0.1/32")!],
  });
  portal.user("alice", "100");
  ann = portal.member("alice", "ann@alice.example");
});
afterEach(() => portal.stop());

const NEW = "four words are enough";
const cookieOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .map((each) => each.split(";")[0]!)
    .find((each) => /^(__Host-)?reseller-portal=.{20}/.test(each)) ?? "";

function signIn(email: string, password = PASSWORD, from = "192.0.2.1"): Promise<Reply> {
  return portal.ask("/sign-in", {
    method: "POST",
    body: new URLSearchParams({ email, password }),
    headers: { origin: portal.url, "x-forwarded-for": from },
  });
}

test("a member signs in by address, whatever its case, and the cookie is the portal's own", async () => {
  const reply = await signIn("Ann@Alice.example");
  expect([reply.status, reply.headers.get("location")]).toEqual([303, "/"]);
  const [cookie] = reply.headers.getSetCookie();
  expect(cookie).toMatch(/^reseller-portal=[\w-]+\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await portal.get("/", cookieOf(reply))).status).toBe(200);
});

test("with TLS the cookie is limited to this host; below a prefix without TLS to that path", async () => {
  for (const [settings, prefix, wanted] of [
    [
      { isSecure: true, url: "https://shop.example" },
      "/portal",
      /^__Host-reseller-portal=.*; Secure; Path=\/; HttpOnly/,
    ],
    [{}, "/portal", /^reseller-portal=.*; Path=\/portal; HttpOnly/],
  ] as const) {
    const other = await openPortal({ settings, prefix });
    other.user("alice");
    other.member("alice", "ann@alice.example");
    const reply = await other.ask("/sign-in", {
      method: "POST",
      body: new URLSearchParams({ email: "ann@alice.example", password: PASSWORD }),
      headers: { "sec-fetch-site": "same-origin" },
    });
    expect(reply.headers.getSetCookie()[0]).toMatch(wanted);
    await other.stop();
  }
});

test("no answer tells whether an address is known", async () => {
  const known = await signIn("ann@alice.example", "wrong password", "192.0.2.2");
  const unknown = await signIn("eve@alice.example", "wrong password", "192.0.2.3");
  const masked = ({ text }: Reply) => text.replaceAll(/ann|eve/g, "X");
  expect([known.status, masked(known)]).toEqual([unknown.status, masked(unknown)]);
  const register = (email: string, from: string) =>
    portal.ask("/register", {
      method: "POST",
      body: new URLSearchParams({ name: "Eve", email, password: NEW }),
      headers: { origin: portal.url, "x-forwarded-for": from },
    });
  const taken = await register("ann@alice.example", "192.0.2.4");
  const fresh = await register("eve@new.example", "192.0.2.5");
  const told = ({ status, headers }: Reply) => [
    status,
    headers.get("location"),
    headers.getSetCookie(),
  ];
  expect(told(taken)).toEqual(told(fresh));
  // The known account stays as it is; the new one has a balance of 0.
  expect((await signIn("ann@alice.example", NEW, "192.0.2.6")).status).toBe(422);
  expect((await signIn("ann@alice.example", PASSWORD, "192.0.2.7")).status).toBe(303);
  expect((await signIn("eve@new.example", NEW, "192.0.2.8")).status).toBe(303);
  expect(portal.balance("eve@new.example")).toBe(0);
});

/** On PostgreSQL, a batch asks the database again for each of its tries. */
const [WRONG, BATCH] = ENGINE === "sqlite" ? [10_000, 500] : [300, 30];

test(`${WRONG} wrong passwords against one address never touch its member's session or next sign-in from home`, async () => {
  const home = await signIn("ann@alice.example");
  const cookie = cookieOf(home);
  const tryFrom = (network: string) => {
    const tried = { step: "password", name: "ann@alice.example", address: network } as const;
    const input = { site: "portal", ...tried, network, userAgent: "" };
    return { name: "beginSignIn" as const, input, ids: [] };
  };
  const networks = Array.from(
    { length: WRONG },
    (_, index) => `198.51.${index >> 8}.${index % 256}`,
  );
  for (let at = 0; at < networks.length; at += BATCH) {
    portal.batch(networks.slice(at, at + BATCH).map(tryFrom), Date.now());
  }
  // From one network, delays begin after a few.
  const many = portal.batch(Array(20).fill(tryFrom("198.51.0.1")), Date.now());
  expect(many.at(-1)).toMatchObject({ refused: "sign_in_limited" });
  expect((await portal.get("/orders", cookie)).status).toBe(200);
  const saved = await portal.post("/settings", cookie, {
    name: "Ann",
    email: "ann@alice.example",
    language: "en",
    timeZone: "Europe/Madrid",
  });
  expect(saved.status).toBe(303);
  expect((await signIn("ann@alice.example")).status).toBe(303);
});

describe("a link", () => {
  const setUp = (token: string, password = NEW) =>
    portal.ask("/set-up", {
      method: "POST",
      body: new URLSearchParams({ token, password }),
      headers: { origin: portal.url },
    });

  function invite(email: string): string {
    const invitation = { email, name: null, role: "buyer", language: "ru" } as const;
    const token = `token of ${email}`;
    portal.run("inviteMember", {
      username: "alice",
      ...invitation,
      invitationHash: hashSecret(token),
    });
    return token;
  }

  test("of an invitation works once, for 72 hours", async () => {
    const token = invite("bea@alice.example");
    const accepted = await setUp(token);
    expect(accepted.headers.get("location")).toBe("/");
    expect((await portal.get("/", cookieOf(accepted))).text).toContain('<html lang="ru">');
    expect((await setUp(token)).status).toBe(422);
    const late = invite("cem@alice.example");
    const hash = hashSecret(late);
    const after = Date.now() + lifetimesOf("portal").invitationMs + 1;
    expect(() =>
      portal.execute(
        "acceptInvitation",
        { site: "portal", invitationHash: hash, passwordHash: "x" },
        after,
      ),
    ).toThrow("invitation_invalid");
  });

  test("to a new password ends the sessions; until then the old password works", async () => {
    const cookie = cookieOf(await signIn("ann@alice.example"));
    const token = "a token";
    portal.run("resetMember", { id: ann, invitationHash: hashSecret(token) });
    expect((await signIn("ann@alice.example")).status).toBe(303);
    expect((await setUp(token)).headers.get("location")).toBe("/");
    expect((await portal.get("/", cookie)).headers.get("location")).toBe("/sign-in");
    expect((await signIn("ann@alice.example")).status).toBe(422);
    expect((await signIn("ann@alice.example", NEW)).status).toBe(303);
  });

  test.each([
    ["short", "Use at least 10 characters"],
    ["QWERTYUIOP", "one of the most common ones"],
  ])("takes no password such as %s", async (password, message) => {
    const token = invite("bea@alice.example");
    const reply = await setUp(token, password);
    expect([reply.status, reply.text.includes(message)]).toEqual([422, true]);
  });
});

test("a second factor asks for a code, and a recovery code works once", async () => {
  const cookie = cookieOf(await signIn("ann@alice.example"));
  await portal.post("/settings/second-factor/offer", cookie);
  const { offeredSecret } = portal.read((reader) =>
    findMemberByEmail(reader, "ann@alice.example"),
  )!;
  const code = codeOf(offeredSecret!, stepAt(portal.clock.now));
  const enabled = await portal.post("/settings/second-factor/enable", cookie, { code });
  const codes = /<pre id="codes">([^<]*)/.exec(enabled.text)![1]!.split("\n");
  expect(codes).toHaveLength(10);
  const first = await signIn("ann@alice.example");
  expect(first.headers.get("location")).toBe("/sign-in/code?next=%2F");
  const awaiting = cookieOf(first);
  expect((await portal.get("/", awaiting)).headers.get("location")).toBe("/sign-in/code");
  const passed = await portal.post("/sign-in/code", awaiting, { code: codes[0]! });
  expect((await portal.get("/", cookieOf(passed))).status).toBe(200);
  const second = cookieOf(await signIn("ann@alice.example"));
  expect((await portal.post("/sign-in/code", second, { code: codes[0]! })).status).toBe(422);
});

test("where the operator requires a second factor, nothing else is open before it is set up", async () => {
  const strict = await openPortal({ settings: { needsSecondFactor: true } });
  strict.user("alice");
  const cookie = strict.session(strict.member("alice", "ann@alice.example"));
  expect((await strict.get("/orders", cookie)).headers.get("location")).toBe(
    "/settings/second-factor",
  );
  expect((await strict.get("/settings/second-factor", cookie)).status).toBe(200);
  await strict.stop();
});

test("visitors who wait for approval are listed once, and get a reseller and an invitation", async () => {
  const waiting = await openPortal({ settings: { registration: "approve" } });
  for (const name of ["Eve", "Eve again"]) {
    const reply = await waiting.ask("/register", {
      method: "POST",
      body: new URLSearchParams({ name, email: "eve@new.example" }),
      headers: { origin: waiting.url },
    });
    expect(reply.status).toBe(303);
  }
  const rows = waiting.query<{ id: string; name: string }>("SELECT id, name FROM registrations");
  expect(rows.map(({ name }) => name)).toEqual(["Eve"]);
  waiting.run("approveRegistration", {
    id: rows[0]!.id,
    username: null,
    invitationHash: "0".repeat(64),
  });
  const { account } = waiting.read((reader) => findUser(reader, "eve@new.example"))!;
  const [member] = waiting.read((reader) => listMembersOf(reader, account));
  expect([member!.role, member!.passwordHash]).toEqual(["owner", null]);
  expect(waiting.query("SELECT * FROM registrations")).toEqual([]);
  await waiting.stop();
});

test("an owner invites, changes and disables members, but never the last owner", async () => {
  const cookie = cookieOf(await signIn("ann@alice.example"));
  const invited = await portal.post("/members", cookie, {
    email: "Bea@alice.example",
    role: "buyer",
  });
  expect(invited.text).toMatch(/\/set-up#[\w-]{43}</);
  const { id } = portal.read((reader) => listInvitedByEmail(reader, "bea@alice.example", 1))[0]!;
  expect((await portal.post(`/members/${id}/role`, cookie, { role: "viewer" })).status).toBe(303);
  expect((await portal.post(`/members/${id}/disable`, cookie)).status).toBe(303);
  const self = await portal.post(`/members/${ann}/disable`, cookie);
  expect([self.status, self.text.includes("This is the last owner")]).toEqual([422, true]);
});

test("another language shows the same page of the portal, and no other address", async () => {
  const choose = async (referer: string | null) => {
    const headers = { origin: portal.url, ...(referer !== null && { referer }) };
    const body = new URLSearchParams({ language: "tr" });
    const reply = await portal.ask("/language", { method: "POST", body, headers });
    expect([reply.status, reply.headers.getSetCookie()[0]!.includes("=tr;")]).toEqual([303, true]);
    return reply.headers.get("location");
  };
  for (const page of ["/set-up", "/register", "/forgotten", "/sign-in?next=%2Forders"]) {
    expect(await choose(portal.url + page)).toBe(page);
  }
  const others = [null, "", "no address", `${portal.url}/`, `${portal.url}//evil.example/x`];
  for (const referer of others) expect(await choose(referer)).toBe("/sign-in");
});

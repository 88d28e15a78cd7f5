// `panel …`: who may use the operator's panel.

import { beforeEach, expect, test } from "bun:test";
import {
  findAdministrator,
  PANEL_SIGN_INS,
} from "../../../src/db/administrators/administrators.ts";
import { INVITATION_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { PASSWORD_HASH } from "../../support/worlds/panel.ts";

let shop: Shop;
beforeEach(() => {
  shop = openShop();
});

const find = (name: string) => shop.read((reader) => findAdministrator(reader, name));
const tokenIn = (text: string) => /\/setup#([\w-]{43})$/m.exec(text)![1]!;

function accept(name: string): void {
  const { invitationHash } = find(name)!;
  shop.run("acceptInvitation", {
    site: "panel",
    invitationHash: invitationHash!,
    passwordHash: PASSWORD_HASH,
  });
}

function session(name: string): void {
  shop.run("openSession", {
    site: "panel",
    attempt: null,
    person: name,
    passwordHash: PASSWORD_HASH,
    session: { id: `${name}-session-0123456`, hash: "0".repeat(64), address: "::1", userAgent: "" },
  });
}

test("invite prints a link once, whose token the database has as a hash, for 30 minutes", async () => {
  const before = Date.now();
  const { code, stdout } = await shop.cli("panel", "invite", "alice");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:8081\/setup#[\w-]{43}$/m);
  const token = tokenIn(stdout);
  const found = find("alice")!;
  expect([found.role, found.passwordHash]).toEqual(["owner", null]);
  expect(found.invitationHash).toBe(hashSecret(token));
  expect(found.invitedUntil! - before).toBeGreaterThanOrEqual(INVITATION_MS);
  const { json } = await shop.cli(
    "panel", "invite", "bob", "--role", "support", "--panel-url", "https://panel.example", "--json",
  ); // prettier-ignore
  expect(json).toEqual({
    name: "bob",
    role: "support",
    link: expect.stringMatching(/^https:\/\/panel\.example\/setup#/),
    until: expect.any(String),
  });
  accept("alice");
  const again = await shop.cli("panel", "invite", "alice");
  expect([again.code, again.stderr]).toEqual([
    1,
    expect.stringContaining("an administrator has that name"),
  ]);
});

test("list says who is invited, has a second factor and is signed in", async () => {
  expect((await shop.cli("panel", "list", "--json")).json).toEqual([]);
  await shop.cli("panel", "invite", "alice");
  accept("alice");
  session("alice");
  await shop.cli("panel", "invite", "bob", "--role", "operator");
  const { json } = await shop.cli("panel", "list", "--json");
  expect(json).toEqual([
    { name: "alice", role: "owner", active: true, invited: false, secondFactor: false, signedInAt: expect.any(String), sessions: 1 },
    { name: "bob", role: "operator", active: true, invited: true, secondFactor: false, signedInAt: null, sessions: 0 },
  ]); // prettier-ignore
});

test("disable, enable, revoke and remove-second-factor change nothing else, end sessions and are audited", async () => {
  for (const name of ["alice", "bob"]) {
    await shop.cli("panel", "invite", name);
    accept(name);
    session(name);
  }
  const sessions = (name: string) =>
    shop.read((reader) => PANEL_SIGN_INS.listSessionsOf(reader, name)).length;
  expect((await shop.cli("panel", "revoke", "alice", "--json")).json).toEqual({
    name: "alice",
    ended: 1,
  });
  expect([sessions("alice"), sessions("bob")]).toEqual([0, 1]);
  expect((await shop.cli("panel", "disable", "bob", "--json")).json).toMatchObject({
    name: "bob",
    active: false,
  });
  expect(sessions("bob")).toBe(0);
  const last = await shop.cli("panel", "disable", "alice");
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining("the last active owner")]);
  expect((await shop.cli("panel", "enable", "bob", "--json")).json).toMatchObject({ active: true });
  const none = await shop.cli("panel", "remove-second-factor", "bob");
  expect([none.code, none.stderr]).toEqual([
    1,
    expect.stringContaining("there is no second factor"),
  ]);
  shop.query("UPDATE administrators SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE name = 'bob'");
  const removed = await shop.cli("panel", "remove-second-factor", "bob", "--json");
  expect(removed.json).toMatchObject({ name: "bob", secondFactor: false });
  const nobody = await shop.cli("panel", "disable", "nobody");
  expect([nobody.code, nobody.stderr]).toEqual([
    1,
    expect.stringContaining("administrator not found"),
  ]);
  const { json } = await shop.cli("admin", "audit", "list", "--limit", "4", "--json");
  expect(
    json.map(({ action, subject }: { action: string; subject: string }) => `${action} ${subject}`),
  ).toEqual([
    "administrator.second_factor bob",
    "administrator.enable bob",
    "administrator.disable bob",
    "administrator.revoke alice",
  ]);
});

test("role gives another role and ends the sessions, never that of the last owner", async () => {
  for (const name of ["alice", "bob"]) {
    await shop.cli("panel", "invite", name);
    accept(name);
    session(name);
  }
  const sessions = (name: string) =>
    shop.read((reader) => PANEL_SIGN_INS.listSessionsOf(reader, name)).length;
  const { json } = await shop.cli("panel", "role", "bob", "support", "--json");
  expect(json).toMatchObject({ name: "bob", role: "support" });
  expect([sessions("alice"), sessions("bob")]).toEqual([1, 0]);
  const last = await shop.cli("panel", "role", "alice", "operator");
  expect([last.code, last.stderr]).toEqual([1, expect.stringContaining("the last active owner")]);
  expect(find("alice")!.role).toBe("owner");
});

test.each([
  ["a role that does not exist", ["panel", "role", "alice", "king"]],
  ["a name with capitals", ["panel", "invite", "Alice"]],
  ["an unknown role", ["panel", "invite", "alice", "--role", "king"]],
  ["an address with a path", ["panel", "invite", "alice", "--panel-url", "https://a.example/x"]],
  ["a password that is not read from stdin", ["panel", "password", "alice"]],
])("%s is wrong usage", async (_, argv) => {
  const { code } = await shop.cli(...argv);
  expect(code).toBe(2);
  expect(find("alice")).toBeUndefined();
});

// Members, on both engines: who may change whom, what is audited, and what ends with a restore.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { findMember, PORTAL_SIGN_INS } from "../../../src/db/members/members.ts";
import { findUser } from "../../../src/db/users/users.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import {
  isMemberPassword,
  memberAuthor,
  memberOf,
  MEMBER_ROLES,
  type MemberRole,
  MEMBERS_EVER_LIMIT,
  MEMBERS_LIMIT,
  parseEmail,
} from "../../../src/domain/members/members.ts";
import { SESSIONS_LIMIT } from "../../../src/domain/sign-ins/sign-ins.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { sampledOnPostgres } from "../../support/databases/engine-samples.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;
beforeEach(() => {
  shop = openShop();
});
afterEach(() => shop.close());

let made = 0;
function member(role: MemberRole, username = "alice"): string {
  made += 1;
  const invitationHash = String(made).padStart(64, "0");
  const email = `m${made}@x.example`;
  const invitation = { email, name: null, role, language: "en", invitationHash } as const;
  const id = shop.run("inviteMember", { username, ...invitation });
  shop.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  return id;
}

function session(person: string): void {
  shop.run("openSession", {
    site: "portal",
    attempt: null,
    person,
    passwordHash: "p",
    session: { id: `${person}-session`, hash: "0".repeat(64), address: "::1", userAgent: "" },
  });
}

const actorOf = (id: string): Actor => ({ keyId: null, operator: memberAuthor(id) });
const sessionsOf = (id: string) =>
  shop.read((reader) => PORTAL_SIGN_INS.listSessionsOf(reader, id)).length;

/** What members ask for, and the roles that may. */
const ASKED: [string, readonly MemberRole[], (actor: Actor, other: string) => unknown][] = [
  ["invite", ["owner"], (actor) =>
    shop.run("inviteOwnMember", { email: "new@x.example", name: null, role: "viewer", language: "en", invitationHash: "f".repeat(64), actor })],
  ["role", ["owner"], (actor, id) => shop.run("setOwnMemberRole", { id, role: "buyer", actor })],
  ["disable", ["owner"], (actor, id) => shop.run("setOwnMemberActive", { id, active: false, actor })],
  ["password", ["owner"], (actor, id) => shop.run("resetOwnMember", { id, invitationHash: "e".repeat(64), actor })],
  ["profile", MEMBER_ROLES, (actor) => shop.run("updateMember", { changes: { name: "X" }, actor })],
  ["order", ["owner", "buyer"], (actor) =>
    shop.run("placeMemberOrder", {
      order: { service: "followers", link: "x", quantity: 10, reference: null },
      chargeMicros: null, claim: { key: "portal:t", requestHash: "a".repeat(64) }, actor })],
]; // prettier-ignore

describe.each(MEMBER_ROLES)("a member with the role %s", (role) => {
  test.each(sampledOnPostgres(ASKED, 3))(
    "%s: only the roles that may, and never in the name of nobody",
    (...row) => {
      const [, roles, ask] = row;
      const actor = actorOf(member(role));
      const other = member("viewer");
      const before = shop.dump();
      if (!roles.includes(role)) {
        expect(refusalCode(() => ask(actor, other))).toBe("member_not_allowed");
        expect(shop.dump()).toBe(before);
      } else ask(actor, other);
      const strangers: Actor[] = [
        { keyId: null, operator: "panel:olga" },
        { keyId: null, operator: memberAuthor("x".repeat(24)) },
        { keyId: null, operator: null },
      ];
      for (const stranger of strangers) {
        expect(refusalCode(() => ask(stranger, other))).toBe("member_not_allowed");
      }
    },
  );
});

test("a member of another reseller is like none", () => {
  const actor = actorOf(member("owner", "bob"));
  const id = member("viewer");
  for (const [name, , ask] of ASKED.slice(1, 4)) {
    expect([name, refusalCode(() => ask(actor, id))]).toEqual([name, "member_not_found"]);
  }
});

test("nobody acts for a reseller or a portal that is off", () => {
  const actor = actorOf(member("owner"));
  const change = () => shop.run("updateMember", { changes: { name: "Y" }, actor });
  shop.run("setPortal", { username: "alice", changes: { active: false } });
  expect(refusalCode(change)).toBe("portal_off");
  shop.run("setPortal", { username: "alice", changes: { active: true } });
  shop.run("setUserActive", { username: "alice", active: false });
  expect(refusalCode(change)).toBe("user_inactive");
  shop.run("setUserActive", { username: "alice", active: true });
  change();
});

test("sessions end with a role, with being disabled, and with a restore", () => {
  const id = member("buyer");
  const ends = [
    () => shop.run("setMemberRole", { id, role: "viewer" }),
    () => shop.run("revokeSessions", { site: "portal", person: id, session: null }),
    () =>
      shop.run("carryOver", {
        floors: {
          orders: 1,
          transfers: 1,
          audit: 1,
          services: 1,
          order_requests: 1,
          service_changes: 1,
        },
        endedKeys: [],
      }),
    () => shop.run("setMemberActive", { id, active: false }),
  ];
  for (const end of ends) {
    session(id);
    expect(sessionsOf(id)).toBe(1);
    end();
    expect(sessionsOf(id)).toBe(0);
  }
});

test("the audit log names members by id, and never has a secret", () => {
  const owner = member("owner");
  shop.run("setOwnMemberRole", { id: member("viewer"), role: "buyer", actor: actorOf(owner) });
  const entries = shop.read((reader) => listAuditEntries(reader, { limit: 10 }));
  expect(entries[0]).toMatchObject({
    action: "member.role",
    operator: memberAuthor(owner),
    username: "alice",
    before: { role: "viewer" },
    after: { role: "buyer" },
  });
  expect(memberOf(entries[0]!.operator)).toBe(owner);
  expect(JSON.stringify(entries)).not.toContain("0".repeat(60));
});

test("child users have no members, and a reseller has a limited number", () => {
  shop.user("child", "0", "alice");
  const invite = (username: string, index: number) =>
    shop.run("inviteMember", {
      username,
      email: `n${index}@y.example`,
      name: null,
      role: "viewer",
      language: "en",
      invitationHash: String(1e6 + index).padStart(64, "0"),
    });
  expect(refusalCode(() => invite("child", 1))).toBe("child_has_no_members");
  for (let index = 0; index < MEMBERS_LIMIT; index++) invite("alice", index);
  expect(refusalCode(() => invite("alice", MEMBERS_LIMIT))).toBe("members_limit");
  // Again to the same person is the same member.
  const id = invite("alice", 3);
  // Whoever is enabled or invited again counts too.
  const enable = (active: boolean) => shop.run("setMemberActive", { id, active });
  enable(false);
  invite("alice", MEMBERS_LIMIT);
  expect(refusalCode(() => enable(true))).toBe("members_limit");
  expect(refusalCode(() => invite("alice", 3))).toBe("members_limit");
});

test("disabling members makes no room for members without end", () => {
  const { account } = shop.read((reader) => findUser(reader, "alice"))!;
  shop.query(
    `WITH RECURSIVE numbered(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbered WHERE n < ${999 + MEMBERS_EVER_LIMIT})
      INSERT INTO members (id, account, email, name, role, language, time_zone, mails, active, created_at)
      SELECT 'aaaaaaaaaaaaaaaaaaaa' || n, ${account}, n || '@z.example', 'n', 'viewer', 'en', 'UTC', '', 0, 1
      FROM numbered`,
  );
  expect(refusalCode(() => member("viewer"))).toBe("members_limit");
});

test("a person has a limited number of sessions, and a password alone ends none that passed the code", () => {
  const person = member("owner");
  const open = (id: number, hasProvedCode: boolean) =>
    shop.run("openSession", {
      site: "portal",
      attempt: null,
      person,
      passwordHash: "p",
      session: {
        id: String(id).padStart(16, "x"),
        hash: "0".repeat(64),
        address: "::1",
        userAgent: "",
      },
      hasProvedCode,
    });
  for (let id = 0; id < SESSIONS_LIMIT + 5; id++) open(id, true);
  expect(sessionsOf(person)).toBe(SESSIONS_LIMIT);
  shop.query(`UPDATE members SET totp_secret = 'x' WHERE id = '${person}'`);
  for (let id = 100; id < 100 + SESSIONS_LIMIT + 5; id++) open(id, false);
  const sessions = shop.read((reader) => PORTAL_SIGN_INS.listSessionsOf(reader, person));
  expect(sessions.filter(({ awaitsCode }) => !awaitsCode)).toHaveLength(SESSIONS_LIMIT);
  expect(sessions.filter(({ awaitsCode }) => awaitsCode)).toHaveLength(SESSIONS_LIMIT);
});

test("whoever opens many sessions ends their own, and none that others have from elsewhere", () => {
  const person = member("buyer");
  let opened = 0;
  const open = (address: string) => {
    // At one moment, the session with the first id counts as used last.
    const id = String(9999 - ++opened).padStart(16, "s");
    const session = { id, hash: "0".repeat(64), address, userAgent: "" };
    shop.run("openSession", { site: "portal", attempt: null, person, passwordHash: "p", session });
    return id;
  };
  const others = Array.from({ length: 10 }, (_, number) => open(`192.0.2.${number}`));
  for (let times = 0; times < 3 * SESSIONS_LIMIT; times++) open(`198.51.100.${times % 3}`);
  const ids = () =>
    shop.read((reader) => PORTAL_SIGN_INS.listSessionsOf(reader, person)).map(({ id }) => id);
  expect(ids()).toHaveLength(SESSIONS_LIMIT);
  expect(ids()).toEqual(expect.arrayContaining(others));
  // One more of others takes the place of one of the many.
  const newcomer = open("203.0.113.1");
  expect(ids()).toEqual(expect.arrayContaining([...others, newcomer]));
  // From equally many addresses, the session used longest ago ends.
  for (let number = 0; number < SESSIONS_LIMIT; number++) open(`2001:db8::${number}`);
  expect(ids()).not.toContain(others[0]);
});

test("an address belongs to one member, whatever its case", () => {
  const id = member("owner");
  const { email } = shop.read((reader) => findMember(reader, id))!;
  const invitation = { name: null, role: "viewer", language: "en" } as const;
  const hash = "d".repeat(64);
  expect(
    refusalCode(() =>
      shop.run("inviteMember", {
        username: "bob",
        email: email.toUpperCase(),
        ...invitation,
        invitationHash: hash,
      }),
    ),
  ).toBe("member_email_taken");
  expect(shop.read((reader) => findUser(reader, "alice"))!.username).toBe("alice");
});

test.each([
  ["Ann@Example.com ", "ann@example.com"],
  ["ann", null],
  ["ann@localhost", null],
  ["a b@x.example", null],
  [`${"a".repeat(250)}@x.example`, null],
])("%p is read as the address %p", (typed, email) => {
  expect(parseEmail(typed)).toBe(email);
});

test.each([
  ["123456789", false],
  ["1234567890", true],
  ["x".repeat(1025), false],
  ["\ud800".repeat(10), false],
])("a password of that form: %p", (password, isOne) => {
  expect(isMemberPassword(password)).toBe(isOne);
});

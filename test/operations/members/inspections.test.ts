// Inspections ("View as"), on both engines: who may offer one, what ends one or its link, and what the audit log says.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import {
  findInspection,
  findOfferedInspection,
  listInspections,
  whyInspectionEnds,
} from "../../../src/db/members/inspections.ts";
import { authorOf, mayAct, ROLES } from "../../../src/domain/administrators/administrators.ts";
import {
  INSPECTION_LINK_MS,
  INSPECTION_MS,
  INSPECTOR,
  type InspectionCause,
} from "../../../src/domain/members/inspections.ts";
import { memberAuthor, MEMBER_ROLES } from "../../../src/domain/members/members.ts";
import { SESSION_IDLE_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;
beforeEach(() => {
  shop = openShop();
  administrator("ina");
});
afterEach(() => shop.close());

let made = 0;
const hash = () => String((made += 1)).padStart(64, "0");

/** An administrator with a session in the panel, by the name of both. */
function administrator(name: string, role: (typeof ROLES)[number] = "operator"): void {
  const invitationHash = hash();
  shop.run("inviteAdministrator", { name, role, invitationHash });
  shop.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: "p" });
  session(name);
}

const sessionOf = (name: string) => `session-of-${name}`.padEnd(16, "x");
function session(name: string): void {
  const opened = { id: sessionOf(name), hash: hash(), address: "::1", userAgent: "" };
  const person = { attempt: null, person: name, passwordHash: "p", session: opened };
  shop.run("openSession", { site: "panel", ...person });
}

const actorOf = (name: string) => ({ keyId: null, operator: authorOf(name) });

interface Offered {
  id: string;
  tokenHash: string;
}

function offer(changes: Record<string, unknown> = {}): Offered {
  const tokenHash = hash();
  const id = `inspection-${made}`.padEnd(16, "x");
  const link = { id, tokenHash, session: sessionOf("ina"), panelUrl: "https://panel.example" };
  const asked = { username: "alice", role: "owner", actor: actorOf("ina") } as const;
  shop.run("offerInspection", { ...asked, ...link, ...changes });
  // One that takes the place of another keeps its id.
  return shop.read((reader) => ({ ...findOfferedInspection(reader, tokenHash)!, tokenHash }));
}

function open({ tokenHash }: Offered): void {
  shop.run("openInspection", { tokenHash, hash: hash() });
}

const now = () => Date.now();
const whyEnds = (id: string, at = now()) =>
  shop.read((reader) => whyInspectionEnds(reader, findInspection(reader, id)!, at));
const entries = () =>
  shop
    .read((reader) => listAuditEntries(reader, { limit: 50 }))
    .filter(({ action }) => action.startsWith("inspection."))
    .map(({ action, operator, username, after }) => [action, operator, username, after?.["why"]]);
const count = () => shop.read(listInspections).length;

test("every administrator offers one in a live session of its own, and nobody else does", () => {
  const authors = [
    ...ROLES.map((role) => [authorOf(role), mayAct(role, INSPECTOR)] as const),
    [authorOf("gone"), false],
    [authorOf("nobody"), false],
    [memberAuthor("a".repeat(24)), false],
    ["reseller (root) as panel", false],
    [null, false],
  ] as const;
  for (const role of ROLES) administrator(role, role);
  administrator("gone", "owner");
  shop.run("setAdministratorActive", { name: "gone", active: false });
  for (const [operator, isAllowed] of authors) {
    const name = operator?.startsWith("panel:") ? operator.slice("panel:".length) : "ina";
    for (const its of [sessionOf(name), sessionOf("ina"), "session-of-nobody"]) {
      const isOwn = isAllowed && its === sessionOf(name);
      const ask = () => offer({ session: its, actor: { keyId: null, operator } });
      const isMember = operator?.startsWith("member:") ?? false;
      const expected = isOwn ? null : isMember ? "member_not_allowed" : "administrator_not_allowed";
      expect([operator, its, refusalCode(ask, isOwn ? undefined : shop)]).toEqual([
        operator,
        its,
        expected,
      ]);
    }
  }
});

test("none is offered of child users, of an inactive reseller, or of one whose portal is off", () => {
  shop.user("child", "0", "alice");
  expect(refusalCode(() => offer({ username: "child" }), shop)).toBe("child_has_no_members");
  expect(refusalCode(() => offer({ username: "nobody" }), shop)).toBe("user_not_found");
  shop.run("setPortal", { username: "alice", changes: { active: false } });
  expect(refusalCode(() => offer(), shop)).toBe("portal_off");
  shop.run("setUserActive", { username: "bob", active: false });
  expect(refusalCode(() => offer({ username: "bob" }), shop)).toBe("user_inactive");
});

test("none is offered in a session that awaits the code of the second factor", () => {
  shop.query("UPDATE administrators SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE name = 'ina'");
  shop.run("endSession", { site: "panel", id: sessionOf("ina") });
  session("ina");
  expect(refusalCode(() => offer(), shop)).toBe("administrator_not_allowed");
});

test.each(MEMBER_ROLES)("a link for the role %s opens once, and both ends are audited", (role) => {
  const offered = offer({ role });
  expect(entries()).toEqual([]);
  open(offered);
  expect(refusalCode(() => open(offered), shop)).toBe("invitation_invalid");
  expect(refusalCode(() => open({ ...offered, tokenHash: hash() }), shop)).toBe(
    "invitation_invalid",
  );
  expect(shop.read((reader) => findInspection(reader, offered.id))).toMatchObject({
    role,
    administrator: "ina",
    tokenHash: null,
  });
  shop.run("closeInspection", { id: offered.id });
  shop.run("closeInspection", { id: offered.id });
  expect(entries()).toEqual([
    ["inspection.end", "panel:ina", "alice", "closed"],
    ["inspection.begin", "panel:ina", "alice", undefined],
  ]);
  expect(count()).toBe(0);
});

test("another one of the same session takes its place", () => {
  const first = offer();
  open(first);
  open(offer({ username: "bob" }));
  expect(count()).toBe(1);
  expect(entries().map(([action, , user, why]) => [action, user, why])).toEqual([
    ["inspection.begin", "bob", undefined],
    ["inspection.end", "alice", "replaced by another"],
    ["inspection.begin", "alice", undefined],
  ]);
});

/** What ends an inspection and its link at once. */
const CAUSES: Record<string, { why: InspectionCause; happens: () => void }> = {
  "the administrator signs out of the panel": {
    why: "signed out of the panel",
    happens: () => shop.run("endSession", { site: "panel", id: sessionOf("ina") }),
  },
  "the sessions of the administrator are ended": {
    why: "signed out of the panel",
    happens: () => shop.run("revokeSessions", { site: "panel", person: "ina", session: null }),
  },
  "the administrator is disabled": {
    why: "signed out of the panel",
    happens: () => shop.run("setAdministratorActive", { name: "ina", active: false }),
  },
  "the administrator gets another role": {
    why: "signed out of the panel",
    happens: () => shop.run("setAdministratorRole", { name: "ina", role: "support" }),
  },
  "the administrator's password is changed": {
    why: "signed out of the panel",
    happens: () => shop.run("setPassword", { site: "panel", person: "ina", passwordHash: "q" }),
  },
  "the portal of the reseller is turned off": {
    why: "portal is off",
    happens: () => shop.run("setPortal", { username: "alice", changes: { active: false } }),
  },
  "the reseller is deactivated": {
    why: "portal is off",
    happens: () => shop.run("setUserActive", { username: "alice", active: false }),
  },
  "the database is restored": {
    why: "signed out of the panel",
    happens() {
      const floors = { orders: 1, transfers: 1, audit: 1, services: 1 };
      const others = { order_requests: 1, service_changes: 1 };
      shop.run("carryOver", { floors: { ...floors, ...others }, endedKeys: [] });
    },
  },
};

describe.each(Object.entries(CAUSES))("when %s", (_, { why, happens }) => {
  test("an inspection shows nothing from that moment, and its end is audited once", () => {
    const offered = offer();
    open(offered);
    expect(whyEnds(offered.id)).toBeNull();
    happens();
    expect(whyEnds(offered.id)).toBe(why);
    expect(shop.run("endInspections", null)).toBe(1);
    expect(shop.run("endInspections", null)).toBe(0);
    expect(entries()[0]).toEqual(["inspection.end", "panel:ina", "alice", why]);
    expect(count()).toBe(0);
  });

  test("a link that was not used opens nothing, and leaves no trace in the audit log", () => {
    const offered = offer();
    happens();
    expect(refusalCode(() => open(offered), shop)).toBe("invitation_invalid");
    shop.run("endInspections", null);
    expect([count(), entries()]).toEqual([0, []]);
  });
});

test("a link works for a minute, and an inspection ends after 30 minutes, not before", () => {
  const late = offer();
  const at = now();
  expect(whyEnds(late.id, at + INSPECTION_LINK_MS - 1000)).toBeNull();
  expect(whyEnds(late.id, at + INSPECTION_LINK_MS + 1000)).toBe("time is up");
  const opened = offer();
  open(opened);
  shop.run("noteSession", { site: "panel", id: sessionOf("ina") });
  expect(whyEnds(opened.id, now() + INSPECTION_MS - 5000)).toBeNull();
  expect(whyEnds(opened.id, now() + INSPECTION_MS + 1000)).toBe("time is up");
});

test("an inspection does not keep the administrator's session in the panel alive", () => {
  const offered = offer();
  open(offered);
  shop.query("UPDATE inspections SET opened_at = opened_at + 600000");
  expect(whyEnds(offered.id, now() + SESSION_IDLE_MS - 5000)).toBeNull();
  expect(whyEnds(offered.id, now() + SESSION_IDLE_MS + 1000)).toBe("signed out of the panel");
});

// Members in the panel: what an operator changes of a reseller's members and its portal, by the operations of
// `admin portal`.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import {
  findMember,
  listInvitedByEmail,
  findPortalSettings,
  PORTAL_SIGN_INS,
} from "../../../src/db/members/members.ts";
import { findUser } from "../../../src/db/users/users.ts";
import {
  memberAuthor,
  MEMBER_ROLES,
  type MemberRole,
} from "../../../src/domain/members/members.ts";
import type { ActionRoute } from "../../../src/panel/server/route.ts";
import { ROUTES } from "../../../src/panel/server/routes.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openPanel, PASSWORD_HASH, shownNote, type TestPanel } from "../../support/worlds/panel.ts";

let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  for (const name of ["alice", "bob"]) panel.user(name, "10");
});
afterAll(() => panel.stop());

let made = 0;
/** A member with a password, a second factor and a session. */
function member(username: string, role: MemberRole = "owner"): string {
  made += 1;
  const invitationHash = hashSecret(String(made));
  const invitation = { email: `m${made}@x.example`, name: `Member ${made}`, role } as const;
  const id = panel.run("inviteMember", { username, ...invitation, language: "en", invitationHash });
  panel.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: PASSWORD_HASH });
  const session = { id: `session-of-${id}`, hash: "0".repeat(64), address: "::1", userAgent: "" };
  const opened = { attempt: null, person: id, passwordHash: PASSWORD_HASH, session } as const;
  panel.run("openSession", { site: "portal", ...opened });
  panel.query("UPDATE members SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE id = ?", id);
  return id;
}

let id: string;
beforeEach(() => {
  panel.run("setPortal", { username: "alice", changes: { active: true } });
  id = member("alice");
});

const PATH = "/users/alice/members";
const found = (whose = id) => panel.read((reader) => findMember(reader, whose))!;
const sessions = () => panel.read((reader) => PORTAL_SIGN_INS.listSessionsOf(reader, id)).length;
const allowed = () =>
  panel.read((reader) => {
    const { account } = findUser(reader, "alice")!;
    return findPortalSettings(reader, account);
  });
const lastEntry = () => panel.read((reader) => listAuditEntries(reader, { limit: 1 }))[0]!;
const tokenIn = (html: string) =>
  /<pre id="link">https:\/\/shop\.example\/portal\/set-up#([\w-]{43})<\/pre>/.exec(html)![1]!;

interface Change {
  /** Prepares the change, and returns the path of its form. */
  form: () => string;
  fields?: Record<string, string>;
  isConfirmed: boolean;
  effect: () => void;
  action: string;
}

const CHANGES: Record<string, Change> = {
  "changes the address": {
    form: () => `${PATH}/${id}/email`,
    fields: { email: "Other@x.example" },
    isConfirmed: true,
    effect: () => expect(found().email).toBe("other@x.example"),
    action: "member.update",
  },
  "gives another role": {
    form: () => `${PATH}/${id}/role`,
    fields: { role: "viewer" },
    isConfirmed: true,
    effect: () => expect([found().role, sessions()]).toEqual(["viewer", 0]),
    action: "member.role",
  },
  disables: {
    form: () => `${PATH}/${id}/disable`,
    isConfirmed: true,
    effect: () => expect([found().active, sessions()]).toEqual([false, 0]),
    action: "member.disable",
  },
  "removes the second factor": {
    form: () => `${PATH}/${id}/second-factor`,
    isConfirmed: true,
    effect: () => expect([found().totpSecret, sessions()]).toEqual([null, 0]),
    action: "member.second_factor",
  },
  "ends sessions": {
    form: () => `${PATH}/${id}/sessions`,
    isConfirmed: false,
    effect: () => expect(sessions()).toBe(0),
    action: "member.revoke",
  },
  "turns the portal off": {
    form: () => "/users/alice/portal/off",
    isConfirmed: true,
    effect: () => expect(allowed().active).toBe(false),
    action: "user.portal",
  },
  "turns the portal on": {
    form() {
      panel.run("setPortal", { username: "alice", changes: { active: false } });
      return "/users/alice/portal/on";
    },
    isConfirmed: false,
    effect: () => expect(allowed().active).toBe(true),
    action: "user.portal",
  },
  "lets owners make keys that recharge": {
    form: () => "/users/alice/portal/keys",
    fields: { keys: "recharge" },
    isConfirmed: true,
    effect: () => expect(allowed().keys).toBe("recharge"),
    action: "user.portal",
  },
  "lets members make order keys only": {
    form() {
      panel.run("setPortal", { username: "alice", changes: { keys: "full" } });
      return "/users/alice/portal/keys";
    },
    fields: { keys: "order" },
    isConfirmed: false,
    effect: () => expect(allowed().keys).toBe("order"),
    action: "user.portal",
  },
};

describe.each(Object.entries(CHANGES))("the panel %s", (_, change) => {
  test("in the operator's name, as the command line does, and asks first where it must", async () => {
    const { form, fields = {}, isConfirmed, effect, action } = change;
    const path = form();
    const before = panel.fingerprint();
    const asked = await panel.post(path, fields);
    if (isConfirmed) {
      expect([asked.status, panel.fingerprint()]).toEqual([200, before]);
      const { status, note } = await panel.confirm(path, fields);
      expect([status, note.startsWith("good ")]).toEqual([303, true]);
    } else expect([asked.status, shownNote(asked).startsWith("good ")]).toEqual([303, true]);
    effect();
    expect(lastEntry()).toMatchObject({ action, operator: "panel:tester", username: "alice" });
  });
});

test("a disabled member is enabled, and a member without a password gets no link to one", async () => {
  panel.run("setMemberActive", { id, active: false });
  await panel.post(`${PATH}/${id}/enable`);
  expect(found().active).toBe(true);
  const invited = panel.run("inviteMember", {
    username: "alice",
    email: "new@x.example",
    name: null,
    role: "viewer",
    language: "en",
    invitationHash: "f".repeat(64),
  });
  const { asked, status } = await panel.confirm(`${PATH}/${invited}/password`, {});
  expect([asked.includes("Whoever has the link"), status]).toEqual([true, 422]);
});

test("a link to a new password is shown once, and the old password works until it is used", async () => {
  const form = `${PATH}/${id}/password`;
  const { text } = await panel.post(form);
  const confirmed = Object.fromEntries(
    [...text.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  );
  const shown = await panel.post(form, confirmed);
  expect(shown.status).toBe(200);
  expect(found().invitationHash).toBe(hashSecret(tokenIn(shown.text)));
  expect(found().passwordHash).toBe(PASSWORD_HASH);
  const again = await panel.post(form, confirmed);
  expect(again.text).not.toContain("set-up#");
  expect((await panel.get(PATH)).text).not.toContain("set-up#");
});

test.each(MEMBER_ROLES)("a new %s is invited by a link that the panel shows once", async (role) => {
  const email = `new-${role}@x.example`;
  const fields: Record<string, string> = {
    email: email.toUpperCase(),
    name: "",
    role,
    language: "tr",
  };
  let shown = await panel.post(PATH, fields);
  if (role === "owner") {
    const [, confirmed] = /name="confirmed" value="([^"]*)"/.exec(shown.text)!;
    const [, once] = /name="once" value="([^"]*)"/.exec(shown.text)!;
    shown = await panel.post(PATH, { ...fields, confirmed: confirmed!, once: once! });
  }
  const invited = panel.read((reader) => listInvitedByEmail(reader, email, 2))[0]!;
  expect(invited).toMatchObject({ role, language: "tr", passwordHash: null, name: email });
  expect(invited.invitationHash).toBe(hashSecret(tokenIn(shown.text)));
  const { text } = await panel.get(PATH);
  expect(text).toContain(email);
  expect(text).not.toContain(invited.invitationHash!);
});

test("where servers send e-mails, the panel sends links and shows none", async () => {
  panel.run("setMailSettings", { active: true, operator: null });
  const fields = { email: "mailed@x.example", name: "", role: "viewer", language: "tr" };
  const invited = await panel.post(PATH, fields);
  expect([invited.status, invited.headers.get("location")]).toEqual([303, PATH]);
  const { text } = await panel.get(PATH);
  expect(text).toContain("invitation not sent");
  const { status } = await panel.confirm(`${PATH}/${id}/password`, {});
  expect(status).toBe(303);
  const queued = panel.query<{ kind: string }>("SELECT kind FROM mails ORDER BY mail_id");
  expect(queued.map(({ kind }) => kind)).toEqual(["invitation", "password_reset"]);
  panel.run("setMailSettings", { active: false, operator: null });
});

const OF_MEMBER = ROUTES.filter(
  (route): route is ActionRoute => route.method === "POST" && route.path.includes(":member"),
);

test("no form for a member changes one of another reseller", async () => {
  expect(OF_MEMBER.length).toBeGreaterThan(4);
  const other = member("bob");
  for (const { path } of OF_MEMBER) {
    const before = panel.fingerprint();
    const form = path.replace(":user", "alice").replace(":member", other);
    const { status, text } = await panel.post(form, { role: "viewer", email: "new@x.example" });
    expect([path, status, text.includes("Member not found")]).toEqual([path, 422, true]);
    expect(panel.fingerprint()).toBe(before);
  }
});

test("the list finds members of all resellers by their name, address or reseller", async () => {
  const other = member("bob", "buyer");
  const { email, name } = found(other);
  for (const search of [email.toUpperCase(), name, "BOB"]) {
    const { text } = await panel.get(`/members?${new URLSearchParams({ search })}`);
    expect([search, text.includes(email), text.includes(found().email)]).toEqual([
      search,
      true,
      false,
    ]);
  }
  const { text } = await panel.get("/members?role=buyer&state=disabled");
  expect(text).toContain("No matching members.");
});

test("whoever has not come is invited again by a new link, and whoever has come is not", async () => {
  const invitation = { name: "Ivo", role: "viewer", language: "tr" } as const;
  const invited = { username: "alice", email: "ivo@x.example", ...invitation };
  const invitationHash = "4".repeat(64);
  const ivo = panel.run("inviteMember", { ...invited, invitationHash });
  expect((await panel.get(PATH)).text).toContain(`${PATH}/${ivo}/invite`);
  const { text } = await panel.post(`${PATH}/${ivo}/invite`);
  expect(found(ivo)).toMatchObject({ ...invitation, invitationHash: hashSecret(tokenIn(text)) });
  expect((await panel.post(`${PATH}/${id}/invite`)).status).toBe(422);
});

test("the operator sees that an invited address signs in elsewhere", async () => {
  const other = member("bob");
  const { email } = found(other);
  const actor = { keyId: null, operator: memberAuthor(id) };
  const invitation = { name: null, role: "viewer", language: "en", invitationHash: "5".repeat(64) } as const;
  const shown = async () => (await panel.get(PATH)).text.includes("address in use");
  panel.run("inviteOwnMember", { email: "free@x.example", ...invitation, actor });
  expect(await shown()).toBe(false);
  panel.run("inviteOwnMember", { email, ...invitation, invitationHash: "6".repeat(64), actor });
  expect(await shown()).toBe(true);
  const { text } = await panel.get(`/search?q=${encodeURIComponent(email)}`);
  expect([text.includes("of alice"), text.includes("of bob")]).toEqual([true, true]);
}); // prettier-ignore

test("a search in the list shows what was typed as text", async () => {
  const { text } = await panel.get("/members?search=%3Cb%3E");
  expect(text).not.toContain("<b>");
});

test("the list has pages: each member is on one of them, also those of one millisecond", async () => {
  panel.user("crowd", "0");
  const { account } = panel.read((reader) => findUser(reader, "crowd")!);
  // Of the 230, those from 95 to 104 were made at the same time: the end of the first page.
  panel.query(
    `WITH RECURSIVE numbered(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM numbered WHERE n < 1229)
      INSERT INTO members (id, account, email, name, role, language, time_zone, mails, active, created_at)
      SELECT 'aaaaaaaaaaaaaaaaaaaa' || n, ${account}, n || '@crowd.example', 'n', 'viewer', 'en', 'UTC', '', 1,
        CASE WHEN n BETWEEN 1095 AND 1104 THEN 5000 ELSE 6100 - n END
      FROM numbered`,
  );
  const shown: string[] = [];
  let path: string | undefined = "/members?search=crowd";
  const pages: number[] = [];
  while (path !== undefined) {
    const { text } = await panel.get(path);
    const found = [...text.matchAll(/>(\d+@crowd\.example)</g)].map(([, email]) => email!);
    shown.push(...found);
    pages.push(found.length);
    path = /<a href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  expect(pages).toEqual([105, 100, 25]);
  expect(shown.toSorted()).toEqual(Array.from({ length: 230 }, (_, n) => `${1000 + n}@crowd.example`));
}); // prettier-ignore

test("support reads members and views the portal as one, and sees no other form", async () => {
  panel.administrator("reader", "support");
  const headers = { cookie: panel.session("reader") };
  for (const path of [PATH, "/members", "/members/registrations", "/users/alice"]) {
    const { status, text } = await panel.ask(path, { headers });
    const forms = text.match(/<form method="post" action="[^"]*"/g);
    const expected = ["/sign-out", ...(path === PATH ? [`${PATH}/view`] : [])];
    const shown = expected.map((action) => `<form method="post" action="${action}"`);
    expect([path, status, forms?.map(String)]).toEqual([path, 200, shown]);
  }
});

test("an operator lets no owner in, and allows no keys, where that creates credit", async () => {
  panel.run("setPortal", { username: "alice", changes: { keys: "full" } });
  panel.administrator("worker", "operator");
  const headers = { cookie: panel.session("worker"), origin: panel.url };
  const send = (path: string, fields: Record<string, string>) =>
    panel.ask(path, { method: "POST", headers, body: new URLSearchParams(fields) });
  const tries: [string, Record<string, string>][] = [
    [PATH, { email: "me@x.example", role: "owner", language: "en" }],
    [`${PATH}/${id}/password`, {}],
    [`${PATH}/${id}/second-factor`, {}],
    [`${PATH}/${id}/enable`, {}],
    ["/users/alice/portal/keys", { keys: "recharge" }],
  ];
  for (const [path, fields] of tries) {
    const before = panel.fingerprint();
    let reply = await send(path, fields);
    const confirmed = /name="confirmed" value="([^"]*)"/.exec(reply.text)?.[1];
    const once = /name="once" value="([^"]*)"/.exec(reply.text)?.[1];
    const taken = confirmed === undefined ? before : null;
    if (taken === null) reply = await send(path, { ...fields, confirmed: confirmed!, once: once! });
    expect([path, reply.status, reply.text.includes("Only an owner may")]).toEqual([
      path,
      403,
      true,
    ]);
    expect(found()).toMatchObject({ invitationHash: null, totpSecret: "JBSWY3DPEHPK3PXP" });
    if (taken !== null) expect(panel.fingerprint()).toBe(taken);
  }
  expect(allowed().keys).toBe("full");
  panel.run("setPortal", { username: "alice", changes: { keys: "order" } });
});

test("pages of child users and of erased users say that they have no members", async () => {
  panel.user("kid", "0", "alice");
  expect((await panel.get("/users/kid/members")).text).toContain("Child users have no members");
  panel.user("old", "0");
  panel.run("setUserActive", { username: "old", active: false });
  const { username } = panel.run("eraseUser", { username: "old", reason: "asked" });
  expect((await panel.get(`/users/${username}/members`)).text).toContain("was erased");
  expect((await panel.get("/users/nobody/members")).status).toBe(404);
});

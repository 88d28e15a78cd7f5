// What the portal sends by e-mail: links to a new password, invitations, and links that open an account; and how kinds of
// e-mails are turned off by their links.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { listMails } from "../../../src/db/mails/mails.ts";
import {
  findMember,
  findMemberByEmail,
  listInvitedByEmail,
} from "../../../src/db/members/members.ts";
import {
  findRegistrationByEmail,
  listRegistrations,
} from "../../../src/db/members/registrations.ts";
import { LINK_PAUSE_MS, type MailKind } from "../../../src/domain/mails/mails.ts";
import { MAIL_CHOICES } from "../../../src/domain/members/members.ts";
import type { Member } from "../../../src/db/tables/members.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { openPortal, PASSWORD, type Reply, type TestPortal } from "../../support/worlds/portal.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";

const NEW = "four words are enough";
const DAY = 24 * 3_600_000;
let portal: TestPortal;
let ann = "";
beforeEach(async () => {
  portal = await openPortal({
    settings: { registration: "open" },
    trustedProxy: [parseNetwork("127.0.0.1/32")!],
  });
  portal.user("alice", "100");
  portal.run("setMailSettings", { active: true, operator: null });
  ann = portal.member("alice", "ann@alice.example");
});
afterEach(() => portal.stop());

/** Each visitor has a network of its own. */
let visitors = 0;
function send(path: string, fields: Record<string, string>, from = `198.51.${(visitors += 1)}.1`) {
  const headers = { origin: portal.url, "x-forwarded-for": from };
  return portal.ask(path, { method: "POST", body: new URLSearchParams(fields), headers });
}

const mails = () => portal.read((reader) => listMails(reader, 99, false));
const kinds = () => mails().map(({ kind }) => kind).toReversed(); // prettier-ignore
/** What a visitor sees of a reply. */
const seen = ({ status, headers, text }: Reply) => [
  status,
  headers.get("location"),
  headers.getSetCookie(),
  text,
];

/**
 * Takes the mail of a kind as a server that sends it, and returns the token of its link. The portal's clock says when a
 * mail is due: on PostgreSQL it differs from this machine's by up to half of the time that opening took.
 */
function tokenOf(kind: MailKind): string {
  const now = Math.max(Date.now(), ...mails().map(({ dueAt }) => dueAt ?? 0));
  const token = `token-of-${kind}`;
  const due = { server: "s", limit: 9, perHour: 99, hashes: [hashSecret(token)], known: [] };
  const taken = portal.execute("takeDueMails", due, now);
  expect(taken.map((each) => each.kind)).toEqual([kind]);
  expect(taken[0]!.linkHash).toBe(hashSecret(token));
  return token;
}

describe("a forgotten password", () => {
  test("is asked for by address, and the answer is the same whether it is known, disabled or invited", async () => {
    expect((await portal.ask("/forgotten")).text).toContain('action="/forgotten"');
    const off = portal.member("alice", "off@alice.example");
    portal.run("setMemberActive", { id: off, active: false });
    const invited = {
      email: "new@alice.example",
      name: null,
      role: "viewer",
      language: "en",
    } as const;
    portal.run("inviteMember", { username: "alice", ...invited, invitationHash: "9".repeat(64) });
    const asked = [
      "ann@alice.example",
      "eve@alice.example",
      "off@alice.example",
      "new@alice.example",
      "ANN@alice.example",
    ];
    const replies: unknown[] = [];
    for (const email of asked) replies.push(seen(await send("/forgotten", { email })));
    for (const reply of replies) expect(reply).toEqual(replies[0]);
    // One for the member who can use it, although it asked twice.
    expect(mails().map(({ kind, member }) => [kind, member])).toEqual([["password_reset", ann]]);
  });

  test("known and unknown addresses cost the same writes but for the mail, and networks are limited", async () => {
    const from = "203.0.113.7";
    const statuses: number[] = [];
    for (let each = 0; each < 12; each += 1) {
      statuses.push((await send("/forgotten", { email: `e${each}@x.example` }, from)).status);
    }
    expect(statuses.slice(0, 10)).toEqual(statuses.slice(0, 10).map(() => 303));
    expect(statuses.slice(10)).toEqual([429, 429]);
    expect((await send("/forgotten", { email: "ann@alice.example" }, from)).status).toBe(429);
    expect(mails()).toEqual([]);
    expect(portal.query("SELECT 1 FROM member_attempts").length).toBe(10);
  });

  test("the link sets a new password once; the old one works until then", async () => {
    await send("/forgotten", { email: "ann@alice.example" });
    const token = tokenOf("password_reset");
    const signIn = (password: string) => send("/sign-in", { email: "ann@alice.example", password });
    expect((await signIn(PASSWORD)).status).toBe(303);
    const set = () => send("/set-up", { token, password: NEW });
    expect((await set()).headers.get("location")).toBe("/");
    expect((await signIn(NEW)).status).toBe(303);
    expect((await signIn(PASSWORD)).status).toBe(422);
    expect((await set()).status).toBe(422);
  });

  test("another's asking ends no link that was sent just now", async () => {
    await send("/forgotten", { email: "ann@alice.example" });
    const token = tokenOf("password_reset");
    await send("/forgotten", { email: "ann@alice.example" });
    expect(kinds()).toEqual(["password_reset"]);
    expect((await send("/set-up", { token, password: NEW })).headers.get("location")).toBe("/");
  });

  test("where no server sends e-mails, the page says whom to ask", async () => {
    portal.run("setMailSettings", { active: false, operator: null });
    const { text } = await portal.ask("/forgotten");
    expect(text).toContain("help@nova.example");
    expect(text).not.toContain("<input");
    expect((await send("/forgotten", { email: "ann@alice.example" })).status).toBe(303);
    expect(mails()).toEqual([]);
  });
});

describe("open registration", () => {
  const EVE = { name: "Eve", email: "eve@new.example" };
  const find = (email: string) => portal.read((reader) => findMemberByEmail(reader, email));

  test("creates nothing before the link is opened, then an account that signs in", async () => {
    const users = portal.query("SELECT 1 FROM users").length;
    expect((await portal.ask("/register")).text).not.toContain('type="password"');
    await send("/register", EVE);
    expect(portal.query("SELECT 1 FROM users").length).toBe(users);
    expect(find(EVE.email)).toBeUndefined();
    const token = tokenOf("registration");
    const confirm = (password = NEW) => send("/register/confirm", { token, password });
    expect((await confirm("short")).status).toBe(422);
    const reply = await confirm();
    expect(reply.headers.get("location")).toBe("/");
    expect(find(EVE.email)).toMatchObject({ name: "Eve", role: "owner" });
    expect(portal.query("SELECT 1 FROM users").length).toBe(users + 1);
    expect(portal.query("SELECT 1 FROM registrations")).toEqual([]);
    expect((await send("/sign-in", { email: EVE.email, password: NEW })).status).toBe(303);
    // The link works once.
    expect((await confirm()).status).toBe(422);
  });

  test("answers the same for known addresses, whose owners get a mail that says so", async () => {
    const fresh = seen(await send("/register", EVE));
    const known = seen(await send("/register", { ...EVE, email: "ann@alice.example" }));
    const again = seen(await send("/register", EVE));
    expect([known, again]).toEqual([fresh, fresh]);
    expect(kinds()).toEqual(["registration", "registration_known"]);
    expect(find("ann@alice.example")!.id).toBe(ann);
  });

  test("a link that is too old, unknown, or of an address that got an account meanwhile opens nothing", async () => {
    await send("/register", EVE);
    const token = tokenOf("registration");
    const confirm = (given: string) => send("/register/confirm", { token: given, password: NEW });
    expect((await confirm("other")).status).toBe(422);
    portal.member("alice", EVE.email, "viewer");
    const before = portal.query("SELECT 1 FROM users").length;
    expect((await confirm(token)).status).toBe(422);
    expect(portal.query("SELECT 1 FROM users").length).toBe(before);
  });

  test("a link opens nothing once registration is off", async () => {
    await send("/register", EVE);
    const token = tokenOf("registration");
    const users = portal.query("SELECT 1 FROM users").length;
    portal.settings.registration = "off";
    expect((await send("/register/confirm", { token, password: NEW })).status).toBe(422);
    expect(portal.query("SELECT 1 FROM users").length).toBe(users);
    portal.settings.registration = "open";
    expect((await send("/register/confirm", { token, password: NEW })).status).toBe(303);
  });

  test("a visitor who did not open the link may ask again, and is forgotten after a day", async () => {
    await send("/register", EVE);
    const { id, createdAt } = portal.read((reader) => findRegistrationByEmail(reader, EVE.email)!);
    const now = createdAt + LINK_PAUSE_MS;
    const from = { address: "::1", network: "::1", userAgent: "" };
    portal.execute("askAccount", { ...EVE, name: "Eva", language: "tr", limit: 9, from }, now);
    expect(kinds()).toEqual(["registration", "registration"]);
    const found = portal.read((reader) => findRegistrationByEmail(reader, EVE.email)!);
    expect(found).toMatchObject({ id, name: "Eva", language: "tr" });
    expect(portal.execute("expireMails", { limit: 9 }, now + DAY - 1)).toBe(0);
    expect(portal.execute("expireMails", { limit: 9 }, now + DAY)).toBe(1);
    // What still waits for this visitor is dropped.
    const due = { server: "s", limit: 9, perHour: 99, hashes: ["7".repeat(64)], known: [] };
    expect(portal.execute("takeDueMails", due, now + DAY)).toEqual([]);
  });

  test("the operator's list of visitors shows only those who wait for a decision", async () => {
    await send("/register", EVE);
    portal.run("register", {
      name: "Bea",
      email: "bea@new.example",
      language: "en",
      limit: 9,
      from: VISITOR,
    });
    const rows = portal.query<{ email: string }>(
      "SELECT email FROM registrations WHERE confirm_until IS NULL",
    );
    expect(rows).toEqual([{ email: "bea@new.example" }]);
  });
});

describe("a request for an account", () => {
  const EVE = { name: "Eve", email: "eve@new.example" };
  const waiting = () => portal.read(listRegistrations).map(({ email }) => email);

  test("waits for the operator only once its address is proved, and opens nothing itself", async () => {
    portal.settings.registration = "approve";
    portal.run("setMailSettings", { active: true, operator: "ops@nova.example" });
    await send("/register", EVE);
    expect(waiting()).toEqual([]);
    const token = tokenOf("registration");
    const page = await portal.ask("/register/confirm");
    expect([page.status, page.text.includes('type="password"')]).toEqual([200, false]);
    const prove = () => send("/register/confirm", { token });
    expect((await prove()).headers.get("location")).toBe("/sign-in");
    expect(waiting()).toEqual([EVE.email]);
    expect(portal.read((reader) => findMemberByEmail(reader, EVE.email))).toBeUndefined();
    // The link works once, and asking again sends none. The operator is told once.
    expect((await prove()).status).toBe(422);
    await send("/register", EVE);
    expect(kinds()).toEqual(["registration", "registration_to_approve"]);
    expect(JSON.stringify(mails()[0])).not.toContain(EVE.email);
  });

  test("where too many wait, its link stays and works later", async () => {
    portal.settings.registration = "approve";
    await send("/register", EVE);
    const token = tokenOf("registration");
    portal.settings.registrationsWaiting = 0;
    expect((await send("/register/confirm", { token })).status).toBe(422);
    expect((await send("/register", { ...EVE, email: "fay@new.example" })).status).toBe(422);
    portal.settings.registrationsWaiting = 1;
    expect((await send("/register/confirm", { token })).status).toBe(303);
    expect(waiting()).toEqual([EVE.email]);
  });
});

describe("an owner", () => {
  test("invites a member and sends a new password by e-mail, and sees no link", async () => {
    const cookie = portal.session(ann);
    const invited = await portal.post("/members", cookie, {
      email: "bob@x.example",
      name: "",
      role: "buyer",
    });
    expect([invited.status, invited.headers.get("location")]).toEqual([303, "/members"]);
    const [bob] = portal.read((reader) => listInvitedByEmail(reader, "bob@x.example", 1));
    const token = tokenOf("invitation");
    expect((await send("/set-up", { token, password: NEW })).headers.get("location")).toBe("/");
    const reset = await portal.post(`/members/${bob!.id}/password`, cookie);
    expect([reset.status, reset.text]).toEqual([303, ""]);
    expect(kinds()).toEqual(["invitation", "password_reset"]);
  });
});

test("an owner invites again whoever has not come, and sees that the invitation has expired", async () => {
  portal.run("setMailSettings", { active: false, operator: null });
  const cookie = portal.session(ann);
  await portal.post("/members", cookie, { email: "bob@x.example", name: "Bob", role: "buyer" });
  const find = () => portal.read((reader) => listInvitedByEmail(reader, "bob@x.example", 2));
  const [{ id, invitedUntil, invitationHash }] = find() as [Member];
  portal.clock.now = invitedUntil! - 1;
  expect((await portal.get("/members", cookie)).text).not.toContain("Invitation expired");
  portal.clock.now = invitedUntil!;
  const late = portal.session(ann);
  portal.query("UPDATE member_sessions SET created_at = ?, seen_at = ?", invitedUntil, invitedUntil);
  const { text } = await portal.get("/members", late);
  expect([text.includes("Invitation expired"), text.includes(`/members/${id}/invite`)]).toEqual([true, true]);
  const again = await portal.post(`/members/${id}/invite`, late);
  expect(again.text).toMatch(/\/set-up#[\w-]{43}</);
  const found = find();
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ id, name: "Bob", role: "buyer" });
  expect(found[0]!.invitationHash).not.toBe(invitationHash);
  // Whoever has come gets no invitation.
  const reply = await portal.post(`/members/${ann}/invite`, late);
  expect(reply.status).toBe(422);
}); // prettier-ignore

describe("the link that turns a kind of e-mail off", () => {
  /** A mail about each kind that can be turned off, by its choice. */
  function mailOf(choice: string): string {
    const kind = choice === "payment" ? "payment_paid" : choice;
    const id = `evt_${choice.padEnd(24, "0")}`;
    portal.query(
      `INSERT INTO mails (mail_id, id, kind, account, member, email, data, state, due_at, created_at)
       SELECT coalesce((SELECT max(mail_id) FROM mails), 0) + 1, '${id}', '${kind}', account, id, email, '{}', 'waiting', 1, 1
       FROM members WHERE id = '${ann}'`,
    );
    return id;
  }
  const chosen = () => portal.read((reader) => findMember(reader, ann))!.mails;

  test.each(MAIL_CHOICES)(
    "%s: with one click of a mail program, and only this kind",
    async (choice) => {
      portal.run("updateMember", {
        changes: { mails: MAIL_CHOICES.join(",") },
        actor: actorOf(ann),
      });
      const id = mailOf(choice);
      const { status, text } = await portal.ask(`/unsubscribe/${id}`);
      expect([status, text.includes(`action="/unsubscribe/${id}"`)]).toEqual([200, true]);
      // Opening the link changes nothing: programs do that.
      expect(chosen()).toBe(MAIL_CHOICES.join(","));
      const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
      const reply = await portal.ask(`/unsubscribe/${id}`, { method: "POST", body });
      expect([reply.status, reply.headers.get("location")]).toEqual([200, null]);
      expect(chosen()).toBe(MAIL_CHOICES.filter((each) => each !== choice).join(","));
      const again = await portal.ask(`/unsubscribe/${id}`, { method: "POST", body });
      expect(again.status).toBe(200);
    },
  );

  test("names the address that the mail went to, not a new one", async () => {
    const id = mailOf("sign_in");
    portal.run("setMemberEmail", { id: ann, email: "secret@x.example" });
    const { text } = await portal.ask(`/unsubscribe/${id}`);
    expect(text).toContain("ann@alice.example");
    expect(text).not.toContain("secret@x.example");
  });

  test("of a mail that is always sent, of none and of a disabled member does nothing", async () => {
    await send("/forgotten", { email: "ann@alice.example" });
    const reset = mails()[0]!.id;
    const disabled = mailOf("sign_in");
    const before = chosen();
    portal.run("setMemberActive", { id: ann, active: false });
    for (const id of [reset, "evt_none", disabled]) {
      expect((await portal.ask(`/unsubscribe/${id}`)).status).toBe(404);
      expect((await portal.ask(`/unsubscribe/${id}`, { method: "POST" })).status).toBe(422);
    }
    expect(chosen()).toBe(before);
  });
});

const actorOf = (id: string) => ({ keyId: null, operator: `member:${id}` });

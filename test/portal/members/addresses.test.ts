// Addresses: no way to enter one tells whether it is known. Every way × every state that an address can have, with and
// without e-mails: the replies, the pages after it, and what is written are those of an unknown address.

import { afterEach, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import { findMember, findMemberByEmail, listMembersOf } from "../../../src/db/members/members.ts";
import { listMails } from "../../../src/db/mails/mails.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import type { MailKind } from "../../../src/domain/mails/mails.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { VISITOR } from "../../support/seeds/visitors.ts";
import { openPortal, PASSWORD, type Reply, type TestPortal } from "../../support/worlds/portal.ts";

const NEW = "four words are enough";
/** The address in question: of the same length in each state. */
const EVE = "eve@other.example";

let portal: TestPortal;
let owner = "";
afterEach(() => portal.stop());

async function open(hasMail: boolean, registration: "approve" | "open" = "open"): Promise<void> {
  const trustedProxy = [parseNetwork("127.0.0.1/32")!];
  portal = await openPortal({ settings: { registration }, trustedProxy });
  for (const name of ["alice", "bob", "carol"]) portal.user(name, "100");
  if (hasMail) portal.run("setMailSettings", { active: true, operator: null });
  owner = portal.member("alice", "ann@alice.example");
}

const author = (id: string) => ({ keyId: null, operator: memberAuthor(id) });
const accountOf = (name: string) => portal.read((reader) => findUser(reader, name)!.account);
const invitation = { name: null, role: "viewer", language: "en" } as const;
const visitor = { name: "Eve", language: "en", from: VISITOR } as const;

/** What the address may be to others. */
const STATES: Record<string, () => void> = {
  "a member of another reseller": () => void portal.member("bob", EVE),
  "a member in capital letters": () => void portal.member("bob", EVE.toUpperCase()),
  "a disabled member": () =>
    void portal.run("setMemberActive", { id: portal.member("bob", EVE), active: false }),
  "a member of a reseller whose portal is off": () => {
    portal.member("bob", EVE);
    portal.run("setPortal", { username: "bob", changes: { active: false } });
  },
  "a member with a second factor": () =>
    void portal.query("UPDATE members SET totp_secret = 'x' WHERE id = ?", portal.member("bob", EVE)),
  "invited by another reseller": () => {
    const invitationHash = "1".repeat(64);
    portal.run("inviteMember", { username: "bob", email: EVE, ...invitation, invitationHash });
  },
  "what another member wants to prove": () => {
    const id = portal.member("bob", "bea@bob.example");
    portal.query("UPDATE members SET new_email = ?, new_email_until = 9e15 WHERE id = ?", EVE, id);
  },
}; // prettier-ignore

/** The same for visitors, who also wait. */
const WAITING: Record<string, () => void> = {
  "a visitor who waits for the operator": () =>
    void portal.run("register", { ...visitor, email: EVE, limit: 9 }),
  "a visitor who has not proved it": () =>
    void portal.run("askAccount", { ...visitor, email: EVE, limit: null }),
};

/** Each visitor has a network of its own. */
let visitors = 0;
function send(path: string, fields: Record<string, string>): Promise<Reply> {
  const from = `198.51.${(visitors += 1)}.1`;
  const headers = { origin: portal.url, "x-forwarded-for": from };
  return portal.ask(path, { method: "POST", body: new URLSearchParams(fields), headers });
}

/** What somebody sees of a reply, without what is different at each time. */
const seen = ({ status, headers, text }: Reply) => [
  status,
  headers.get("location"),
  headers
    .getSetCookie()
    .map((each) => each.replace(/note=[^;]*/, (note) => decodeURIComponent(note))),
  text
    .replaceAll(portal.url, "URL")
    .replaceAll(/#[\w-]{43}/g, "#TOKEN")
    .replaceAll(/\b[a-z][a-z0-9]{23}\b/g, "ID")
    .replaceAll(/value="[\w.-]{20,}"/g, "FORM")
    .replaceAll(/\d\d?:\d\d(:\d\d(\.\d+Z)?)?/g, "TIME"),
];

const COUNTED = ["members", "member_attempts", "audit", "member_sessions"];
const counts = () =>
  COUNTED.map((table) => [table, portal.query(`SELECT 1 FROM ${table}`).length] as const);
/** How many rows of each table something added. */
async function added(run: () => Promise<unknown>): Promise<unknown> {
  const before = Object.fromEntries(counts());
  await run();
  return counts().map(([table, count]) => [table, count - before[table]!]);
}

/** Ways to enter an address. Each returns all that is seen on the way. */
const WAYS: Record<string, { mail: boolean[]; isVisitor?: true; modes?: readonly ("open" | "approve")[]; run: () => Promise<Reply[]> }> = {
  "an owner invites it, twice, and manages who was invited": {
    mail: [true, false],
    async run() {
      const cookie = portal.session(owner);
      const invite = () => portal.post("/members", cookie, { email: EVE, name: "", role: "buyer" });
      const first = await invite();
      const { id } = portal.read((reader) => listMembersOf(reader, accountOf("alice"))).find(({ email }) => email === EVE)!;
      const steps = [first, await portal.get("/members", cookie), await invite()];
      steps.push(await portal.post(`/members/${id}/role`, cookie, { role: "developer" }));
      for (const verb of ["disable", "invite", "enable", "invite", "password"]) {
        steps.push(await portal.post(`/members/${id}/${verb}`, cookie));
      }
      return [...steps, await portal.get("/members", cookie)];
    },
  },
  "a member changes its own to it": {
    mail: [true, false],
    async run() {
      const cookie = portal.session(owner);
      const form = { name: "Ann", email: EVE, language: "en", timeZone: "UTC" };
      const saved = await portal.post("/settings", cookie, form);
      const after = ["/settings", "/settings/address"].map((path) => portal.get(path, cookie));
      return [saved, ...(await Promise.all(after))];
    },
  },
  "a visitor asks for an account": {
    mail: [true, false],
    isVisitor: true,
    modes: ["open", "approve"],
    run: async () => [
      await send("/register", { name: "Eve", email: EVE, password: NEW }),
      await send("/register", { name: "Eve", email: EVE, password: NEW }),
    ],
  },
  "a visitor asks for a new password": {
    mail: [true, false],
    isVisitor: true,
    run: async () => [await send("/forgotten", { email: EVE }), await send("/forgotten", { email: EVE })],
  },
  "a visitor signs in with a wrong password": {
    mail: [true],
    isVisitor: true,
    run: async () => [await send("/sign-in", { email: EVE, password: "not this one" })],
  },
}; // prettier-ignore

const CASES = Object.entries(WAYS).flatMap(
  ([way, { mail, isVisitor = false, modes = ["open"] as const, run }]) =>
    mail.flatMap((hasMail) =>
      modes.map((registration) => {
        const states = { ...STATES, ...(isVisitor && hasMail && WAITING) };
        const name = `${way}, ${hasMail ? "with" : "without"} e-mails, registration ${registration}`;
        return [name, { hasMail, registration, states, run }] as const;
      }),
    ),
);

describe.each(CASES)("%s", (_, { hasMail, registration, states, run }) => {
  test("is answered, shown and written alike, whatever the address is to others", async () => {
    const tried: [string, unknown][] = [];
    for (const [state, make] of [["unknown", () => {}] as const, ...Object.entries(states)]) {
      await open(hasMail, registration);
      make();
      let replies: Reply[] = [];
      const rows = await added(async () => {
        replies = await run();
      });
      // What an open account without e-mails creates is seen by nobody else.
      const isOpened = !hasMail && registration === "open" && replies[0]!.status === 303;
      tried.push([state, { replies: replies.map(seen), rows: isOpened ? null : rows }]);
      if (state !== Object.keys(states).at(-1)) await portal.stop();
    }
    const [, ...known] = tried;
    for (const [state, found] of known) expect([state, found]).toEqual([state, tried[0]![1]]);
  });
});

/** Takes the mail of a kind as a server that sends it, and returns the token of its link. */
function tokenOf(kind: MailKind): string {
  const mails = portal.read((reader) => listMails(reader, 99, false));
  const now = Math.max(Date.now(), ...mails.map(({ dueAt }) => dueAt ?? 0));
  const tokens = [0, 1, 2, 3, 4].map((each) => `token-${each}-${now}`);
  const due = { server: "s", limit: 5, perHour: 99, hashes: tokens.map(hashSecret), known: [] };
  const taken = portal.execute("takeDueMails", due, now);
  const found = taken.find((each) => each.kind === kind);
  return tokens.find((token) => hashSecret(token) === found?.linkHash)!;
}

describe("who has proved an address", () => {
  const accept = (token: string) => send("/set-up", { token, password: NEW });
  const invite = (username: string) => {
    const of = portal.member(username, `owner@${username}.example`);
    const invited = { email: EVE, ...invitation, invitationHash: null, actor: author(of) };
    return portal.run("inviteOwnMember", invited);
  };

  test("is told that it has an account already, which stays as it is", async () => {
    await open(true);
    const eve = portal.member("bob", EVE);
    invite("carol");
    const token = tokenOf("invitation");
    const before = portal.read((reader) => findMember(reader, eve));
    const reply = await accept(token);
    expect([reply.status, reply.text.includes("has an account already")]).toEqual([422, true]);
    expect(portal.read((reader) => findMember(reader, eve))).toEqual(before);
    expect((await send("/sign-in", { email: EVE, password: PASSWORD })).status).toBe(303);
  });

  test("chooses between two resellers that have invited it: the first link that it uses counts", async () => {
    await open(true);
    const [first, second] = [invite("bob"), invite("carol")];
    const token = tokenOf("invitation");
    expect((await accept(token)).status).toBe(303);
    const holder = portal.read((reader) => findMemberByEmail(reader, EVE))!;
    expect([first, second]).toContain(holder.id);
    const other = holder.id === first ? second : first;
    const invitationHash = "7".repeat(64);
    portal.query(
      `UPDATE members SET invitation_hash = '${invitationHash}', invited_until = 9e15 WHERE id = ?`,
      other,
    );
    expect(() =>
      portal.run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" }),
    ).toThrow();
    expect(portal.read((reader) => findMember(reader, other))!.passwordHash).toBeNull();
  });

  test("an invitation keeps nobody from an account of its own", async () => {
    await open(true);
    invite("carol");
    await send("/register", { name: "Eve", email: EVE });
    const token = tokenOf("registration");
    expect((await send("/register/confirm", { token, password: NEW })).status).toBe(303);
    expect(portal.read((reader) => findMemberByEmail(reader, EVE))).toMatchObject({
      role: "owner",
    });
  });
});

describe("a member's new address", () => {
  const ask = (cookie: string, email = EVE) =>
    portal.post("/settings", cookie, { name: "Ann", email, language: "en", timeZone: "UTC" });
  const prove = (cookie: string, token: string) =>
    portal.post("/settings/address", cookie, { token });
  const emailOf = (id: string) => portal.read((reader) => findMember(reader, id))!.email;
  const told = () =>
    portal
      .read((reader) => listMails(reader, 99, false))
      .filter(({ kind }) => kind === "address_changed")
      .map(({ email }) => email);

  test("is its own once its link is opened where it is signed in, and the old address is told", async () => {
    await open(true);
    const cookie = portal.session(owner);
    await ask(cookie);
    expect([emailOf(owner), told()]).toEqual(["ann@alice.example", []]);
    const token = tokenOf("address_change");
    // Whoever got a mistyped link has no session of the member.
    expect((await prove("", token)).headers.get("location")).toStartWith("/sign-in");
    const other = portal.session(portal.member("bob", "bea@bob.example"));
    expect((await prove(other, token)).status).toBe(422);
    expect(emailOf(owner)).toBe("ann@alice.example");
    expect((await prove(cookie, token)).headers.get("location")).toBe("/settings");
    expect([emailOf(owner), told()]).toEqual([EVE, ["ann@alice.example"]]);
    expect((await prove(cookie, token)).status).toBe(422);
    const due = { server: "s", limit: 9, perHour: 99, hashes: [], known: [] };
    const taken = portal.execute("takeDueMails", due, Date.now() + 60_000);
    expect(taken.map(({ kind, email }) => [kind, email])).toEqual([
      ["address_changed", "ann@alice.example"],
    ]);
    expect((await send("/sign-in", { email: EVE, password: PASSWORD })).status).toBe(303);
    expect((await send("/sign-in", { email: "ann@alice.example", password: PASSWORD })).status).toBe(422);
  }); // prettier-ignore

  test("that belongs to somebody is refused only to whoever has its link", async () => {
    await open(true);
    portal.member("bob", EVE);
    const cookie = portal.session(owner);
    await ask(cookie);
    const reply = await prove(cookie, tokenOf("address_change"));
    expect([reply.status, reply.text.includes("has an account already")]).toEqual([422, true]);
    expect([emailOf(owner), told()]).toEqual(["ann@alice.example", []]);
  });

  test("ends with another one, with a new password, and after a day", async () => {
    await open(true);
    const cookie = portal.session(owner);
    const asked = () => portal.read((reader) => findMember(reader, owner))!;
    await ask(cookie);
    const first = tokenOf("address_change");
    await ask(cookie, "eva@other.example");
    expect((await prove(cookie, first)).status).toBe(422);
    const second = tokenOf("address_change");
    const { newEmailUntil } = asked();
    const late = { hash: hashSecret(second), actor: author(owner) };
    expect(() => portal.execute("proveAddress", late, newEmailUntil!)).toThrow();
    portal.run("setPassword", {
      site: "portal",
      person: owner,
      passwordHash: asked().passwordHash!,
      actor: author(owner),
    });
    expect(asked().newEmail).toBeNull();
    expect((await prove(portal.session(owner), second)).status).toBe(422);
  });

  test("gets three links at once, then pauses, so that nobody is flooded", async () => {
    await open(true);
    const cookie = portal.session(owner);
    for (let each = 0; each < 6; each += 1) {
      await ask(cookie, `e${each}@other.example`);
      const now = Date.now() + 60_000;
      const due = { server: "s", limit: 1, perHour: 99, hashes: [String(each).repeat(64)], known: [] };
      portal.execute("takeDueMails", due, now);
    }
    const sent = portal
      .read((reader) => listMails(reader, 99, false))
      .filter(({ attempts }) => attempts > 0);
    expect(sent.map(({ email }) => email).toReversed()).toEqual(
      [0, 1, 2].map((each) => `e${each}@other.example`),
    );
  }); // prettier-ignore

  test("without e-mails only the operator changes it, who is told whether it is free", async () => {
    await open(false);
    const cookie = portal.session(owner);
    expect((await portal.get("/settings", cookie)).text).not.toContain('name="email"');
    expect((await ask(cookie)).status).toBe(422);
    expect((await ask(cookie, "")).status).toBe(303);
    portal.member("bob", EVE);
    expect(() => portal.run("setMemberEmail", { id: owner, email: EVE })).toThrow();
    portal.run("setMemberEmail", { id: owner, email: "new@alice.example" });
    expect([emailOf(owner), told()]).toEqual(["new@alice.example", []]);
  });

  test("that the operator sets is told to the old one, and ends its links", async () => {
    await open(true);
    await send("/forgotten", { email: "ann@alice.example" });
    const token = tokenOf("password_reset");
    portal.run("setMemberEmail", { id: owner, email: EVE });
    expect(told()).toEqual(["ann@alice.example"]);
    expect((await send("/set-up", { token, password: NEW })).status).toBe(422);
  });
});

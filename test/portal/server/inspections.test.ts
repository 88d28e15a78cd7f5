// "View as" over every route of the portal's table × every role × both sides: an administrator sees what a member with
// the role sees, and no form does anything.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findInspection } from "../../../src/db/members/inspections.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { servers, uptime } from "../../../src/db/tables/database.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { authorOf } from "../../../src/domain/administrators/administrators.ts";
import { INSPECTION_MS } from "../../../src/domain/members/inspections.ts";
import { LANGUAGES } from "../../../src/domain/members/languages.ts";
import {
  mayMember,
  memberAuthor,
  MEMBER_ROLES,
  type MemberRole,
} from "../../../src/domain/members/members.ts";
import { INSPECTION } from "../../../src/portal/members/inspections.tsx";
import type { ActionRoute, PageRoute } from "../../../src/portal/server/route.ts";
import { ROUTES } from "../../../src/portal/server/routes.ts";
import { TEST_SIDE } from "../../../src/portal/server/visitor.ts";
import { random } from "../../../src/web/server/random.ts";
import { hashSecret } from "../../../src/web/sessions/session-cookie.ts";
import { seedInvoice } from "../../support/seeds/invoices.ts";
import { mailTo } from "../../support/seeds/mails.ts";
import { askPayment, seedMethod } from "../../support/seeds/payments.ts";
import { dumpOf } from "../../support/databases/test-database.ts";
import { openPortal, type Reply, type TestPortal } from "../../support/worlds/portal.ts";

const PREFIX = "/portal";
const SIDES = ["", TEST_SIDE] as const;
const ACTIONS = ROUTES.filter((route): route is ActionRoute => route.method === "POST");
const PAGES = ROUTES.filter((route): route is PageRoute => route.method === "GET");
/** What no page may show: secrets of members, keys and webhooks, and links that were not used. */
const SECRETS = ["JBSWY3DPEHPK3PXP", "KRSXG5CTMVRXEZLU", "whsec_secret", "e".repeat(64)];
/** Bob's name in what a page shows, but not these letters within a random id. */
const BOBS = /(?<![\w-])bob(?![\w-])|of-bob/;

let portal: TestPortal;
/** Cookies of inspections of alice by role, and of her own members by role. */
const seen: Record<string, string> = {};
const own: Record<string, string> = {};
/** What stands for the parameters of a path: objects of alice, and of bob. */
const alices: Record<string, string> = {};
const bobs: Record<string, string> = {};

beforeAll(async () => {
  portal = await openPortal({ prefix: PREFIX, settings: { registration: "open" } });
  portal.service({ id: "followers", cancel: true, refill: true });
  seedMethod(portal, "bank", "manual");
  portal.run("setMailSettings", { active: true, operator: null });
  for (const [name, objects] of [
    ["alice", alices],
    ["bob", bobs],
  ] as const)
    fill(name, objects);
  for (const role of MEMBER_ROLES) {
    own[role] = portal.session(portal.member("alice", `${role}@alice.example`, role));
    seen[role] = await inspect(role);
  }
});
afterAll(() => portal.stop());

function fill(username: string, objects: Record<string, string>): void {
  portal.user(username, "100");
  portal.user(`child-of-${username}`, "1", username);
  const { account } = portal.read((reader) => findUser(reader, username)!);
  const { id: key } = portal.key(username, "order");
  const { orderId } = portal.run("placeOrder", {
    resellerAccount: account,
    keyId: key,
    service: "followers",
    link: `https://example.com/of-${username}`,
    quantity: 100,
    reference: null,
  });
  const url = `https://hooks.${username}.example/`;
  const hook = { username, url, events: "*", secret: "whsec_secret", balanceLowBelow: null };
  const member = portal.member(username, `colleague@${username}.example`, "viewer");
  portal.query(
    "UPDATE members SET totp_secret = ?, offered_secret = ? WHERE id = ?",
    SECRETS[0]!,
    SECRETS[1]!,
    member,
  );
  portal.run("setMemberRole", { id: member, role: "owner" });
  const payer = { keyId: null, operator: memberAuthor(member) };
  const payment = askPayment(portal, { methodId: "bank", actor: payer, now: portal.clock.now });
  const invitation = { email: `new@${username}.example`, name: null, role: "viewer" } as const;
  const invitationHash = username === "alice" ? SECRETS[3]! : "f".repeat(64);
  portal.run("inviteMember", { username, ...invitation, language: "en", invitationHash });
  Object.assign(objects, {
    service: "1",
    kind: "cancel",
    order: String(orderId),
    key,
    webhook: portal.run("createWebhook", hook).id,
    member,
    payment,
    invoice: seedInvoice(portal, username),
    mail: mailTo(portal, portal.member(username, `reader@${username}.example`, "viewer")),
    user: `child-of-${username}`,
    month: new Date(portal.clock.now).toISOString().slice(0, 7),
  });
}

/** A link that a new administrator made in the panel. Returns its token. */
let made = 0;
function offer(role: MemberRole, username = "alice", where = portal) {
  made += 1;
  const administrator = `inspector-${made}`;
  const invitationHash = hashSecret(administrator);
  where.run("inviteAdministrator", { name: administrator, role: "operator", invitationHash });
  where.run("acceptInvitation", { site: "panel", invitationHash, passwordHash: "p" });
  const session = random(16);
  const opened = { id: session, hash: "0".repeat(64), address: "::1", userAgent: "" };
  const signIn = { attempt: null, person: administrator, passwordHash: "p", session: opened };
  where.run("openSession", { site: "panel", ...signIn });
  const [token, id] = [random(32), random(16)];
  where.run("offerInspection", {
    username,
    role,
    id,
    tokenHash: hashSecret(token),
    session,
    panelUrl: "https://panel.example",
    actor: { keyId: null, operator: authorOf(administrator) },
  });
  return { token, id, session, administrator };
}

const cookieOf = ({ headers }: Reply) => headers.getSetCookie()[0]!.split(";")[0]!;

async function inspect(role: MemberRole, username = "alice"): Promise<string> {
  const reply = await portal.post("/inspection", "", { token: offer(role, username).token });
  expect([reply.status, reply.headers.get("location")]).toEqual([303, `${PREFIX}/`]);
  return cookieOf(reply);
}

const pathOf = (path: string, objects: Record<string, string>) =>
  path.replace(/:(\w+)/g, (_, name: string) => {
    const value = objects[name];
    if (value === undefined) throw new Error(`add a value for the parameter :${name} to fill`);
    return value;
  });

/** Written by the server itself meanwhile. */
const BY_SERVER: readonly AnyTable[] = [servers, uptime];
const everything = () =>
  TABLES.filter((table) => !BY_SERVER.includes(table))
    .map((table) => dumpOf(portal, table))
    .join("\n");

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

describe.each(ACTIONS.filter(({ path }) => !INSPECTION.includes(path)).map(({ path }) => path))(
  "POST %s",
  (path) => {
    test.each(MEMBER_ROLES)("does nothing for whoever inspects as %s", async (role) => {
      const before = everything();
      for (const side of SIDES) {
        // Even in a browser in which a member of the reseller is signed in.
        for (const cookie of [seen[role]!, `${own["owner"]}; ${seen[role]}`]) {
          const reply = await portal.post(side + pathOf(path, alices), cookie, FIELDS);
          expect([side, reply.status]).toEqual([side, 403]);
          expect(reply.headers.getSetCookie()).toEqual([]);
        }
      }
      expect(everything()).toBe(before);
    });

    test("does nothing after the inspection has ended, whoever is signed in besides", async () => {
      const before = everything();
      const ended = `reseller-inspection=${random(16)}.${"A".repeat(43)}`;
      for (const side of SIDES) {
        for (const cookie of [ended, `${own["owner"]}; ${ended}`, `${ended}; ${own["owner"]}`]) {
          const form = side + pathOf(path, alices);
          const { status, headers } = await portal.post(form, cookie, FIELDS);
          const to = headers.get("location");
          expect([status, to]).toEqual([303, `${PREFIX}/inspection/ended`]);
        }
      }
      expect(everything()).toBe(before);
    });
  },
);

describe.each(MEMBER_ROLES)("whoever inspects as %s", (role) => {
  const cookie = () => seen[role]!;

  test("sees the pages that a member with the role sees, says whose they are, and changes nothing", async () => {
    const before = everything();
    for (const { path, role: needed } of PAGES) {
      if (needed === "anyone") continue;
      const { status, text, headers } = await portal.get(pathOf(path, alices), cookie());
      expect([path, status]).toEqual([path, mayMember(role, needed) ? 200 : 403]);
      expect(headers.getSetCookie()).toEqual([]);
      if (path.endsWith(".csv")) continue;
      expect([path, text.includes("You see the pages of alice (")]).toEqual([path, true]);
      const forms = text.match(/<form method="post".*?<\/form>/gs) ?? [];
      const open = forms.filter((form) => !/<fieldset disabled/.test(form));
      expect([path, open.length]).toEqual([path, 1]);
      expect(open[0]).toContain(`action="${PREFIX}/inspection/end"`);
    }
    expect(everything()).toBe(before);
  });

  test("sees no secret, and nothing of another reseller", async () => {
    for (const { path, role: needed } of PAGES) {
      const { text } = await portal.get(pathOf(path, alices), cookie());
      expect([path, SECRETS.filter((secret) => text.includes(secret))]).toEqual([path, []]);
      expect([path, text.match(BOBS)]).toEqual([path, null]);
      if (needed === "anyone" || !/:(order|key|webhook|member|user|payment|invoice)\b/.test(path))
        continue;
      const other = await portal.get(pathOf(path, bobs), cookie());
      expect([path, [403, 404].includes(other.status)]).toEqual([path, true]);
    }
  });
});

test("the order of the reseller is there, and its sign-in and sign-out are not", async () => {
  const { text } = await portal.get("/orders", seen["owner"]!);
  expect(text).toContain("of-alice");
  expect(text).not.toContain("/sign-out");
  const { status } = await portal.get("/sign-in", seen["owner"]!);
  expect(status).toBe(303);
});

test.each(LANGUAGES)("the banner has the language of the browser: %s", async (language) => {
  const headers = { cookie: seen["buyer"]!, "accept-language": language };
  const { text } = await portal.ask("/", { headers });
  expect(text).toStartWith(`<!doctype html><html lang="${language}">`);
  expect(text).toContain(`action="${PREFIX}/inspection/end"`);
});

test("a link opens once, with a cookie that no script and no other site gets", async () => {
  const { token, id } = offer("viewer");
  const reply = await portal.post("/inspection", "", { token });
  expect(reply.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^reseller-inspection=[\w-]{22}\.[\w-]{43}; Path=\/portal; HttpOnly; SameSite=Strict$/,
    ),
  ]);
  const secret = cookieOf(reply).split(".")[1]!;
  const row = portal.read((reader) => findInspection(reader, id))!;
  expect([row.hash, row.tokenHash]).toEqual([hashSecret(secret), null]);
  const again = await portal.post("/inspection", "", { token });
  expect([again.status, again.headers.getSetCookie()]).toEqual([422, []]);
  expect(again.text).toContain("The link was used or has expired");
});

test.each(["", "x", "A".repeat(43), "\u202e", "x".repeat(5000)])(
  "a wrong token opens nothing and writes nothing: %p",
  async (token) => {
    const before = everything();
    const { status, headers } = await portal.post("/inspection", "", { token });
    expect([status, headers.getSetCookie()]).toEqual([422, []]);
    expect(everything()).toBe(before);
  },
);

test("another link of the same session ends what the first one showed", async () => {
  const first = offer("owner");
  const cookie = cookieOf(await portal.post("/inspection", "", { token: first.token }));
  expect((await portal.get("/", cookie)).status).toBe(200);
  const { administrator, session } = first;
  portal.run("offerInspection", {
    username: "bob",
    role: "owner",
    id: random(16),
    tokenHash: hashSecret("next"),
    session,
    panelUrl: "https://panel.example",
    actor: { keyId: null, operator: authorOf(administrator) },
  });
  expect((await portal.get("/", cookie)).headers.get("location")).toBe(
    `${PREFIX}/inspection/ended`,
  );
  portal.run("openInspection", { tokenHash: hashSecret("next"), hash: hashSecret("other") });
  expect((await portal.get("/", cookie)).status).toBe(303);
});

test("a secret that differs opens nothing", async () => {
  const [pair, secret] = seen["owner"]!.split(".") as [string, string];
  for (const cookie of [`${pair}.${"A".repeat(secret.length)}`, `${pair}.`, `${pair}`]) {
    const { status, headers } = await portal.get("/", cookie);
    expect([status, headers.get("location")]).toEqual([303, `${PREFIX}/inspection/ended`]);
  }
});

test("to end it forgets the cookie, leads back to the panel, and leaves the member signed in", async () => {
  const cookie = await inspect("owner");
  const both = `${own["owner"]}; ${cookie}`;
  expect((await portal.get("/", both)).text).toContain("You see the pages of alice");
  const ended = await portal.post("/inspection/end", both);
  expect(ended.status).toBe(200);
  expect(ended.headers.getSetCookie()).toEqual([
    "reseller-inspection=; Path=/portal; HttpOnly; SameSite=Strict; Max-Age=0",
  ]);
  expect(ended.text).toContain('href="https://panel.example/users/alice/members"');
  expect(ended.text).not.toContain("You see the pages");
  const { status, headers } = await portal.get("/", cookie);
  expect([status, headers.get("location")]).toEqual([303, `${PREFIX}/inspection/ended`]);
  expect((await portal.get("/", own["owner"]!)).status).toBe(200);
});

test("it ends by itself, and the page that says so forgets the cookie", async () => {
  const { token, administrator, session } = offer("owner");
  const cookie = cookieOf(await portal.post("/inspection", "", { token }));
  const { now } = portal.clock;
  portal.clock.now = Date.now() + INSPECTION_MS + 1000;
  expect((await portal.get("/", cookie)).status).toBe(303);
  portal.clock.now = now;
  expect((await portal.get("/", cookie)).status).toBe(200);
  portal.run("revokeSessions", { site: "panel", person: administrator, session });
  expect((await portal.get("/orders", cookie)).headers.get("location")).toBe(
    `${PREFIX}/inspection/ended`,
  );
  const headers = { cookie, "x-refresh": "1" };
  expect((await portal.ask("/orders", { headers })).status).toBe(401);
  const shown = await portal.get("/inspection/ended", cookie);
  expect([shown.status, shown.headers.getSetCookie().length]).toEqual([200, 1]);
  expect(shown.text).not.toContain("panel.example");
});

test("a required second factor does not send whoever inspects to set one up", async () => {
  const strict = await openPortal({ settings: { needsSecondFactor: true } });
  strict.user("alice", "1");
  const { token } = offer("owner", "alice", strict);
  const reply = await strict.post("/inspection", "", { token });
  expect((await strict.get("/orders", cookieOf(reply))).status).toBe(200);
  await strict.stop();
});

// Signing in to the panel: invitations, passwords, codes, sessions and what ends them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findAdministrator, listSessionsOf } from "../../src/db/administrators.ts";
import { codeOf, stepAt } from "../../src/domain/second-factor.ts";
import { INVITATION_MS, SESSION_IDLE_MS, SESSION_MOST_MS } from "../../src/domain/sign-ins.ts";
import { createPasswords } from "../../src/panel/passwords.ts";
import { newToken } from "../../src/panel/tokens.ts";
import { freshPanel, PASSWORD, type Reply, type TestPanel } from "../support/panel.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await freshPanel("owner");
});
afterEach(() => panel.stop());

const OTHER = "another long password";
const send = (path: string, fields: Record<string, string>, cookie = "", to = panel) =>
  to.ask(path, {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { cookie, origin: to.url, "user-agent": "Browser/1" },
  });
const signIn = (name: string, password = PASSWORD) => send("/sign-in", { name, password });
/** The session that a reply sets, as a browser would send it. */
const cookieOf = ({ headers }: Reply) =>
  headers
    .getSetCookie()
    .find((each) => each.startsWith("reseller="))!
    .split(";")[0]!;
const isIn = async (cookie: string): Promise<boolean> =>
  (await panel.ask("/account", { headers: { cookie } })).status === 200;

function invite(name: string, role: "owner" | "operator" | "support" = "operator"): string {
  const { token, invitationHash } = newToken();
  panel.run("inviteAdministrator", { name, role, invitationHash });
  return token;
}

/** With a second factor; the secret. */
async function enrol(cookie: string): Promise<{ secret: string; codes: string[]; cookie: string }> {
  await send("/account/second-factor/offer", {}, cookie);
  const shown = await panel.ask("/account/second-factor", { headers: { cookie } });
  const secret = /<code id="secret">([A-Z2-7 ]+)</.exec(shown.text)![1]!.replaceAll(" ", "");
  const reply = await send("/account/second-factor/enable", { code: codeNow(secret) }, cookie);
  const codes = /<pre id="codes">([^<]+)</.exec(reply.text)![1]!.split("\n");
  return { secret, codes, cookie: cookieOf(reply) };
}
const codeNow = (secret: string, steps = 0) => codeOf(secret, stepAt(panel.clock.now) + steps);

describe("an invitation", () => {
  test("makes an administrator once, signed in with the role that it was for", async () => {
    const token = invite("alice", "support");
    const reply = await send("/setup", { token, password: OTHER });
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/"]);
    expect(await isIn(cookieOf(reply))).toBe(true);
    const again = await send("/setup", { token, password: "yet another password" });
    expect(again.status).toBe(422);
    expect(again.text).toContain("The link is used up or too old");
    expect((await signIn("alice", OTHER)).status).toBe(303);
  });

  test("is over after 30 minutes, when another takes its place, and when its administrator is disabled", async () => {
    const first = invite("alice");
    const second = invite("alice");
    expect((await send("/setup", { token: first, password: OTHER })).status).toBe(422);
    const { invitationHash } = panel.read((reader) => findAdministrator(reader, "alice"))!;
    const late = Date.now() + INVITATION_MS + 1;
    expect(() =>
      panel.execute(
        "acceptInvitation",
        { invitationHash: invitationHash!, passwordHash: "x" },
        late,
      ),
    ).toThrow("invitation_invalid");
    panel.run("setAdministratorActive", { name: "alice", active: false });
    expect((await send("/setup", { token: second, password: OTHER })).status).toBe(422);
  });

  test("takes no password that is too short, and is then still open", async () => {
    const token = invite("alice");
    const reply = await send("/setup", { token, password: "short" });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain("password must be 12 to 1024 characters");
    expect((await send("/setup", { token, password: OTHER })).status).toBe(303);
  });

  test("of someone who has a password is refused", () => {
    expect(() => invite("tester")).toThrow("administrator_name_taken");
  });
});

describe("a password", () => {
  test("opens a session by a cookie that only this site's own requests carry and no script reads", async () => {
    const reply = await signIn("tester");
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/"]);
    const [cookie] = reply.headers.getSetCookie();
    expect(cookie).toMatch(/^reseller=[\w-]{22}\.[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await isIn(cookieOf(reply))).toBe(true);
    const secret = cookieOf(reply).split(".")[1]!;
    expect(JSON.stringify(panel.query("SELECT * FROM panel_sessions"))).not.toContain(secret);
  });

  test("with TLS the cookie is this host's alone, and responses ask for TLS", async () => {
    const secure = await freshPanel("owner", { isSecure: true, url: "https://panel.example" });
    const reply = await send("/sign-in", { name: "tester", password: PASSWORD }, "", secure);
    expect(reply.headers.getSetCookie()[0]).toMatch(
      /^__Host-reseller=.*; Secure; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(reply.headers.get("strict-transport-security")).toBe("max-age=31536000");
    await secure.stop();
  });

  test("that is wrong, and a name that nobody has, get one reply, and one line in the log with address and browser", async () => {
    const wrong = await signIn("tester", OTHER);
    const unknown = await signIn("nobody", OTHER);
    expect([wrong.status, unknown.status]).toEqual([422, 422]);
    expect(unknown.text.replaceAll("nobody", "tester")).toBe(wrong.text);
    expect(panel.logged.map(({ fields }) => fields)).toEqual([
      {
        administrator: "tester",
        address: "127.0.0.1",
        userAgent: "Browser/1",
        why: "sign_in_refused",
      },
      { administrator: null, address: "127.0.0.1", userAgent: "Browser/1", why: "sign_in_refused" },
    ]);
    const stored = JSON.stringify(panel.query("SELECT * FROM sign_in_attempts"));
    expect(stored + JSON.stringify(panel.logged)).not.toMatch(new RegExp(`${OTHER}|nobody`));
    expect(wrong.text).not.toContain(OTHER);
  });

  test("fails ten times from an address, then everyone from there waits; a success is not counted", async () => {
    for (let each = 0; each < 3; each++) expect((await signIn("tester")).status).toBe(303);
    for (let each = 0; each < 10; each++) {
      expect((await signIn(`nobody-${each}`, OTHER)).status).toBe(422);
    }
    const limited = await signIn("tester");
    expect(limited.status).toBe(429);
    const seconds = Number(limited.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(limited.text).toContain("Too many failures");
  });

  test("fails for one name: each further try waits longer, a minute at most, and never for good", () => {
    const tryAt = (now: number, name: string, place: number) =>
      panel.execute(
        "beginSignIn",
        { name, address: "::1", network: `network-${place}`, userAgent: "" },
        now,
      );
    // After the sign-in: what was before it counts no more.
    let now = Date.now() + 1;
    for (let each = 0; each < 3; each++) tryAt(now, "tester", each);
    const waits: number[] = [];
    for (let each = 3; each < 12; each++) {
      let waited = 0;
      for (;;) {
        try {
          tryAt(now, "tester", each);
          break;
        } catch {
          now += 1000;
          waited += 1;
        }
      }
      waits.push(waited);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
    tryAt(now, "someone-else", 99);
  });

  test("is hashed two at a time with a short queue, and then refused", async () => {
    const passwords = createPasswords({ memoryCost: 8, timeCost: 1 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => passwords.isRight("x", null)),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(2);
    expect(await passwords.isRight("a", await passwords.hash("a"))).toBe(true);
    // As OWASP asks for at least: 19 MiB and two passes.
    expect(await createPasswords().hash("a")).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
  });

  test("leads only to pages of the panel", async () => {
    const leads = async (next: string): Promise<string | null> =>
      (await send("/sign-in", { name: "tester", password: PASSWORD, next })).headers.get(
        "location",
      );
    expect(await leads("/audit?user=a")).toBe("/audit?user=a");
    for (const next of [
      "https://evil.example/",
      "//evil.example",
      "/\\evil.example",
      "javascript:1",
      "\t//evil.example",
      "/..//evil.example",
      "/audit/..//evil.example",
      "/.//evil.example",
      "/%2e%2e//evil.example",
      "",
    ]) {
      expect([next, await leads(next)]).toEqual([next, "/"]);
    }
  });
});

describe("a session", () => {
  test("ends when it is not used for half an hour, and twelve hours after it began", async () => {
    const cookie = panel.session("tester");
    const [id] = cookie.slice("reseller=".length).split(".") as [string];
    // By the clock of the machine, and not by the panel's.
    const noted = (column: "created_at" | "seen_at") => {
      const text = `SELECT ${column} AS at FROM panel_sessions WHERE id = ?`;
      return Number(panel.query<{ at: number }>(text, id)[0]!.at);
    };
    panel.clock.now = noted("seen_at") + SESSION_IDLE_MS - 1;
    expect(await isIn(cookie)).toBe(true);
    panel.clock.now = noted("seen_at") + SESSION_IDLE_MS;
    expect(await isIn(cookie)).toBe(false);
    const end = noted("created_at") + SESSION_MOST_MS;
    for (const [now, isOpen] of [
      [end - 1, true],
      [end, false],
    ] as const) {
      panel.query("UPDATE panel_sessions SET seen_at = ?", end);
      panel.clock.now = now;
      expect(await isIn(cookie)).toBe(isOpen);
    }
  });

  test("is kept by use, but not by a page that refreshes itself", async () => {
    const cookie = panel.session("tester");
    const [id] = cookie.slice("reseller=".length).split(".") as [string];
    const seen = () =>
      panel.query<{ at: number }>("SELECT seen_at AS at FROM panel_sessions WHERE id = ?", id)[0]!
        .at;
    panel.query("UPDATE panel_sessions SET seen_at = seen_at - 120000");
    const before = seen();
    await panel.ask("/account", { headers: { cookie, "x-refresh": "1" } });
    expect(seen()).toBe(before);
    await panel.ask("/account", { headers: { cookie } });
    expect(seen()).toBeGreaterThan(before);
  });

  test("ends by signing out, for this browser alone", async () => {
    const [one, two] = [panel.session("tester"), panel.session("tester")];
    const reply = await send("/sign-out", {}, one);
    expect(reply.headers.getSetCookie()[0]).toContain("Max-Age=0");
    expect([await isIn(one), await isIn(two)]).toEqual([false, true]);
  });

  test.each([
    [
      "a password",
      (): unknown => panel.run("setAdministratorPassword", { name: "olga", passwordHash: "x" }),
    ],
    ["a role", (): unknown => panel.run("setAdministratorRole", { name: "olga", role: "support" })],
    [
      "being disabled",
      (): unknown => panel.run("setAdministratorActive", { name: "olga", active: false }),
    ],
    ["revoke", (): unknown => panel.run("revokeSessions", { name: "olga", session: null })],
    [
      "a restore",
      (): unknown =>
        panel.run("carryOver", {
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
    ],
  ] as const)("ends with %s", async (_, change) => {
    panel.administrator("olga", "operator");
    const cookies = [panel.session("olga"), panel.session("olga")];
    for (const cookie of cookies) expect(await isIn(cookie)).toBe(true);
    change();
    for (const cookie of cookies) expect(await isIn(cookie)).toBe(false);
  });

  test("of others ends with the own password; this browser goes on with a new one", async () => {
    const [own, other] = [panel.session("tester"), panel.session("tester")];
    const wrong = await send("/account/password", { current: "wrong", password: OTHER }, own);
    expect(wrong.text).toContain("Wrong password");
    expect(await isIn(other)).toBe(true);
    const reply = await send("/account/password", { current: PASSWORD, password: OTHER }, own);
    expect(reply.status).toBe(303);
    expect([await isIn(own), await isIn(other), await isIn(cookieOf(reply))]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await signIn("tester", PASSWORD)).status).toBe(422);
    expect((await signIn("tester", OTHER)).status).toBe(303);
  });
});

describe("a second factor", () => {
  test("is asked for after the password, each code once, and the session is a new one then", async () => {
    const before = panel.session("tester");
    const { secret, cookie } = await enrol(before);
    expect([await isIn(before), await isIn(cookie)]).toEqual([false, true]);
    const half = await signIn("tester");
    expect(half.headers.get("location")).toBe("/sign-in/code?next=%2F");
    const awaiting = cookieOf(half);
    expect(await isIn(awaiting)).toBe(false);
    expect(
      (await panel.ask("/account", { headers: { cookie: awaiting } })).headers.get("location"),
    ).toBe("/sign-in/code");
    // The code that turned it on was taken.
    expect((await send("/sign-in/code", { code: codeNow(secret) }, awaiting)).status).toBe(422);
    const passed = await send("/sign-in/code", { code: codeNow(secret, 1) }, awaiting);
    expect(passed.status).toBe(303);
    expect(cookieOf(passed)).not.toBe(awaiting);
    expect([await isIn(awaiting), await isIn(cookieOf(passed))]).toEqual([false, true]);
  });

  test("has ten recovery codes, each for one time", async () => {
    const { codes } = await enrol(panel.session("tester"));
    expect(new Set(codes).size).toBe(10);
    expect(JSON.stringify(panel.query("SELECT * FROM recovery_codes"))).not.toContain(codes[0]!);
    const pass = async (code: string): Promise<number> =>
      (await send("/sign-in/code", { code }, cookieOf(await signIn("tester")))).status;
    expect(await pass(codes[0]!.toUpperCase())).toBe(303);
    expect(await pass(codes[0]!)).toBe(422);
    expect(await pass(codes[1]!)).toBe(303);
  });

  test("that is wrong counts as a failure of the name", async () => {
    await enrol(panel.session("tester"));
    const awaiting = cookieOf(await signIn("tester"));
    const replies: number[] = [];
    for (let each = 0; each < 5; each++) {
      replies.push((await send("/sign-in/code", { code: "000000" }, awaiting)).status);
    }
    expect(replies.slice(0, 3)).toEqual([422, 422, 422]);
    expect(replies).toContain(429);
    expect(panel.logged.map(({ fields }) => (fields as { why: string }).why)).toContain(
      "code_wrong",
    );
  });

  test("is removed with a proof alone; at the terminal for who lost it; sessions end with it", async () => {
    const { cookie } = await enrol(panel.session("tester"));
    const other = panel.session("tester");
    const refused = await send("/account/second-factor/remove", { proof: "wrong" }, cookie);
    expect(refused.status).toBe(422);
    const removed = await send("/account/second-factor/remove", { proof: PASSWORD }, cookie);
    expect(removed.status).toBe(303);
    expect([await isIn(other), await isIn(cookieOf(removed))]).toEqual([false, true]);
    await enrol(cookieOf(removed));
    panel.run("removeSecondFactor", { name: "tester" });
    expect(panel.read((reader) => listSessionsOf(reader, "tester"))).toEqual([]);
    expect((await signIn("tester")).headers.get("location")).toBe("/");
  });

  test("is required of owners where the panel is not on this machine alone, and of nobody else", async () => {
    const open = await freshPanel("owner", { needsSecondFactor: true });
    open.administrator("olga", "operator");
    const get = async (path: string, name: string): Promise<string | number> => {
      const { status, headers } = await open.ask(path, { headers: { cookie: open.session(name) } });
      return headers.get("location") ?? status;
    };
    expect(await get("/audit", "tester")).toBe("/account/second-factor");
    expect(await get("/administrators", "tester")).toBe("/account/second-factor");
    expect(await get("/account/second-factor", "tester")).toBe(200);
    expect(await get("/audit", "olga")).toBe(200);
    await open.stop();
  });
});

test("the last owner who can sign in stays one", () => {
  panel.run("inviteAdministrator", {
    name: "invited",
    role: "owner",
    invitationHash: "a".repeat(64),
  });
  expect(() => panel.run("setAdministratorRole", { name: "tester", role: "support" })).toThrow(
    "administrator_last_owner",
  );
  expect(() => panel.run("setAdministratorActive", { name: "tester", active: false })).toThrow(
    "administrator_last_owner",
  );
  panel.administrator("second", "owner");
  panel.run("setAdministratorActive", { name: "tester", active: false });
});

test("what administrators do to each other is in the audit log, without a secret", async () => {
  const { token, invitationHash } = newToken();
  panel.administrator("olga", "operator");
  const invited = await panel.post("/administrators", { name: "zoe", role: "support" });
  expect(invited.text).toMatch(/\/setup#[\w-]{43}/);
  await panel.post("/administrators/olga/role", { role: "support" });
  await panel.post("/administrators/olga/disable");
  const entries = panel.query<{ operator: string; action: string; subject: string; after: string }>(
    "SELECT operator, action, subject, after FROM audit ORDER BY seq DESC LIMIT 3",
  );
  expect(entries.map(({ operator, action, subject }) => [operator, action, subject])).toEqual([
    ["panel:tester", "administrator.disable", "olga"],
    ["panel:tester", "administrator.role", "olga"],
    ["panel:tester", "administrator.invite", "zoe"],
  ]);
  expect(JSON.stringify(panel.query("SELECT * FROM audit"))).not.toMatch(/argon2|[0-9a-f]{64}/);
  expect(token).not.toBe(invitationHash);
});

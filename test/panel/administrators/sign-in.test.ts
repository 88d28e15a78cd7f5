// Signing in to the panel: invitations, passwords, codes, sessions and what ends them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { parseNetwork } from "../../../src/config/networks.ts";
import {
  findAdministrator,
  listSessionsOf,
} from "../../../src/db/administrators/administrators.ts";
import { codeOf, stepAt } from "../../../src/domain/administrators/second-factor.ts";
import {
  INVITATION_MS,
  PROOF_MS,
  SESSION_IDLE_MS,
  SESSION_MOST_MS,
} from "../../../src/domain/administrators/sign-ins.ts";
import { createPasswords } from "../../../src/web/server/passwords.ts";
import { newToken } from "../../../src/web/server/tokens.ts";
import {
  freshPanel,
  PASSWORD,
  PASSWORD_HASH,
  type Reply,
  type TestPanel,
} from "../../support/panel.ts";

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

/** Tries of a step at any time from any network, none of which succeeds. */
function triesFrom(step: "password" | "code") {
  const tryAt = (now: number, name: string, network: string): boolean => {
    try {
      panel.execute("beginSignIn", { step, name, address: "::1", network, userAgent: "" }, now);
      return true;
    } catch (error) {
      expect(error).toMatchObject({ code: "sign_in_limited" });
      return false;
    }
  };
  /** Seconds that each of several tries waited. */
  const waitsOf = (tries: number, start: number, place: (each: number) => string) => {
    let now = start;
    return Array.from({ length: tries }, (_, each) => {
      let waited = 0;
      while (!tryAt(now, "tester", place(each))) {
        now += 1000;
        waited += 1;
      }
      return waited;
    });
  };
  return { tryAt, waitsOf };
}

/** A panel behind a proxy, which says from where each request comes. */
async function openBehindProxy() {
  const open = await freshPanel("owner", {}, [parseNetwork("127.0.0.1/32")!]);
  const sendFrom = (
    address: string,
    path: string,
    fields: Record<string, string> | null,
    cookie = "",
  ) => {
    const headers = { cookie, origin: open.url, "x-forwarded-for": address };
    if (fields === null) return open.ask(path, { headers });
    return open.ask(path, { method: "POST", body: new URLSearchParams(fields), headers });
  };
  const signInFrom = (address: string, password = PASSWORD) =>
    sendFrom(address, "/sign-in", { name: "tester", password });
  return { open, sendFrom, signInFrom };
}

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

  test("fails ten times from an address, then everyone from there waits who never signed in there; a success is not counted", async () => {
    panel.administrator("olga", "operator");
    for (let each = 0; each < 3; each++) expect((await signIn("tester")).status).toBe(303);
    for (let each = 0; each < 10; each++) {
      expect((await signIn(`nobody-${each}`, OTHER)).status).toBe(422);
    }
    expect((await signIn("tester")).status).toBe(303);
    const limited = await signIn("olga");
    expect(limited.status).toBe(429);
    const seconds = Number(limited.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(limited.text).toContain("Too many failures");
  });

  test("fails for one name from one network: each further try there waits longer, and ten close it for a while", () => {
    const { waitsOf, tryAt } = triesFrom("password");
    const start = Date.now() + 1;
    // The tenth failure closes the network until the first one is 15 minutes old.
    expect(waitsOf(11, start, () => "network")).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 777]);
    expect(tryAt(start + 1_000_000, "someone-else", "other")).toBe(true);
  });

  test("is tried from two networks for a day, as often as they are let: no other network waits, known or not", () => {
    const { tryAt } = triesFrom("password");
    const start = Date.now();
    let tried = 0;
    for (let minute = 0; minute < 24 * 60; minute++) {
      const now = start + minute * 60_000;
      for (const network of ["attacker-1", "attacker-2"]) {
        if (tryAt(now, "tester", network)) tried += 1;
      }
      if (minute % 60 === 0) {
        // A place for each hour: no place fails often.
        expect(tryAt(now + 1, "tester", `hotel-${minute}`)).toBe(true);
      }
    }
    // 10 in 15 minutes from each.
    expect(tried).toBeLessThanOrEqual(2 * 10 * 4 * 24);
    expect(tried).toBeGreaterThan(1000);
  });

  test("is hashed two at a time with a short queue, and then refused", async () => {
    const passwords = createPasswords({ memoryCost: 8, timeCost: 1 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => passwords.isRight("x", null)),
    );
    const refused = outcomes.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(2);
    const strangers = Array.from({ length: 20 }, () => passwords.isRight("x", null));
    void Promise.allSettled(strangers);
    // The queue of strangers is full: who is known has another, which goes first.
    const order: string[] = [];
    const known = passwords.isRight("x", null, true).then(() => order.push("known"));
    const last = strangers[17]!.then(() => order.push("stranger"));
    await Promise.all([known, last]);
    expect(order).toEqual(["known", "stranger"]);
    await Promise.allSettled(strangers);
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

describe("what others try", () => {
  const HOME = "192.0.2.1";
  const ATTACKERS = ["198.51.100.1", "203.0.113.1"];

  test("10,000 times from two networks delays neither a sign-in from a known address nor who is signed in", async () => {
    const { open, sendFrom, signInFrom } = await openBehindProxy();
    open.user("alice", "10");
    const cookie = cookieOf(await signInFrom(HOME));
    const counts = new Map<number, number>();
    const ROUNDS = 10;
    for (let round = 0; round < ROUNDS; round++) {
      const attack = Array.from({ length: 20 }, async (_, worker) => {
        for (let each = 0; each < 10_000 / ROUNDS / 20; each++) {
          const { status } = await signInFrom(ATTACKERS[worker % 2]!, OTHER);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
      });
      const work = async () => {
        expect((await signInFrom(HOME)).status).toBe(303);
        // A mistype is not held against it either.
        expect((await signInFrom(HOME, OTHER)).status).toBe(422);
        expect((await signInFrom(HOME)).status).toBe(303);
        expect((await sendFrom(HOME, "/users/alice", null, cookie)).status).toBe(200);
        // From another network than it was opened from, and with a proof that is asked for again.
        open.query("UPDATE panel_sessions SET proved_at = 0");
        open.clock.now = Date.now();
        const fields = { direction: "credit", amount: "500", note: "n" };
        const asked = await sendFrom(ATTACKERS[0]!, "/users/alice/balance", fields, cookie);
        const hidden = [...asked.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
        const confirmed = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
        expect(asked.text).toContain('name="proof"');
        const done = await sendFrom(
          ATTACKERS[0]!,
          "/users/alice/balance",
          { ...confirmed, proof: PASSWORD },
          cookie,
        );
        expect(done.status).toBe(303);
      };
      await Promise.all([...attack, work()]);
    }
    expect(new Set(counts.keys())).toEqual(new Set([422, 429]));
    expect(counts.get(422)! + counts.get(429)!).toBe(10_000);
    // What was tried at all: at most ten from each in 15 minutes.
    expect(counts.get(422)).toBeLessThanOrEqual(20);
    expect(open.balance("alice")).toBe(10_000_000 + ROUNDS * 500_000_000);
    await open.stop();
  });

  test("closes out neither a known address of its own network nor, elsewhere, an unknown one", async () => {
    const { open, sendFrom, signInFrom } = await openBehindProxy();
    expect((await signInFrom(HOME)).status).toBe(303);
    for (let each = 0; each < 10; each++) {
      await sendFrom(HOME, "/sign-in", { name: `other-${each}`, password: OTHER });
      await signInFrom(ATTACKERS[0]!, OTHER);
    }
    expect((await sendFrom(HOME, "/sign-in", { name: "other", password: OTHER })).status).toBe(429);
    expect((await signInFrom(ATTACKERS[0]!)).status).toBe(429);
    expect((await signInFrom(HOME)).status).toBe(303);
    expect((await signInFrom(ATTACKERS[1]!)).status).toBe(303);
    await open.stop();
  });

  test("from a known address itself is bounded: 100 wrong passwords or 10 wrong codes in 15 minutes", () => {
    const name = "tester";
    const now = Date.now();
    panel.query("INSERT INTO known_networks VALUES (?, 'home', ?)", name, now - 1);
    for (const [step, most] of [
      ["password", 100],
      ["code", 10],
    ] as const) {
      const { tryAt } = triesFrom(step);
      for (let each = 0; each < most; each++) expect(tryAt(now, name, "home")).toBe(true);
      expect(tryAt(now, name, "home")).toBe(false);
      expect(tryAt(now + 15 * 60_000, name, "home")).toBe(true);
    }
  });

  test("of codes delays the name where it is not known, whatever the network, and nobody where it is", () => {
    const now = Date.now() + 1;
    panel.query("INSERT INTO known_networks VALUES ('tester', 'home', ?)", now - 1);
    const { tryAt, waitsOf } = triesFrom("code");
    expect(waitsOf(8, now, (each) => `network-${each}`)).toEqual([0, 0, 0, 1, 2, 4, 8, 16]);
    expect(tryAt(now + 31_000, "tester", "network-9")).toBe(false);
    expect(tryAt(now + 31_000, "tester", "home")).toBe(true);
    // Passwords are another matter.
    expect(triesFrom("password").tryAt(now + 31_000, "tester", "network-9")).toBe(true);
  });

  test("very often makes no wrong code forgotten that still counts", () => {
    const now = Date.now() + 1;
    const { tryAt } = triesFrom("code");
    const tries = (at: number) => [1, 2, 3, 4].map((each) => tryAt(at, "tester", `n-${each}`));
    expect(tries(now)).toEqual([true, true, true, false]);
    // As after so many tries of somebody else.
    panel.query(
      `INSERT INTO sign_in_attempts (seq, at, address, network, name_tag, user_agent)
        VALUES (1000000, ?, '::1', 'other', 1, '')`,
      now,
    );
    triesFrom("password").tryAt(now, "nobody", "other");
    expect(tryAt(now, "tester", "n-5")).toBe(false);
    // Nor are they kept for ever.
    triesFrom("password").tryAt(now + 16 * 60_000, "nobody", "other");
    expect(panel.query("SELECT seq FROM sign_in_attempts WHERE network LIKE 'n-%'")).toEqual([]);
  });

  test("does not keep an address known for ever, nor more than 20 of a name, nor after a new password", async () => {
    const { open, signInFrom } = await openBehindProxy();
    const known = () =>
      open.query<{ network: string }>(
        "SELECT network FROM known_networks ORDER BY signed_in_at, network",
      );
    for (let each = 1; each <= 25; each++) {
      open.query("UPDATE known_networks SET signed_in_at = signed_in_at - 1000");
      await signInFrom(`192.0.2.${each}`);
    }
    expect(known()).toHaveLength(20);
    expect(known()[0]!.network).toBe("192.0.2.6");
    await signInFrom("2001:db8::1");
    await signInFrom("2001:db8::2");
    expect(known().filter(({ network }) => network.startsWith("2001"))).toHaveLength(1);
    open.query("UPDATE known_networks SET signed_in_at = 1 WHERE network <> '192.0.2.25'");
    await signInFrom(HOME);
    expect(
      known()
        .map(({ network }) => network)
        .sort(),
    ).toEqual([HOME, "192.0.2.25"]);
    open.run("setAdministratorPassword", { name: "tester", passwordHash: PASSWORD_HASH });
    expect(known()).toEqual([]);
    await signInFrom(HOME);
    open.run("revokeSessions", { name: "tester", session: null });
    expect(known()).toEqual([]);
    await open.stop();
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

  test("or a password that is wrong ends a session after ten in a row, and is never delayed before", async () => {
    const cookie = panel.session("tester");
    const wrong = () => send("/account/password", { current: "wrong", password: OTHER }, cookie);
    for (const failures of [9, 10]) {
      for (let each = 0; each < failures; each++) expect((await wrong()).status).toBe(422);
      if (failures === 10) break;
      // A right one begins anew.
      panel.query("UPDATE panel_sessions SET proved_at = 0");
      panel.user("alice", "1");
      const fields = { direction: "credit", amount: "500", note: "n" };
      panel.clock.now = Date.now();
      const asked = await send("/users/alice/balance", fields, cookie);
      const hidden = [...asked.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      const confirmed = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
      const proved = { ...confirmed, proof: PASSWORD };
      expect((await send("/users/alice/balance", proved, cookie)).status).toBe(303);
    }
    expect(await isIn(cookie)).toBe(true);
    const eleventh = { current: PASSWORD, password: OTHER };
    expect((await send("/account/password", eleventh, cookie)).status).toBe(422);
    expect(await isIn(cookie)).toBe(false);
    expect((await signIn("tester")).status).toBe(303);
  });

  test("that is wrong ten times is refused for a while, from a known address too", async () => {
    await enrol(panel.session("tester"));
    const awaiting = cookieOf(await signIn("tester"));
    const replies: number[] = [];
    for (let each = 0; each < 11; each++) {
      replies.push((await send("/sign-in/code", { code: "000000" }, awaiting)).status);
    }
    expect(replies).toEqual([...Array.from({ length: 10 }, () => 422), 429]);
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

/** Sends a form and confirms what is asked, with a proof where one is asked for. */
async function confirmed(path: string, fields: Record<string, string> = {}, proof = PASSWORD) {
  const asked = await panel.post(path, fields);
  const hidden = [...asked.text.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  expect(asked.text).toContain('name="confirmed"');
  const values = Object.fromEntries(hidden.map(([, name, value]) => [name!, value!]));
  const needsProof = asked.text.includes('name="proof"');
  const sent = { ...fields, ...values, ...(needsProof && { proof }) };
  return { needsProof, done: await panel.post(path, sent) };
}

describe("what gives or takes an owner's power", () => {
  const later = () => (panel.clock.now += PROOF_MS + 1000);
  const rows = () => JSON.stringify(panel.query("SELECT * FROM administrators ORDER BY name"));

  beforeEach(() => {
    panel.administrator("olga", "operator");
    panel.administrator("boss", "owner");
    panel.run("setAdministratorActive", { name: "boss", active: false });
    panel.administrator("second", "owner");
    panel.query("UPDATE administrators SET totp_secret = 'JBSWY3DPEHPK3PXP' WHERE name = 'second'");
  });

  test.each([
    ["to invite an owner", "/administrators", { name: "zoe", role: "owner" }],
    ["to make someone an owner", "/administrators/olga/role", { role: "owner" }],
    ["to give up one's own role", "/administrators/tester/role", { role: "support" }],
    ["to disable oneself", "/administrators/tester/disable", {}],
    ["to disable another", "/administrators/olga/disable", {}],
    ["to enable an owner", "/administrators/boss/enable", {}],
    ["to remove a second factor", "/administrators/second/second-factor", {}],
  ])("%s needs a confirmation and a recent password", async (_, path, fields) => {
    const before = rows();
    later();
    const wrong = await confirmed(path, fields, "a wrong password");
    expect([wrong.needsProof, wrong.done.status, rows()]).toEqual([true, 422, before]);
    const { needsProof, done } = await confirmed(path, fields);
    expect(needsProof).toBe(true);
    expect(done.status).toBeLessThan(400);
    expect(rows()).not.toBe(before);
  });

  test("to invite others needs neither", async () => {
    later();
    expect((await panel.post("/administrators", { name: "zoe", role: "operator" })).text).toMatch(
      /\/setup#[\w-]{43}/,
    );
  });

  test("to set up a second factor needs a recent password", async () => {
    const cookie = panel.session("tester");
    await send("/account/second-factor/offer", {}, cookie);
    later();
    const shown = await panel.ask("/account/second-factor", { headers: { cookie } });
    const [, text] = /<code id="secret">([A-Z2-7 ]+)</.exec(shown.text)!;
    expect(shown.text).toContain('name="proof"');
    const code = codeOf(text!.replaceAll(" ", ""), stepAt(Date.now()));
    const enable = (proof: string) =>
      send("/account/second-factor/enable", { code, proof }, cookie);
    for (const [proof, message] of [
      ["", "Your password is asked for again"],
      ["wrong password", "Wrong password or code"],
    ] as const) {
      const refused = await enable(proof);
      expect([refused.status, refused.text]).toEqual([422, expect.stringContaining(message)]);
    }
    expect(panel.read((reader) => findAdministrator(reader, "tester"))!.totpSecret).toBe(null);
    expect((await enable(PASSWORD)).text).toContain("Recovery codes");
  });
});

test("a session is ended by its administrator or an owner; an id that is another's or of none is not found", async () => {
  panel.administrator("olga", "operator");
  const [own, others] = [panel.session("olga"), panel.session("tester")];
  const idOf = (cookie: string) => /=([^.]+)\./.exec(cookie)![1]!;
  const tryEnd = async (path: string, fields: Record<string, string>, cookie: string) => {
    const { status, text } = await send(path, fields, cookie);
    return [status, text.includes("Session not found")];
  };
  for (const session of [idOf(others), "nobody"]) {
    expect(await tryEnd("/account/sessions", { session }, own)).toEqual([422, true]);
  }
  const mismatched = { name: "olga", session: idOf(others) };
  expect(await tryEnd("/administrators/sessions", mismatched, others)).toEqual([422, true]);
  expect([await isIn(own), await isIn(others)]).toEqual([true, true]);
  const right = { name: "olga", session: idOf(own) };
  expect((await send("/administrators/sessions", right, others)).status).toBe(303);
  expect([await isIn(own), await isIn(others)]).toEqual([false, true]);
});

test("what administrators do to each other is in the audit log, without a secret", async () => {
  const { token, invitationHash } = newToken();
  panel.administrator("olga", "operator");
  const invited = await panel.post("/administrators", { name: "zoe", role: "support" });
  expect(invited.text).toMatch(/\/setup#[\w-]{43}/);
  await confirmed("/administrators/olga/role", { role: "support" });
  await confirmed("/administrators/olga/disable");
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

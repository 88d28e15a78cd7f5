// Invitations and passwords of the panel.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { findAdministrator } from "../../../src/db/administrators/administrators.ts";
import { INVITATION_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { createPasswords } from "../../../src/web/sessions/passwords.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { cookieOf, OTHER_PASSWORD, signingIn } from "./sign-in.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
});
afterEach(() => panel.stop());

const { send, signIn, isIn, invite, triesFrom } = signingIn(() => panel);

describe("an invitation", () => {
  test("makes an administrator once, signed in with the role that it was for", async () => {
    const token = invite("alice", "support");
    const reply = await send("/setup", { token, password: OTHER_PASSWORD });
    expect([reply.status, reply.headers.get("location")]).toEqual([303, "/"]);
    expect(await isIn(cookieOf(reply))).toBe(true);
    const again = await send("/setup", { token, password: "yet another password" });
    expect(again.status).toBe(422);
    expect(again.text).toContain("The link was used or has expired");
    expect((await signIn("alice", OTHER_PASSWORD)).status).toBe(303);
  });

  test("is over after 30 minutes, when another takes its place, and when its administrator is disabled", async () => {
    const first = invite("alice");
    const second = invite("alice");
    expect((await send("/setup", { token: first, password: OTHER_PASSWORD })).status).toBe(422);
    const { invitationHash } = panel.read((reader) => findAdministrator(reader, "alice"))!;
    const late = Date.now() + INVITATION_MS + 1;
    expect(() =>
      panel.execute(
        "acceptInvitation",
        { site: "panel", invitationHash: invitationHash!, passwordHash: "x" },
        late,
      ),
    ).toThrow("invitation_invalid");
    panel.run("setAdministratorActive", { name: "alice", active: false });
    expect((await send("/setup", { token: second, password: OTHER_PASSWORD })).status).toBe(422);
  });

  test("refuses a password that is too short, and is then still open", async () => {
    const token = invite("alice");
    const reply = await send("/setup", { token, password: "short" });
    expect(reply.status).toBe(422);
    expect(reply.text).toContain("password must be 12 to 1024 characters");
    expect((await send("/setup", { token, password: OTHER_PASSWORD })).status).toBe(303);
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

  test("with TLS the cookie is limited to this host, and responses demand TLS", async () => {
    const secure = await openPanel({ settings: { isSecure: true, url: "https://panel.example" } });
    const reply = await send("/sign-in", { name: "tester", password: PASSWORD }, "", secure);
    expect(reply.headers.getSetCookie()[0]).toMatch(
      /^__Host-reseller=.*; Secure; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(reply.headers.get("strict-transport-security")).toBe("max-age=31536000");
    await secure.stop();
  });

  test("that is wrong, or for an unknown name, gets the same reply, and one log line with address and browser", async () => {
    const wrong = await signIn("tester", OTHER_PASSWORD);
    const unknown = await signIn("nobody", OTHER_PASSWORD);
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
    expect(stored + JSON.stringify(panel.logged)).not.toMatch(
      new RegExp(`${OTHER_PASSWORD}|nobody`),
    );
    expect(wrong.text).not.toContain(OTHER_PASSWORD);
  });

  test("that fails ten times from an address delays everyone there who never signed in there; a success does not count", async () => {
    panel.administrator("olga", "operator");
    for (let each = 0; each < 3; each++) expect((await signIn("tester")).status).toBe(303);
    for (let each = 0; each < 10; each++) {
      expect((await signIn(`nobody-${each}`, OTHER_PASSWORD)).status).toBe(422);
    }
    expect((await signIn("tester")).status).toBe(303);
    const limited = await signIn("olga");
    expect(limited.status).toBe(429);
    const seconds = Number(limited.headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(800);
    expect(seconds).toBeLessThanOrEqual(900);
    expect(limited.text).toContain("Too many failures");
  });

  test("that fails for one name from one network delays each further try there, and ten close it for a while", () => {
    const { waitsOf, tryAt } = triesFrom("password");
    const start = Date.now() + 1;
    // The tenth failure closes the network until the first one is 15 minutes old.
    expect(waitsOf(11, start, () => "network")).toEqual([0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 777]);
    expect(tryAt(start + 1_000_000, "someone-else", "other")).toBe(true);
  });

  test("that two networks try for a day delays no other network, known or not", () => {
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

  test("is hashed two at a time with a short queue; beyond it sign-ins are refused", async () => {
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
    // Strangers who register are strangers: their passwords do not fill the queue of who is known.
    const registering = Array.from({ length: 20 }, () => passwords.hash("x", false));
    const outcome = passwords.isRight("x", null, true);
    expect(
      (await Promise.allSettled(registering)).filter(({ status }) => status === "rejected"),
    ).toHaveLength(2);
    expect(await outcome).toBe(false);
    expect(await passwords.isRight("a", await passwords.hash("a"))).toBe(true);
    // As OWASP asks for at least: 19 MiB and two passes.
    expect(await createPasswords().hash("a")).toStartWith("$argon2id$v=19$m=65536,t=2,p=1$");
  });

  test("redirects only to pages of the panel", async () => {
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

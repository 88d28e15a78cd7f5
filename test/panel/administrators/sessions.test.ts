// Sessions of the panel and what ends them.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SESSION_IDLE_MS, SESSION_MOST_MS } from "../../../src/domain/sign-ins/sign-ins.ts";
import { openPanel, PASSWORD, type TestPanel } from "../../support/worlds/panel.ts";
import { cookieOf, OTHER_PASSWORD, signingIn } from "./sign-in.ts";

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
});
afterEach(() => panel.stop());

const { send, signIn, isIn } = signingIn(() => panel);

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

  test("signing out ends the session of this browser only", async () => {
    const [one, two] = [panel.session("tester"), panel.session("tester")];
    const reply = await send("/sign-out", {}, one);
    expect(reply.headers.getSetCookie()[0]).toContain("Max-Age=0");
    expect([await isIn(one), await isIn(two)]).toEqual([false, true]);
  });

  test.each([
    [
      "a password",
      (): unknown => panel.run("setPassword", { site: "panel", person: "olga", passwordHash: "x" }),
    ],
    ["a role", (): unknown => panel.run("setAdministratorRole", { name: "olga", role: "support" })],
    [
      "being disabled",
      (): unknown => panel.run("setAdministratorActive", { name: "olga", active: false }),
    ],
    [
      "revoke",
      (): unknown => panel.run("revokeSessions", { site: "panel", person: "olga", session: null }),
    ],
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

  test("of another browser ends when the password is changed; this browser gets a new session", async () => {
    const [own, other] = [panel.session("tester"), panel.session("tester")];
    const wrong = await send(
      "/account/password",
      { current: "wrong", password: OTHER_PASSWORD },
      own,
    );
    expect(wrong.text).toContain("Wrong password");
    expect(await isIn(other)).toBe(true);
    const reply = await send(
      "/account/password",
      { current: PASSWORD, password: OTHER_PASSWORD },
      own,
    );
    expect(reply.status).toBe(303);
    expect([await isIn(own), await isIn(other), await isIn(cookieOf(reply))]).toEqual([
      false,
      false,
      true,
    ]);
    expect((await signIn("tester", PASSWORD)).status).toBe(422);
    expect((await signIn("tester", OTHER_PASSWORD)).status).toBe(303);
  });
});

test("a session is ended by its administrator or an owner; another's or an unknown id is not found", async () => {
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

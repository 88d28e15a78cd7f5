// What others try at the sign-in, and what it does to those who may sign in.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { openPanel, PASSWORD, PASSWORD_HASH, type TestPanel } from "../../support/worlds/panel.ts";
import { runs } from "../../support/runs.ts";
import { BEHIND_PROXY, cookieOf, fromAddresses, OTHER_PASSWORD, signingIn } from "./sign-in.ts";

const TRIES = runs(1_000, 10_000);

let panel: TestPanel;
beforeEach(async () => {
  panel = await openPanel();
});
afterEach(() => panel.stop());

const { triesFrom } = signingIn(() => panel);

describe("attempts of others", () => {
  const HOME = "192.0.2.1";
  const ATTACKERS = ["198.51.100.1", "203.0.113.1"];

  test(`${TRIES} times from two networks delay neither a sign-in from a known address nor a session`, async () => {
    const open = await openPanel(BEHIND_PROXY);
    const { sendFrom, signInFrom } = fromAddresses(open);
    open.user("alice", "10");
    const cookie = cookieOf(await signInFrom(HOME));
    const counts = new Map<number, number>();
    const ROUNDS = 10;
    for (let round = 0; round < ROUNDS; round++) {
      const attack = Array.from({ length: 20 }, async (_, worker) => {
        for (let each = 0; each < TRIES / ROUNDS / 20; each++) {
          const { status } = await signInFrom(ATTACKERS[worker % 2]!, OTHER_PASSWORD);
          counts.set(status, (counts.get(status) ?? 0) + 1);
        }
      });
      const work = async () => {
        expect((await signInFrom(HOME)).status).toBe(303);
        // A mistype is not held against it either.
        expect((await signInFrom(HOME, OTHER_PASSWORD)).status).toBe(422);
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
    expect(counts.get(422)! + counts.get(429)!).toBe(TRIES);
    // What was tried at all: at most ten from each in 15 minutes.
    expect(counts.get(422)).toBeLessThanOrEqual(20);
    expect(open.balance("alice")).toBe(10_000_000 + ROUNDS * 500_000_000);
    await open.stop();
  });

  test("lock out neither a known address of the same network nor an unknown one elsewhere", async () => {
    const open = await openPanel(BEHIND_PROXY);
    const { sendFrom, signInFrom } = fromAddresses(open);
    expect((await signInFrom(HOME)).status).toBe(303);
    for (let each = 0; each < 10; each++) {
      await sendFrom(HOME, "/sign-in", { name: `other-${each}`, password: OTHER_PASSWORD });
      await signInFrom(ATTACKERS[0]!, OTHER_PASSWORD);
    }
    expect(
      (await sendFrom(HOME, "/sign-in", { name: "other", password: OTHER_PASSWORD })).status,
    ).toBe(429);
    expect((await signInFrom(ATTACKERS[0]!)).status).toBe(429);
    expect((await signInFrom(HOME)).status).toBe(303);
    expect((await signInFrom(ATTACKERS[1]!)).status).toBe(303);
    await open.stop();
  });

  test("from a known address are limited: 100 wrong passwords or 10 wrong codes in 15 minutes", () => {
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

  test("at codes delay unknown addresses, whatever the network, and no known one", () => {
    const now = Date.now() + 1;
    panel.query("INSERT INTO known_networks VALUES ('tester', 'home', ?)", now - 1);
    const { tryAt, waitsOf } = triesFrom("code");
    expect(waitsOf(8, now, (each) => `network-${each}`)).toEqual([0, 0, 0, 1, 2, 4, 8, 16]);
    expect(tryAt(now + 31_000, "tester", "network-9")).toBe(false);
    expect(tryAt(now + 31_000, "tester", "home")).toBe(true);
    // Passwords are another matter.
    expect(triesFrom("password").tryAt(now + 31_000, "tester", "network-9")).toBe(true);
  });

  test("never discard a wrong code that still counts, however many they are", () => {
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

  test("meet few known addresses: at most 20 for a name, none too old, none after a new password", async () => {
    const open = await openPanel(BEHIND_PROXY);
    const { signInFrom } = fromAddresses(open);
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
    open.run("setPassword", { site: "panel", person: "tester", passwordHash: PASSWORD_HASH });
    expect(known()).toEqual([]);
    await signInFrom(HOME);
    open.run("revokeSessions", { site: "panel", person: "tester", session: null });
    expect(known()).toEqual([]);
    await open.stop();
  });
});

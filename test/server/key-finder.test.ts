// Keys that a server on PostgreSQL has in memory: an old one is never good for longer than a second.

import { describe, expect, test } from "bun:test";
import type { Caller } from "../../src/db/users/keys.ts";
import { createKeyFinder } from "../../src/server/key-finder.ts";

const KEY: Caller = {
  id: "k",
  resellerAccount: 3,
  type: "full",
  reach: "all",
  active: true,
  expiresAt: null,
  ended: false,
  testOf: null,
  allow: "",
  username: "alice",
  limits: null,
};

/** A database whose answers are given by hand, and a clock that is set by hand. */
function finder() {
  const asked: PromiseWithResolvers<Caller | undefined>[] = [];
  const clock = { now: 0 };
  const keys = createKeyFinder(
    () => {
      const answer = Promise.withResolvers<Caller | undefined>();
      asked.push(answer);
      return answer.promise;
    },
    () => clock.now,
  );
  return { asked, clock, keys };
}

describe("a key", () => {
  test("is queried once for simultaneous requests, and at most once a second", async () => {
    const { asked, clock, keys } = finder();
    const together = Promise.all([keys.find("a"), keys.find("a")]);
    asked[0]!.resolve(KEY);
    expect(await together).toEqual([KEY, KEY]);
    clock.now = 999;
    expect(await keys.find("a")).toBe(KEY);
    expect(asked.length).toBe(1);
    clock.now = 1000;
    void keys.find("a");
    expect(asked.length).toBe(2);
  });

  test("is as old as its query, not as the answer", async () => {
    const { asked, clock, keys } = finder();
    const found = keys.find("a");
    clock.now = 900;
    asked[0]!.resolve(KEY);
    await found;
    clock.now = 1001;
    void keys.find("a");
    expect(asked.length).toBe(2);
  });

  test("that was asked for before a change is not found after it", async () => {
    const { asked, keys } = finder();
    const before = keys.find("a");
    keys.clear();
    const after = keys.find("a");
    asked[1]!.resolve({ ...KEY, active: false });
    expect(await after).toMatchObject({ active: false });
    // The older answer comes last.
    asked[0]!.resolve(KEY);
    await before;
    expect(await keys.find("a")).toMatchObject({ active: false });
  });

  test("that does not exist is asked for again at once, and so is one whose look-up failed", async () => {
    const { asked, keys } = finder();
    const unknown = keys.find("a");
    asked[0]!.resolve(undefined);
    expect(await unknown).toBeUndefined();
    const failing = Promise.resolve(keys.find("a"));
    asked[1]!.reject(new Error("away"));
    expect(failing).rejects.toThrow("away");
    await failing.catch(() => {});
    const found = keys.find("a");
    asked[2]!.resolve(KEY);
    expect(await found).toBe(KEY);
  });
});

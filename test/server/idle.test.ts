// An idle server sleeps: one timer of its main thread is set for a second, every other one for longer.
// What that costs is measured by `bun run bench --only idle`.

import { afterEach, expect, test } from "bun:test";
import { freshDatabase } from "../support/databases/test-database.ts";
import { openService } from "../support/worlds/service.ts";
import { PROVIDER_KEY, startUpstream } from "../support/peers/upstream.ts";
import { until } from "../support/until.ts";

const real = { setTimeout, setInterval, clearTimeout, clearInterval };
afterEach(() => Object.assign(globalThis, real));

/** From here on, the milliseconds of every timer that is set. */
function watchTimers(): Map<unknown, number> {
  const set = new Map<unknown, number>();
  type Callback = (...values: unknown[]) => void;
  Object.assign(globalThis, {
    setTimeout(callback: Callback, milliseconds = 0, ...values: unknown[]) {
      const fire = () => {
        set.delete(timer);
        callback(...values);
      };
      const timer = real.setTimeout(fire, milliseconds);
      set.set(timer, milliseconds);
      return timer;
    },
    setInterval(callback: Callback, milliseconds = 0, ...values: unknown[]) {
      const timer = real.setInterval(callback, milliseconds, ...values);
      set.set(timer, milliseconds);
      return timer;
    },
    clearTimeout(timer: Timer | undefined) {
      set.delete(timer);
      real.clearTimeout(timer);
    },
    clearInterval(timer: Timer | undefined) {
      set.delete(timer);
      real.clearInterval(timer);
    },
  });
  return set;
}

/** How often they fire, if each is set again when it has fired. */
function wakeUpsPerSecond(timers: Map<unknown, number>): number {
  return [...timers.values()].reduce((sum, milliseconds) => sum + 1000 / milliseconds, 0);
}

test("an idle server wakes at most one and a half times a second, also while orders are polled", async () => {
  const upstream = await startUpstream();
  const database = freshDatabase();
  database.user("anna", "100");
  const key = database.key("anna", "full").text;
  const { url } = upstream;
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: PROVIDER_KEY });
  database.service({ id: "likes", provider: { name: "acme", service: "7" } });
  database.service({ id: "by-hand" });
  const timers = watchTimers();
  const server = await openService({ settings: { backupEvery: 3_600_000, logReads: 0 }, database });
  const isQuiet = () => timers.size >= 3 && wakeUpsPerSecond(timers) <= 1.5;
  await until(isQuiet);
  for (const service of ["likes", "by-hand"]) {
    const body = { service, link: "https://example.com/me", quantity: 100 };
    // A connection that is kept open counts as a caller: its idle time runs.
    const headers = { connection: "close" };
    expect((await server.call("POST", "/orders", key, body, headers)).status).toBe(200);
  }
  await until(isQuiet);
  expect(upstream.adds()).toHaveLength(1);
  await server.stop();
  await upstream.stop();
});

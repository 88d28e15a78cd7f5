// The leases of servers that share a database: one leader, and no two servers of one name.

import { describe, expect, test } from "bun:test";
import type { Store } from "../../src/db/port/port.ts";
import { createId } from "../../src/db/port/ids.ts";
import { execute } from "../../src/operations/batch/execute.ts";
import type { Server } from "../../src/db/tables/database.ts";
import { LEASE_MS } from "../../src/db/delivery/server-leases.ts";
import type { SeenServer } from "../../src/operations/batch/server-leases.ts";
import {
  NameTakenError,
  type ServerLease,
  startLease,
  watchRenewals,
} from "../../src/writer/lease.ts";
import { ENGINES, freshStore, type TestStore } from "../support/databases/stores.ts";

const HOUR_MS = 3_600_000;

/** As if each had been started by a process of its own. */
function server(store: Store, name: string) {
  const id = createId();
  const renew = async (now: number, ended: SeenServer[] = []) =>
    execute(store, "renewLease", { id, name, ended }, now);
  const end = async () => execute(store, "endLease", { id }, 0);
  return { id, renew, end };
}

const rows = (store: TestStore) => store.query("SELECT name FROM servers ORDER BY name");

describe.each(ENGINES)("on %s", (engine) => {
  test("the server that has been there longest leads, whatever the clock is, and the next one once it is gone", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    expect(await one.renew(1000)).toEqual({ servers: 1, isLeader: true });
    expect(await two.renew(2000)).toEqual({ servers: 2, isLeader: false });
    for (const now of [6000, 6000 + HOUR_MS, 1]) {
      expect(await two.renew(now)).toEqual({ servers: 2, isLeader: false });
      expect(await one.renew(now)).toEqual({ servers: 2, isLeader: true });
    }
    const ended = [{ id: one.id, leaseUntil: 1 + LEASE_MS }];
    expect(await two.renew(9000, ended)).toEqual({ servers: 1, isLeader: true });
    expect(await rows(store)).toEqual([{ name: "two" }]);
    await store.close();
  });

  test("a server that was taken for dead starts again, ranked behind those that continued", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    await one.renew(1000);
    await two.renew(20_000, [{ id: one.id, leaseUntil: 1000 + LEASE_MS }]);
    expect(await one.renew(41_000)).toEqual({ servers: 2, isLeader: false });
    await store.close();
  });

  test("a server that renewed its lease since it was seen is not taken for dead", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    await one.renew(1000);
    // Its clock stands still.
    await one.renew(1000);
    const ended = [{ id: one.id, leaseUntil: 1000 + LEASE_MS }];
    expect(await two.renew(HOUR_MS, ended)).toEqual({ servers: 2, isLeader: false });
    await store.close();
  });

  test("one that ends makes room at once", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    await one.renew(1000);
    await two.renew(1001);
    await one.end();
    expect(await two.renew(1003)).toEqual({ servers: 1, isLeader: true });
    expect(await rows(store)).toEqual([{ name: "two" }]);
    await store.close();
  });
});

describe("counts as dead:", () => {
  const STEP_MS = 5000;
  /** A server that looks every 5 s of its uptime, from 0 on, at a server with that lease. */
  function watch(leaseAt: (uptime: number) => number, leftOut: (uptime: number) => boolean) {
    const silent = watchRenewals(2 * STEP_MS);
    const deadAt: number[] = [];
    for (let uptime = 0; uptime <= 40 * STEP_MS; uptime += STEP_MS) {
      if (leftOut(uptime)) continue;
      const row: Server = { id: "a", name: "a", startedAt: 1, leaseUntil: leaseAt(uptime) };
      if (silent([row], uptime, uptime + 1).length > 0) deadAt.push(uptime);
    }
    return deadAt;
  }
  const never = () => false;

  test.each<[what: string, leaseAt: (uptime: number) => number]>([
    ["by the right clock", (uptime) => uptime + LEASE_MS],
    ["by a clock that goes back all the time", (uptime) => -uptime],
    ["by a clock that jumps hours ahead and back", (uptime) => uptime + HOUR_MS * (uptime % 3)],
    ["hours before this server's time", (uptime) => uptime - 5 * HOUR_MS],
  ])("no server that renews its lease %s", (_, leaseAt) => {
    expect(watch(leaseAt, never)).toEqual([]);
  });

  test("a server that renewed nothing for the length of a lease, even of a lease that ends in years", () => {
    for (const lease of [1, LEASE_MS, 1e15]) {
      expect(watch(() => lease, never)[0]).toBe(LEASE_MS + STEP_MS);
    }
  });

  test("no server because the database is unreachable or this process is frozen", () => {
    const isAway = (uptime: number) => uptime > 10_000 && uptime < 100_000;
    expect(watch(() => 1, isAway)[0]).toBe(100_000 + LEASE_MS + STEP_MS);
    // Looks that fail now and then end no watch.
    expect(
      watch(
        () => 1,
        (uptime) => uptime === 15_000,
      )[0],
    ).toBe(LEASE_MS + STEP_MS);
  });
});

describe.each(ENGINES)("a start under the name of a server that has a lease, on %s", (engine) => {
  async function start(
    store: Store,
    connected: (id: string) => Promise<boolean>,
    silentMs = 1200,
    now = Date.now(),
  ) {
    const id = createId();
    const lease = await startLease({
      store,
      id,
      name: "one",
      clock: { now: () => now, measure: () => Promise.resolve() },
      isConnected: connected,
      onRenewal() {},
      renewMs: 60_000,
      silentMs,
    });
    return { id, lease };
  }

  test("is refused while that one renews it", async () => {
    const store = await freshStore(engine);
    const running = server(store, "one");
    await running.renew(Date.now());
    const connected = async () => {
      // Its heart beats while it is looked at.
      await running.renew(Date.now() + 1);
      return true;
    };
    const attempt = start(store, connected, 600_000);
    expect(attempt).rejects.toBeInstanceOf(NameTakenError);
    await attempt.catch(() => {});
    expect(await rows(store)).toEqual([{ name: "one" }]);
    await store.close();
  });

  test("is refused whatever the clock, and when both start at once", async () => {
    const store = await freshStore(engine);
    const running = server(store, "one");
    await running.renew(1000);
    let beats = 1000;
    const connected = async () => {
      await running.renew((beats += 1));
      return true;
    };
    for (const now of [1, Date.now(), Date.now() + HOUR_MS]) {
      const attempt = start(store, connected, 600_000, now);
      expect(attempt).rejects.toBeInstanceOf(NameTakenError);
      await attempt.catch(() => {});
    }
    await running.end();
    const gone = () => Promise.resolve(false);
    const both = await Promise.allSettled([start(store, gone), start(store, gone)]);
    const left = both.filter(({ status }) => status === "fulfilled");
    expect(left.length).toBeLessThan(2);
    expect((await rows(store)).length).toBe(left.length);
    for (const each of left) await (each as { value: { lease: ServerLease } }).value.lease.end();
    await store.close();
  });

  test("takes its place at once when its connections are gone: it was killed", async () => {
    const store = await freshStore(engine);
    const killed = server(store, "one");
    await killed.renew(Date.now());
    const { id, lease } = await start(store, () => Promise.resolve(false), 600_000);
    expect(lease.isLeader()).toBe(true);
    expect(await store.query("SELECT id FROM servers")).toEqual([{ id }]);
    await lease.end();
    expect(await rows(store)).toEqual([]);
    await store.close();
  });

  test("takes its place after a while of silence when its connections hang: its machine was lost", async () => {
    const store = await freshStore(engine);
    const lost = server(store, "one");
    await lost.renew(Date.now());
    const { id, lease } = await start(store, () => Promise.resolve(true));
    expect(await store.query("SELECT id FROM servers")).toEqual([{ id }]);
    await lease.end();
    await store.close();
  });
});

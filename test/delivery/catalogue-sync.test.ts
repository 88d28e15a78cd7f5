// Scheduled syncs: who makes them, when, and what ends them. What they apply: test/system/binary/catalogue.binary.ts.

import { describe, expect, test } from "bun:test";
import { startScheduledSyncs, type SyncDeps } from "../../src/delivery/catalogue-sync.ts";
import type { Tick } from "../../src/scheduling/ticker.ts";
import type { UpstreamEntry } from "../../src/domain/providers/upstream-services.ts";
import { ProviderFailure } from "../../src/providers/provider.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;
const LISTED = {
  service: "1",
  name: "Likes",
  category: "C",
  type: "Default",
  min: 1,
  max: 9,
  dripfeed: false,
  cancel: false,
  refill: false,
};
const SILENT = { info() {}, warn() {}, error() {} };

/** A provider that is synced every hour, and the tick of its server. */
function open(overrides: Partial<SyncDeps> = {}) {
  const database = freshDatabase();
  const address = { protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
  database.run("createProvider", { name: "acme", ...address, markup: "0", syncEvery: HOUR });
  const calls: AbortSignal[] = [];
  const state = { rate: "1", fails: false };
  let tick: Tick = () => Promise.resolve(null);
  const deps: SyncDeps = {
    store: database.store,
    writer: {
      submit: async (name, input) => database.run(name, input as never) as never,
    },
    log: SILENT,
    ticker: { add: (added) => ((tick = added), () => {}) },
    connect: () => ({
      services: async (stop): Promise<UpstreamEntry[]> => {
        calls.push(stop);
        if (state.fails) throw new ProviderFailure("down");
        return [{ ...LISTED, rate: state.rate }];
      },
    }),
    isLeader: () => true,
    ...overrides,
  };
  const syncs = startScheduledSyncs(deps);
  return { database, calls, state, syncs, tick: (now: number) => tick(now) };
}

const providerIn = (database: TestDatabase) =>
  database.query<{ synced_at: number | null; sync_held: string | null }>(
    "SELECT synced_at, sync_held FROM providers WHERE name = 'acme'",
  )[0]!;

describe("a scheduled sync", () => {
  test("runs once when it is due, and the tick returns when the next one is due", async () => {
    const { database, calls, tick, syncs } = open();
    expect(await tick(Date.now())).toBeNull();
    await tick(Date.now());
    await until(() => providerIn(database).synced_at !== null);
    expect(calls).toHaveLength(1);
    const at = Number(providerIn(database).synced_at);
    expect(await tick(at + 1)).toBe(HOUR - 1);
    // A clock that was ahead delays it by an interval at most.
    expect(await tick(at - 9 * HOUR)).toBe(HOUR);
    expect(calls).toHaveLength(1);
    await tick(at + HOUR);
    await until(() => calls.length === 2);
    await syncs.stop();
  });

  test("prices by the markup of a category and the rounding that are stored", async () => {
    const { database, tick, syncs } = open();
    const rules = { categoryMarkups: { C: "25" }, roundPrices: "x.99" } as const;
    database.run("updateProvider", { name: "acme", changes: rules });
    await tick(Date.now());
    await until(() => providerIn(database).synced_at !== null);
    expect(database.query("SELECT price_micros FROM services")).toEqual([
      { price_micros: 1_990_000 },
    ]);
    await syncs.stop();
  });

  test("is not run by a server that is not the leader, nor for an inactive provider", async () => {
    const other = open({ isLeader: () => false });
    await other.tick(Date.now());
    await other.syncs.stop();
    const inactive = open();
    inactive.database.run("setProviderActive", { name: "acme", active: false });
    await inactive.tick(Date.now());
    await inactive.syncs.stop();
    expect([other.calls.length, inactive.calls.length]).toEqual([0, 0]);
  });

  test("that cannot run is held, until the next one that can be applied", async () => {
    const { database, state, tick, syncs } = open();
    state.fails = true;
    await tick(Date.now());
    await until(() => providerIn(database).sync_held !== null);
    expect(providerIn(database).sync_held).toBe("its list cannot be read: down");
    state.fails = false;
    await tick(Date.now() + HOUR + 1000);
    await until(() => providerIn(database).sync_held === null);
    const services = database.query("SELECT provider_service FROM services");
    expect(services).toEqual([{ provider_service: "1" }]);
    await syncs.stop();
  });

  test("that was held is no longer held once its schedule is removed, nor is one that fails afterwards", async () => {
    const { database, state, tick, syncs } = open();
    state.fails = true;
    await tick(Date.now());
    await until(() => providerIn(database).sync_held !== null);
    database.run("updateProvider", { name: "acme", changes: { syncPriceLimit: "5" } });
    expect(providerIn(database).sync_held).not.toBeNull();
    database.run("updateProvider", { name: "acme", changes: { syncEvery: null } });
    expect(providerIn(database).sync_held).toBeNull();
    database.run("holdSync", { providerId: 1, held: "it came too late" });
    expect(providerIn(database).sync_held).toBeNull();
    await syncs.stop();
  });

  test.each([
    ["another markup", { markup: "50" }],
    ["no schedule", { syncEvery: null }],
    ["new services left out", { syncNew: "ignore" }],
    ["prices rounded", { roundPrices: "x.99" }],
    ["a markup of its category", { categoryMarkups: { C: "50" } }],
  ] as const)("changes nothing when the operator sets %s while it runs", async (_, changes) => {
    const called = Promise.withResolvers<void>();
    const released = Promise.withResolvers<UpstreamEntry[]>();
    const answered = Promise.withResolvers<void>();
    const { database, tick, syncs } = open({
      connect: () => ({
        services() {
          called.resolve();
          return released.promise;
        },
      }),
      writer: {
        async submit(name, input) {
          try {
            return database.run(name, input as never) as never;
          } finally {
            answered.resolve();
          }
        },
      },
    });
    await tick(Date.now());
    await called.promise;
    database.run("updateProvider", { name: "acme", changes });
    const read = () =>
      database.query("SELECT markup, sync_every, sync_new, synced_at FROM providers");
    const before = read();
    released.resolve([{ ...LISTED, rate: "1" }]);
    await answered.promise;
    expect([read(), database.query("SELECT id FROM services")]).toEqual([before, []]);
    await syncs.stop();
  });

  test("is aborted with its server, and writes nothing afterwards", async () => {
    const called = Promise.withResolvers<AbortSignal>();
    const released = Promise.withResolvers<UpstreamEntry[]>();
    const { database, tick, syncs } = open({
      connect: () => ({
        services: (stop) => {
          called.resolve(stop);
          return released.promise;
        },
      }),
    });
    await tick(Date.now());
    const stop = await called.promise;
    const stopped = syncs.stop();
    expect(stop.aborted).toBe(true);
    released.resolve([{ ...LISTED, rate: "1" }]);
    await stopped;
    expect(providerIn(database)).toEqual({ synced_at: null, sync_held: null });
    expect(database.query("SELECT 1 FROM services")).toEqual([]);
  });
});

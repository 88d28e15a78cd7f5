// The leases of servers that share a database: one leader, and no two servers of one name.

import { describe, expect, test } from "bun:test";
import type { Store } from "../../src/db/port.ts";
import { createId } from "../../src/db/ids.ts";
import { execute } from "../../src/operations/execute.ts";
import { LEASE_MS } from "../../src/operations/server-leases.ts";
import { NameTakenError, startLease } from "../../src/writer/lease.ts";
import { ENGINES, freshStore, type TestStore } from "../support/stores.ts";

/** As if each had been started by a process of its own. */
function server(store: Store, name: string) {
  const id = createId();
  const renew = async (now: number, replaces: string[] = []) =>
    execute(store, "renewLease", { id, name, replaces }, now);
  const end = async () => execute(store, "endLease", { id }, 0);
  return { id, renew, end };
}

const rows = (store: TestStore) => store.query("SELECT name FROM servers ORDER BY name");

describe.each(ENGINES)("on %s", (engine) => {
  test("the server that has been there longest leads, and the next one once its lease has ended", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    expect(await one.renew(1000)).toEqual({ servers: 1, isLeader: true });
    expect(await two.renew(2000)).toEqual({ servers: 2, isLeader: false });
    expect(await one.renew(6000)).toEqual({ servers: 2, isLeader: true });
    expect(await two.renew(6000 + LEASE_MS - 1)).toEqual({ servers: 2, isLeader: false });
    expect(await two.renew(6000 + LEASE_MS)).toEqual({ servers: 1, isLeader: true });
    await store.close();
  });

  test("a server whose lease had ended begins anew, behind those that went on", async () => {
    const store = await freshStore(engine);
    const [one, two] = [server(store, "one"), server(store, "two")];
    await one.renew(1000);
    await two.renew(20_000);
    await two.renew(40_000);
    expect(await one.renew(41_000)).toEqual({ servers: 2, isLeader: false });
    await store.close();
  });

  test("one that ends makes room at once; one that was killed is forgotten in the end", async () => {
    const store = await freshStore(engine);
    const [one, two, three] = ["one", "two", "three"].map((name) => server(store, name));
    await one!.renew(1000);
    await two!.renew(1001);
    await three!.renew(1002);
    await one!.end();
    expect(await two!.renew(1003)).toEqual({ servers: 2, isLeader: true });
    await two!.renew(1003 + 2 * 24 * 3_600_000);
    expect(await rows(store)).toEqual([{ name: "two" }]);
    await store.close();
  });

  test("a server that replaces another takes its row away", async () => {
    const store = await freshStore(engine);
    const [old, fresh] = [server(store, "one"), server(store, "one")];
    await old.renew(1000);
    expect(await fresh.renew(1001, [old.id])).toEqual({ servers: 1, isLeader: true });
    expect(await rows(store)).toEqual([{ name: "one" }]);
    await store.close();
  });
});

describe.each(ENGINES)("a start under the name of a server that has a lease, on %s", (engine) => {
  async function start(store: Store, connected: (id: string) => Promise<boolean>, silentMs = 1200) {
    const id = createId();
    const lease = await startLease({
      store,
      id,
      name: "one",
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

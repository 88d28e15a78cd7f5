// What becomes of batches when the network or a backend fails: nothing acknowledged is lost, nothing is done twice, and
// nothing waits for ever.

import { describe, expect, test } from "bun:test";
import { OutcomeUnknownError, TransientError, type Tx } from "../../../src/db/port/port.ts";
import type { Address } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { orders } from "../../../src/db/tables/orders.ts";
import { users } from "../../../src/db/tables/users.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { cluster, startCluster } from "../../support/databases/postgres.ts";
import { startProxy } from "../../support/http/proxy.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { insertService, insertUser } from "../../support/databases/stores.ts";
import { runs } from "../../support/runs.ts";
import { until } from "../../support/until.ts";

const CUTS = runs(60, 200);
/** Bytes until a cut: up to some batches' worth. */
const CUT_WITHIN = 20_000;
const COMMANDS = 8;
/** No batch is given up, however slow the machine is. */
const NEVER_MS = 600_000;

const place = (account: number, service: string, reference: string) => (tx: Tx) => {
  if (tx.row(orders.byReference, account, reference)) return "duplicate";
  const { balanceMicros } = tx.row(users.byKey, account)!;
  tx.update(users, { account }, { balanceMicros: balanceMicros + 1n });
  return tx.insert(orders, {
    id: createId(),
    resellerAccount: account,
    serviceId: service,
    serviceName: "Followers",
    priceMicros: 1,
    per: "1",
    link: "https://example.com",
    quantity: 1,
    chargeMicros: 1,
    status: "PROCESSING",
    remains: 1,
    createdAt: 1,
    placement: "manual",
    reference,
  }).orderId;
};

describe("a connection that is cut", () => {
  test(`at any byte, ${CUTS} times: every order that was acknowledged is there, and none twice`, async () => {
    const server = await cluster();
    const database = await server.createDatabase();
    const proxy = await startProxy(server.port);
    const address = {
      ...server.address(database),
      hosts: [{ hostname: "127.0.0.1", port: proxy.port }],
    };
    const store = createPostgresStore(address, { turnMs: 60_000, primaryWaitMs: NEVER_MS });
    const made = await store.runBatch([
      { run: (tx) => insertUser(tx, "one") },
      { run: (tx) => insertUser(tx, "two") },
      { run: (tx) => insertService(tx, "service") },
    ]);
    const accounts = made.slice(0, 2).map((each) => (each as { done: number }).done);
    const random = randomFrom(7);
    const acknowledged = new Set<string>();
    const notKnown = new Set<string>();
    let batches = 0;
    while (proxy.cuts() < CUTS) {
      if (!proxy.isArmed()) proxy.cutAfter(1 + below(random, CUT_WITHIN));
      const work = Array.from({ length: 3 }, async () => {
        const references = Array.from({ length: COMMANDS }, (_, each) => `${batches++}-${each}`);
        const outcomes = await store.runBatch(
          references.map((reference, each) => ({
            run: place(accounts[each % 2]!, "service", reference),
          })),
        );
        for (const [each, outcome] of outcomes.entries()) {
          if ("done" in outcome) {
            // Its own order would be the only one of that name: a batch that was committed ran again.
            expect(outcome.done).toBeNumber();
            acknowledged.add(references[each]!);
          } else notKnown.add(references[each]!);
        }
      });
      await Promise.all(work);
    }
    await store.close();
    proxy.stop();
    const rows = await server.query(database, "SELECT reference FROM orders");
    const there = rows.map(({ reference }) => reference as string);
    expect(new Set(there).size).toBe(there.length);
    expect([...acknowledged].filter((reference) => !there.includes(reference))).toEqual([]);
    expect(there.filter((each) => !acknowledged.has(each) && !notKnown.has(each))).toEqual([]);
    expect([...notKnown]).toEqual([]);
    const [totals] = await server.query(
      database,
      "SELECT sum(balance_micros)::int AS sum FROM users",
    );
    expect(totals!["sum"]).toBe(there.length);
    const [voided] = await server.query(
      database,
      "SELECT count(*)::int AS n FROM batches WHERE void",
    );
    // Or no cut ever met a COMMIT, and the test sees nothing.
    expect(voided!["n"] as number).toBeGreaterThan(0);
  });
});

/** Its account. Made by a store that waits. */
async function userOn(address: Address): Promise<number> {
  const store = createPostgresStore(address, { turnMs: NEVER_MS, primaryWaitMs: NEVER_MS });
  const [made] = await store.runBatch([{ run: (tx) => insertUser(tx, "one") }]);
  await store.close();
  return (made as { done: number }).done;
}

describe("a server that stops answering", () => {
  test("ends a batch and a read, and the store continues when it is back", async () => {
    const server = await startCluster({ fsync: "off" });
    const database = await server.createDatabase();
    const account = await userOn(server.address(database));
    const store = createPostgresStore(server.address(database), {
      turnMs: 300,
      primaryWaitMs: 1000,
    });
    const setBalance = async (balanceMicros: bigint) => {
      const run = (tx: Tx) => tx.update(users, { account }, { balanceMicros });
      return (await store.runBatch([{ run }]))[0]!;
    };
    const read = () => store.read((reader) => reader.row(users.byKey, account));
    // On a slow machine what answers is given up too: then again.
    await until(async () => "done" in (await setBalance(3n)));
    await until(() => read().then(Boolean, () => false));
    const backends = await server.query(
      database,
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'reseller'",
    );
    const frozen = [server.pid(), ...backends.map(({ pid }) => pid as number)];
    for (const pid of frozen) process.kill(pid, "SIGSTOP");
    try {
      expect("threw" in (await setBalance(5n))).toBe(true);
      expect(read()).rejects.toThrow();
    } finally {
      for (const pid of frozen) process.kill(pid, "SIGCONT");
    }
    await until(async () => "done" in (await setBalance(7n)));
    await store.close();
    server.stop("immediate");
  });

  test("while it commits: the outcome is reported as unknown", async () => {
    const server = await startCluster({ fsync: "off" });
    const database = await server.createDatabase();
    const account = await userOn(server.address(database));
    const store = createPostgresStore(server.address(database), {
      turnMs: 500,
      primaryWaitMs: 1000,
      lanes: 1,
    });
    // A lock of the markers' table holds the last turn up; the server is gone before anybody can be asked.
    const holder = server.query(
      database,
      "BEGIN; LOCK TABLE batches IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)",
    );
    holder.catch(() => {});
    const waiting = async () => {
      const [row] = await server.query(
        database,
        "SELECT count(*)::int AS n FROM pg_locks WHERE relation = 'batches'::regclass AND granted",
      );
      if ((row!["n"] as number) === 0) await waiting();
    };
    await waiting();
    let threw: unknown;
    // On a slow machine a turn before the COMMIT may be given up, and nothing was done then: again.
    await until(async () => {
      const [outcome] = await store.runBatch([
        { run: (tx) => tx.update(users, { account }, { balanceMicros: 5n }) },
      ]);
      ({ threw } = outcome as { threw: unknown });
      return !(threw instanceof TransientError);
    });
    expect(threw).toBeInstanceOf(OutcomeUnknownError);
    await store.close();
    server.stop("immediate");
  });
});

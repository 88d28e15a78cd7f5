// The writer on PostgreSQL: what is acknowledged was committed, what is refused was not, and a database that is away makes
// commands fail at once, until it is back.

import { describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { createId } from "../../src/db/port/ids.ts";
import { createPostgresStore, type PostgresOptions } from "../../src/db/postgres/batch/store.ts";
import type { CommandRequest } from "../../src/operations/batch/commands.ts";
import { createPostgresWriter } from "../../src/writer/postgres-writer.ts";
import { CommandError } from "../../src/writer/queue.ts";
import { type Cluster, cluster, startCluster } from "../support/databases/postgres.ts";
import { insertKey, insertService, insertUser } from "../support/databases/stores.ts";
import { until } from "../support/until.ts";

interface Caller {
  account: number;
  keyId: string;
}

/** Time limits that no test reaches, however slow the machine is. */
const NO_TIME_LIMITS = { turnMs: 600_000, primaryWaitMs: 600_000 };

async function shop(server: Cluster, options: PostgresOptions = {}, queueLimit?: number) {
  const database = await server.createDatabase();
  const address = server.address(database);
  const store = createPostgresStore(address, { ...NO_TIME_LIMITS, ...options });
  const batches: string[][] = [];
  const changes: boolean[] = [];
  const writer = createPostgresWriter({
    store,
    now: Date.now,
    onBatch: (commands: readonly CommandRequest[]) =>
      void batches.push(commands.map(({ name }) => name)),
    onWritable: (writable) => void changes.push(writable),
    ...(queueLimit && { queueLimit }),
  });
  const setUp = createPostgresStore(address, NO_TIME_LIMITS);
  const outcomes = await setUp.runBatch([
    { run: (tx) => insertService(tx, "likes") },
    {
      run: (tx) => {
        return ["anna", "ben"].map((username) => {
          const account = insertUser(tx, username, 1_000_000);
          return { account, keyId: insertKey(tx, account) };
        });
      },
    },
  ]);
  await setUp.close();
  const [anna, ben] = (outcomes[1] as { done: Caller[] }).done as [Caller, Caller];
  const place = (quantity = 1, reference: string | null = null, caller = anna) =>
    writer.submit("placeOrder", {
      resellerAccount: caller.account,
      keyId: caller.keyId,
      service: "likes",
      link: "x",
      quantity,
      reference,
    });
  const countOrders = async () => {
    const [row] = await server.query(database, "SELECT count(*)::int AS n FROM orders");
    return row!["n"] as number;
  };
  const close = async () => {
    await writer.close();
    await store.close();
  };
  return { anna, ben, database, store, writer, batches, changes, place, countOrders, close };
}

const CONNECTION = { adapter: "postgres", hostname: "127.0.0.1", username: "postgres" } as const;

const codeOf = (error: unknown) => (error as { code?: string }).code;
describe("commands", () => {
  test("of one turn share a batch; each is answered for itself, once it was committed", async () => {
    const { place, batches, countOrders, close } = await shop(await cluster());
    const settled = await Promise.allSettled([place(1), place(0), place(2)]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(codeOf((settled[1] as PromiseRejectedResult).reason)).toBe("quantity_below_minimum");
    expect(batches).toEqual([["placeOrder", "placeOrder", "placeOrder"]]);
    expect(await countOrders()).toBe(2);
    await close();
  });

  test("of successive turns share a batch, up to a limit of turns", async () => {
    const { place, batches, close } = await shop(await cluster());
    const orders: Promise<unknown>[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      orders.push(place());
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(orders);
    expect(batches[0]!.length).toBeGreaterThanOrEqual(30);
    expect(batches[0]!.length).toBeLessThan(40);
    await close();
  });

  test("of an account are in one batch at a time, while those of another account continue", async () => {
    const server = await cluster();
    const { anna, ben, writer, place, batches, database, close } = await shop(server);
    // The lock of one reseller is held: her first order waits, and what comes after it.
    const admin = new SQL({ ...CONNECTION, port: server.port, database });
    const holder = await admin.reserve();
    await holder`BEGIN`;
    await holder`SELECT 1 FROM accounts WHERE account = ${anna.account} FOR UPDATE`;
    const orders = [place()];
    await until(() => writer.queueLength() === 0);
    orders.push(place(), place());
    expect((await place(1, null, ben)) as object).toBeTruthy();
    expect(writer.queueLength()).toBe(2);
    await holder`COMMIT`;
    await holder.release();
    await admin.close();
    await Promise.all(orders);
    expect(batches.map(({ length }) => length)).toEqual([1, 1, 2]);
    await close();
  });

  test("that name no account delay no orders, however long they take", async () => {
    const server = await cluster();
    const { anna, ben, writer, place, batches, database, close } = await shop(server);
    expect(anna.account % 2).not.toBe(ben.account % 2);
    const admin = new SQL({ ...CONNECTION, port: server.port, database });
    const holder = await admin.reserve();
    await holder`BEGIN`;
    await holder`SELECT 1 FROM totals_position FOR UPDATE`;
    const count = writer.submit("countDailyTotals", { limit: 1 });
    await until(() => writer.queueLength() === 0);
    expect((await place()) as object).toBeTruthy();
    expect((await place(1, null, ben)) as object).toBeTruthy();
    expect(batches).toEqual([["placeOrder"], ["placeOrder"]]);
    await holder`COMMIT`;
    await holder.release();
    await admin.close();
    await count;
    await close();
  });

  test("that wait are completed by close, and later ones refused", async () => {
    const { writer, store, place, countOrders } = await shop(await cluster());
    const orders = Promise.all([place(), place(), place()]);
    const closed = writer.close();
    expect(place()).rejects.toMatchObject({ code: "service_unavailable" });
    await closed;
    const turn = new Promise((resolve) => setImmediate(resolve, "not settled"));
    expect(await Promise.race([orders.then(() => "settled"), turn])).toBe("settled");
    expect(await countOrders()).toBe(3);
    await store.close();
  });

  test("beyond the queue's limit are refused at once", async () => {
    const { place, close } = await shop(await cluster(), {}, 2);
    const settled = await Promise.allSettled([place(), place(), place()]);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(codeOf((settled[2] as PromiseRejectedResult).reason)).toBe("service_unavailable");
    await close();
  });
});

describe("a database that is away", () => {
  test("is service_unavailable: late for the first, at once for the next; then it goes on by itself", async () => {
    const server = await startCluster({ fsync: "off" });
    const { writer, place, changes, countOrders, close } = await shop(server, {
      primaryWaitMs: 500,
    });
    // On a slow machine to connect may take longer than that: then again.
    const isPlaced = () =>
      place().then(
        () => true,
        (error: unknown) => {
          expect(codeOf(error)).toBe("service_unavailable");
          return false;
        },
      );
    await until(isPlaced);
    const before = changes.length;
    server.stop("fast");
    expect(await place().catch(codeOf)).toBe("service_unavailable");
    expect(writer.isWritable()).toBe(false);
    const refused = place();
    expect(writer.queueLength()).toBe(0);
    expect(await refused.catch(codeOf)).toBe("service_unavailable");
    server.start();
    await until(() => writer.isWritable());
    expect(changes.slice(before)).toEqual([false, true]);
    await until(isPlaced);
    expect(await countOrders()).toBe(2);
    await close();
    server.stop("immediate");
  });

  test("that acknowledges no commit makes waiting and new commands service_unavailable, until it does", async () => {
    const server = await startCluster({ fsync: "off" });
    const setStandby = async (name: string) => {
      await server.query("postgres", `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await server.query("postgres", "SELECT pg_reload_conf()");
    };
    let refuseWrites = () => {};
    const { writer, place, changes, countOrders, close } = await shop(server, {
      onAcknowledging: (acknowledges) => acknowledges || refuseWrites(),
    });
    refuseWrites = () => writer.refuseWrites();
    await setStandby("away");
    const begun = place();
    await until(() => writer.queueLength() === 0);
    // Behind the batch that waits for its standby.
    const queued = place();
    expect(await queued.catch(codeOf)).toBe("service_unavailable");
    expect(writer.isWritable()).toBe(false);
    expect(await place().catch(codeOf)).toBe("service_unavailable");
    expect(await countOrders()).toBe(0);
    await setStandby("");
    expect((await begun) as object).toBeTruthy();
    await until(() => writer.isWritable());
    expect(changes).toEqual([false, true]);
    await place();
    expect(await countOrders()).toBe(2);
    await close();
    server.stop("immediate");
  });

  test("after a COMMIT was sent is an internal error that says so: a command that may be committed is never refused", async () => {
    const server = await startCluster({ fsync: "off" });
    const attempt = async (): Promise<unknown> => {
      const { place, database, store } = await shop(server, { turnMs: 500, primaryWaitMs: 1000 });
      const holder = server.query(
        database,
        "BEGIN; LOCK TABLE batches IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(3600)",
      );
      holder.catch(() => {});
      const isHeld = async () => {
        const rows = await server.query(
          database,
          "SELECT 1 FROM pg_locks WHERE relation = 'batches'::regclass AND granted",
        );
        return rows.length > 0;
      };
      await until(isHeld);
      const error = await place(1, createId()).catch((thrown: unknown) => thrown);
      await store.close();
      return error;
    };
    let error: unknown;
    // On a slow machine a turn before the COMMIT may be given up, and nothing was done then: again.
    await until(async () => codeOf((error = await attempt())) !== "service_unavailable");
    expect(error).toBeInstanceOf(CommandError);
    expect((error as Error).message).toContain("outcome_unknown");
    server.stop("immediate");
  });
});

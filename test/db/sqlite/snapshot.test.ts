// The snapshot that requests share: never older than a response that their callers got.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createKeyFinder } from "../../../src/db/sqlite/key-cache.ts";
import type { Connection } from "../../../src/db/sqlite/connection.ts";
import { openReader } from "../../../src/storage/file/open.ts";
import { balanceOf } from "../../../src/db/users/users.ts";
import { createSnapshot, type Snapshot } from "../../../src/db/sqlite/snapshot.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { openService } from "../../support/worlds/service.ts";

const ANNA = 3;

let database: TestDatabase;
let connection: Connection;
let snapshot: Snapshot;
let now: number;

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "1");
  connection = openReader(database.connection.path);
  now = 0;
  snapshot = createSnapshot(connection, () => now);
});
afterEach(() => {
  snapshot.close();
  database.connection.sqlite.close();
});

const balance = () => snapshot.read((reader) => balanceOf(reader, ANNA));
const credit = () =>
  database.run("creditUser", {
    username: "anna",
    amountMicros: 1_000_000,
    note: null,
    actor: OPERATOR,
  });

describe("a snapshot", () => {
  test("is the same for all reads of a turn of the event loop", () => {
    expect(balance()).toBe(1_000_000n);
    credit();
    expect(balance()).toBe(1_000_000n);
  });

  test.each<[string, () => unknown]>([
    ["its turn of the event loop", () => new Promise(setImmediate)],
    ["an answer of the writer", () => snapshot.end()],
    ["more than a millisecond", () => (now += 1.001)],
  ])("is over after %s", async (_what, happens) => {
    expect(balance()).toBe(1_000_000n);
    credit();
    await happens();
    expect(balance()).toBe(2_000_000n);
  });

  test("has another version if and only if something was written since", () => {
    const version = () => {
      snapshot.end();
      return snapshot.read(() => snapshot.version());
    };
    const first = version();
    expect(version()).toBe(first);
    credit();
    const second = version();
    expect(second).not.toBe(first);
    expect(version()).toBe(second);
  });

  test("leaves no transaction open after its turn", async () => {
    balance();
    expect(connection.sqlite.inTransaction).toBe(true);
    await new Promise(setImmediate);
    expect(connection.sqlite.inTransaction).toBe(false);
  });

  test("stays ended once closed, although the writer still replies", () => {
    balance();
    snapshot.close();
    snapshot.end();
    expect(() => balance()).toThrow("closed");
    // It does not block the checkpoint that truncates the WAL.
    const { sqlite } = database.connection;
    credit();
    expect(sqlite.query("PRAGMA wal_checkpoint(TRUNCATE)").get()).toMatchObject({
      busy: 0,
      log: 0,
    });
  });

  test("goes on after a read that throws", async () => {
    const fails = () =>
      snapshot.read(() => {
        throw new Error("broken");
      });
    expect(fails).toThrow("broken");
    expect(balance()).toBe(1_000_000n);
    await new Promise(setImmediate);
    expect(connection.sqlite.inTransaction).toBe(false);
  });
});

describe("a key", () => {
  const hashOf = (id: string) =>
    database.connection.sqlite
      .query("SELECT hash FROM keys WHERE id = ?")
      .values(id)[0]![0] as string;

  test("is as in the snapshot, although it is cached", () => {
    const { id } = database.key("anna", "full");
    const hash = hashOf(id);
    const find = createKeyFinder(connection.store.reader, snapshot);
    const found = () => {
      snapshot.end();
      return snapshot.read(() => find(hash));
    };
    const key = found();
    expect(key).toMatchObject({ id, active: true, resellerAccount: ANNA });
    expect(found()).toBe(key!);
    database.run("setKeyActive", { id, active: false, actor: OPERATOR });
    expect(found()).toMatchObject({ id, active: false });
    database.run("setKeyActive", { id, active: true, actor: OPERATOR });
    expect(found()).toMatchObject({ id, active: true });
  });

  test("that does not exist is found as soon as it does", () => {
    const find = createKeyFinder(connection.store.reader, snapshot);
    const found = (hash: string) => {
      snapshot.end();
      return snapshot.read(() => find(hash));
    };
    expect(found("0".repeat(64))).toBeUndefined();
    const hash = hashOf(database.key("anna", "order").id);
    expect(found(hash)).toMatchObject({ type: "order" });
  });
});

test("a caller reads its own write after the response, with 32 concurrent callers", async () => {
  const service = await openService();
  service.user("bert", "100");
  const { text: key } = service.key("bert", "full");
  service.service({ id: "s1", price: "1", min: 1 });
  const caller = async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 20; count += 1) {
      const order = { service: "s1", link: "https://example.com/me", quantity: 1 };
      const { body } = await service.call("POST", "/orders", key, order);
      const { id } = (body as { order: { id: string } }).order;
      statuses.push((await service.call("GET", `/orders/${id}`, key)).status);
    }
    return statuses;
  };
  const statuses = (await Promise.all(Array.from({ length: 32 }, caller))).flat();
  await service.stop();
  expect(statuses.length).toBe(640);
  expect(new Set(statuses)).toEqual(new Set([200]));
});

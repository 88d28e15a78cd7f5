// Random batches of every command have the same result, reply by reply and in what the tables hold: on SQLite with rows kept
// from batch to batch beside another process that writes, on SQLite one command at a time, and on PostgreSQL.
// TEST_SEEDS and TEST_BATCHES make a run longer.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Reader, Store } from "../../../src/db/port/port.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import {
  runBatch,
  type CommandRequest,
  type Reply,
} from "../../../src/operations/batch/commands.ts";
import { claimDataDirectory } from "../../../src/storage/file/open.ts";
import { cluster, SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { LONG_AGO } from "../../support/random/random-chores.ts";
import { namesIn, problemsIn, readAll } from "../../support/random/random-world.ts";
import { RandomCommands } from "../../support/random/random-commands.ts";
import type { Names } from "../../support/random/random-parts.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { freshFolder } from "../../support/folders.ts";

const SEEDS = Number(process.env["TEST_SEEDS"] ?? 3);
const BATCHES = Number(process.env["TEST_BATCHES"] ?? 40);
const BATCH_LIMIT = 12;
const DUMP_EVERY = 10;

interface Subject {
  name: string;
  /** `place`: of the batch. */
  run(batch: CommandRequest[], now: number, place: number): Promise<Reply[]>;
  read<T>(body: (reader: Reader) => T): Promise<T>;
  query(text: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

function freshFile(): () => Database {
  const { path, release } = claimDataDirectory(freshFolder(), 0);
  release();
  return () => {
    const sqlite = new Database(path, { readwrite: true, create: false });
    sqlite.run("PRAGMA foreign_keys = ON");
    sqlite.run("PRAGMA synchronous = OFF");
    return sqlite;
  };
}

/** As a server's writer, and now and then a command line beside it. */
function sqliteWithKeptRows(seed: number): Subject {
  const open = freshFile();
  const [kept, other] = [createSqliteStore(open(), true), createSqliteStore(open())];
  const random = randomFrom(seed);
  return {
    name: "SQLite, rows kept",
    run: async (batch, now) =>
      await runBatch(
        (below(random, 4) === 0 ? other : kept) as Store,
        batch,
        now,
        crypto.randomUUID(),
      ),
    read: async (body) => await other.read(body as never),
    // oxlint-disable-next-line typescript/require-await -- as PostgreSQL's
    query: async (text) => other.sqlite.query(text).all() as never,
    // oxlint-disable-next-line typescript/require-await -- as PostgreSQL's
    async close() {
      kept.close();
      other.close();
    },
  };
}

/** Nothing is shared between two commands but the file. */
function sqliteOneByOne(): Subject {
  const sqlite = freshFile()();
  return {
    name: "SQLite, one by one",
    async run(batch, now) {
      const replies: Reply[] = [];
      for (const request of batch) {
        replies.push(
          ...(await runBatch(
            createSqliteStore(sqlite) as Store,
            [request],
            now,
            crypto.randomUUID(),
          )),
        );
      }
      return replies;
    },
    read: async (body) => await createSqliteStore(sqlite).read(body as never),
    // oxlint-disable-next-line typescript/require-await -- as PostgreSQL's
    query: async (text) => sqlite.query(text).all() as never,
    // oxlint-disable-next-line typescript/require-await -- as PostgreSQL's
    close: async () => sqlite.close(),
  };
}

async function postgres(): Promise<Subject> {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore({ ...server.address(database), username: SERVICE_ROLE });
  return {
    name: "PostgreSQL",
    run: async (batch, now) => await runBatch(store, batch, now, crypto.randomUUID()),
    read: (body) => store.read(body as never),
    query: (text) => server.query(database, text),
    close: async () => await store.close(),
  };
}

/** The same value with ids and names in the place of the numbers that an engine gave. */
function withoutNumbers(value: unknown, names: Names): unknown {
  const byNumber = (map: ReadonlyMap<string, number>) =>
    new Map([...map].map(([name, number]) => [number, name]));
  const [orders, accounts, providers, requests] = [
    names.orders,
    names.accounts,
    names.providers,
    names.requests,
  ].map(byNumber);
  const replaced = (field: string, found: unknown): unknown => {
    if (typeof found === "string" && /^[{[]/.test(found) && field !== "text")
      return go(JSON.parse(found));
    if (field === "subject" && orders!.has(Number(found))) return orders!.get(Number(found));
    if (typeof found !== "number") return go(found);
    if (/^(orderId|sameNumberAs)$/.test(field)) return orders!.get(found);
    if (/account/i.test(field)) return accounts!.get(found) ?? `account ${Math.min(found, 3)}`;
    if (/^request(Id)?$/.test(field)) return requests!.get(found);
    if (field === "providerId") return providers!.get(found);
    return /^(attemptId|number|seq|transferSeq)$/.test(field) ? "a number" : found;
  };
  const go = (each: unknown): unknown => {
    if (typeof each === "bigint") return `${each}n`;
    if (Array.isArray(each)) {
      const all = each.map((one) =>
        typeof one === "number" ? (orders!.get(one) ?? one) : go(one),
      );
      // Ids of keys come in no order.
      return all.every((one) => typeof one === "string") ? all.sort() : all;
    }
    if (typeof each !== "object" || each === null) return each;
    const entries = Object.entries(each).map(([field, found]) => [field, replaced(field, found)]);
    return Object.fromEntries(entries);
  };
  return go(value);
}

const textOf = (reply: Reply, names: Names): unknown =>
  "failed" in reply ? "failed" : withoutNumbers(reply, names);

for (let seed = 1; seed <= SEEDS; seed += 1) {
  test(`random commands have the same result on every engine (seed ${seed})`, async () => {
    const subjects = [sqliteOneByOne(), sqliteWithKeptRows(seed), await postgres()];
    const random = randomFrom(seed);
    const commands = new RandomCommands(random);
    let now = LONG_AGO;
    let known = await Promise.all(
      subjects.map(async (subject) => namesIn(await subject.read(readAll))),
    );
    for (let place = -1; place < BATCHES; place += 1) {
      const batch = place < 0 ? commands.first() : commands.batch(BATCH_LIMIT);
      now += below(random, 4) === 0 ? below(random, 40_000_000) : below(random, 60_000);
      const found = [];
      for (const [index, subject] of subjects.entries()) {
        const requests = batch.map((command) => command(known[index]!));
        const replies = await subject.run(requests, now, place);
        const rows = await subject.read(readAll);
        known[index] = namesIn(rows);
        const names = known[index];
        found.push({
          replies: replies.map((reply, each) => [requests[each]!.name, textOf(reply, names)]),
          tables:
            place % DUMP_EVERY === 0 || place === BATCHES - 1 ? withoutNumbers(rows, names) : null,
        });
      }
      for (const [index, { name }] of subjects.entries()) {
        expect([name, place, found[index]]).toEqual([name, place, found[0]]);
      }
    }
    // Else it has seen nothing. Several commands place orders; a seed may draw only refusals of one.
    expect(known[0]!.orders.size).toBeGreaterThan(0);
    for (const subject of subjects) {
      expect([subject.name, await problemsIn((body) => subject.read(body))]).toEqual([
        subject.name,
        [],
      ]);
      await subject.close();
    }
  });
}

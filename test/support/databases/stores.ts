// The row port on either engine, each time on a fresh database.

import type { Database } from "bun:sqlite";
import type { Job, Outcome, Store, Tx } from "../../../src/db/port/port.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { accounts } from "../../../src/db/tables/ledger.ts";
import { keys, users } from "../../../src/db/tables/users.ts";
import { createId } from "../../../src/db/port/ids.ts";
import { ENGINE, type Engine } from "./engine.ts";
import { cluster, SERVICE_ROLE } from "./postgres.ts";
import { emptyMemoryDatabase, memoryDatabase } from "./sqlite-template.ts";

/** What tests of every engine run on: the one of this run, because `check` and `test:postgres` run the same files. */
export const ENGINES: readonly Engine[] = [ENGINE];

export interface TestStore extends Store {
  engine: Engine;
  /** Raw SQL, past the port. */
  query(text: string): Promise<Record<string, unknown>[]>;
  /** The outcomes of commands that run in one batch. */
  batch(...bodies: ((tx: Tx) => unknown)[]): Promise<Outcome[]>;
  /** The whole database, for storeOf; of SQLite only. */
  image(): Uint8Array;
  /** One command: what it returned, or what it threw. */
  run<T>(body: (tx: Tx) => T): Promise<T>;
}

export async function freshStore(engine: Engine): Promise<TestStore> {
  return engine === "sqlite" ? storeOf(null) : testStore(engine, await postgresStore());
}

/** A copy of a SQLite database; null: an empty one. */
export function storeOf(image: Uint8Array | null): TestStore {
  const sqlite = image === null ? emptyMemoryDatabase() : memoryDatabase(image);
  return testStore("sqlite", sqliteStore(sqlite), () => sqlite.serialize());
}

function testStore(
  engine: Engine,
  { store, query }: { store: Store; query: TestStore["query"] },
  image = (): Uint8Array => {
    throw new Error("only a SQLite database has an image");
  },
): TestStore {
  const runBatch = async (jobs: Job[]) => store.runBatch(jobs);
  return {
    ...store,
    engine,
    query,
    image,
    batch: (...bodies) => runBatch(bodies.map((run) => ({ run }))),
    async run(body) {
      const [outcome] = await runBatch([{ run: body }]);
      if ("threw" in outcome!) throw outcome.threw;
      return outcome!.done as ReturnType<typeof body>;
    },
  };
}

function sqliteStore(sqlite: Database) {
  // oxlint-disable-next-line typescript/require-await -- what it throws is to be a rejection, as PostgreSQL's is
  const query = async (text: string) => sqlite.query(text).all() as Record<string, unknown>[];
  return { store: createSqliteStore(sqlite) as Store, query };
}

async function postgresStore() {
  const server = await cluster();
  const database = await server.createDatabase();
  const store: Store = createPostgresStore({
    ...server.address(database),
    username: SERVICE_ROLE,
  });
  return { store, query: (text: string) => server.query(database, text) };
}

/** A reseller with a balance; returns its account. */
export function insertUser(tx: Tx, username: string, balanceMicros = 0): number {
  const { account } = tx.insert(accounts, { kind: "user" });
  tx.insert(users, {
    account,
    id: createId(),
    username,
    name: username,
    balanceMicros: BigInt(balanceMicros),
    depositedMicros: 10n ** 18n,
    createdAt: 1,
  });
  return account;
}

export function insertService(tx: Tx, id = createId(), name = "Followers"): string {
  tx.insert(services, {
    id,
    name,
    priceMicros: 1000,
    per: "1",
    min: 1,
    max: 1000,
    active: true,
    private: false,
    createdAt: 1,
    nameByHand: true,
    priceByHand: true,
    minByHand: true,
    maxByHand: true,
    delisted: false,
  });
  return id;
}

export function insertKey(tx: Tx, resellerAccount: number): string {
  const id = createId();
  tx.insert(keys, {
    id,
    resellerAccount,
    hash: new Bun.CryptoHasher("sha256").update(id).digest("hex"),
    start: id.slice(0, 8),
    type: "full",
    reach: "all",
    label: "",
    active: true,
    createdAt: 1,
  });
  return id;
}

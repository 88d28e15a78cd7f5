// A fresh database of this run's engine, written by commands in this process, as the command line writes it.

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import type { Reader, ReadStore, Store } from "../../../src/db/port/port.ts";
import { describeAddress, parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { attempts } from "../../../src/db/tables/delivery.ts";
import { transfers } from "../../../src/db/tables/ledger.ts";
import { orderEvents, orders } from "../../../src/db/tables/orders.ts";
import { users } from "../../../src/db/tables/users.ts";
import type { Connection } from "../../../src/db/sqlite/connection.ts";
import {
  claimDataDirectory,
  databasePath,
  openForCommand,
} from "../../../src/storage/file/open.ts";
import {
  formatKey,
  hashKey,
  KEY_RANDOM_BYTES,
  type KeyReach,
  type KeyType,
  startOfKey,
} from "../../../src/domain/users/keys.ts";
import { parseMicros } from "../../../src/domain/ledger/money.ts";
import { type ServiceType, standardUnit } from "../../../src/domain/catalogue/service-types.ts";
import type { PriceUnit } from "../../../src/domain/catalogue/services.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type CommandRequest,
  type Reply,
  runBatch,
  type UnsignedInput,
} from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { ENGINE } from "./engine.ts";
import { freshFolder } from "../folders.ts";
import { createPostgresDatabase } from "./postgres-sync.ts";
import { emptyDatabase } from "./sqlite-template.ts";

export const OPERATOR = { keyId: null, operator: "tester" };

export interface TestDatabase {
  folder: string;
  /** Where a server or a command finds it. */
  location: { data: string; database?: string };
  /** What a server and a command call it. */
  description: string;
  /** On SQLite alone. */
  readonly connection: Connection;
  read<T>(body: (reader: Reader) => T): T;
  /** For what reads by itself. */
  readonly store: ReadStore;
  /** The rows of raw SQL, past the port, with `?` for each parameter. All of it is on one connection. */
  query<Row = Record<string, unknown>>(text: string, ...values: (string | number | null)[]): Row[];
  dropTrigger(name: string): void;
  /** Every UPDATE of the table fails from now on where `condition` holds; dropped by the name `broken`. */
  breakUpdates(table: AnyTable, condition: string): void;
  /** Keeps every other connection from committing until what it returns is called. */
  holdWrites(): () => void;
  close(): void;
  /** Signed with OPERATOR unless the input names its actor. */
  run<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name> | UnsignedInput<Name>,
  ): CommandOutput<Name>;
  /** A command at that time, in a transaction of its own. */
  execute<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now: number,
  ): CommandOutput<Name>;
  /** Commands in one transaction. */
  batch(requests: readonly CommandRequest[], now: number): Reply[];
  /** A reseller, or with `parent` a child user, with that balance in USD. */
  user(username: string, balance?: string, parent?: string): void;
  /** The text of a new key, and its id. */
  key(
    username: string,
    type: KeyType,
    reach?: KeyReach,
    test?: boolean,
  ): { text: string; id: string };
  /** The id of a new service; price 2.32 per 1000, 10 to 10000, unless said otherwise. */
  service(fields?: {
    id?: string;
    name?: string;
    price?: string;
    per?: PriceUnit;
    min?: number;
    max?: number;
    private?: boolean;
    type?: ServiceType;
    dripfeed?: boolean;
    provider?: { name: string; service: string };
    cancel?: boolean;
    refill?: boolean;
    refillDays?: number;
  }): string;
  /** Sends a queued order to its provider, which replies with the result; without one it is being sent. */
  attempt(orderId: number, result?: CommandInput<"finishAttempt">["result"]): void;
  /** In USD micros, straight from the database. */
  balance(username: string): number;
  /** How many rows the tables that money touches hold: equal before and after means nothing changed. */
  fingerprint(): string;
}

/** What an engine does for a test's database. */
interface Backend extends Pick<
  TestDatabase,
  | "folder"
  | "location"
  | "description"
  | "connection"
  | "store"
  | "read"
  | "query"
  | "dropTrigger"
  | "breakUpdates"
  | "holdWrites"
  | "close"
  | "execute"
  | "batch"
> {}

/** `file`: what a folder without a database gets as one, of this version. */
function sqliteBackend(given?: string, file = () => emptyDatabase(Date.now())): Backend {
  const folder = given ?? freshFolder();
  const path = databasePath(folder);
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path, file(), { mode: 0o600 });
  }
  // As a server leaves it; a folder that nobody knows yet needs no second reading of its schema.
  if (given !== undefined) claimDataDirectory(folder, Date.now()).release();
  const connection = openForCommand(folder);
  const { store, sqlite } = connection;
  // What a test itself writes needs to survive no power cut: to wait for the disk would be a fifth of its time.
  sqlite.run("PRAGMA synchronous = OFF");
  return {
    folder,
    location: { data: folder },
    description: connection.path,
    connection,
    store,
    read: (body) => body(store.reader),
    query: (text, ...values) => sqlite.query(text).all(...values) as never,
    dropTrigger: (name) => void sqlite.run(`DROP TRIGGER ${name}`),
    breakUpdates: ({ name }, condition) =>
      void sqlite.run(`CREATE TRIGGER broken BEFORE UPDATE ON ${name} WHEN ${condition}
        BEGIN SELECT RAISE(ABORT, 'broken for once'); END`),
    holdWrites() {
      sqlite.run("BEGIN IMMEDIATE");
      return () => void sqlite.run("COMMIT");
    },
    execute: (name, input, now) => execute(store, name, input, now) as never,
    batch: (requests, now) => runBatch(store, requests, now, crypto.randomUUID()) as Reply[],
    close: () => sqlite.close(),
  };
}

function postgresBackend(folder: string): Backend {
  const database = createPostgresDatabase();
  const query = (text: string, ...values: unknown[]) => database.query(text, values) as never[];
  return {
    folder,
    location: { data: folder, database: database.url },
    description: describeAddress(parseAddress(database.url)),
    // A test of what SQLite alone has uses freshSqliteDatabase.
    connection: null as never,
    store: { read: async (body) => database.read(body) },
    read: (body) => database.read(body),
    query,
    dropTrigger(name) {
      const [found] = query(
        `SELECT tgrelid::regclass::text AS "table" FROM pg_trigger WHERE tgname = '${name}'`,
      ) as { table: string }[];
      query(`DROP TRIGGER ${name} ON ${found!.table}`);
    },
    breakUpdates: ({ name }, condition) =>
      void query(`CREATE TRIGGER broken BEFORE UPDATE ON ${name} FOR EACH ROW
        WHEN (${condition}) EXECUTE FUNCTION refuse('broken for once')`),
    holdWrites() {
      query("BEGIN");
      // A SELECT … FOR UPDATE conflicts with it, a plain one does not.
      query("LOCK TABLE accounts IN EXCLUSIVE MODE");
      return () => void query("COMMIT");
    },
    execute: (name, input, now) => database.execute(name, input, now),
    batch: (requests, now) => database.batch(requests, now),
    close: () => database.close(),
  };
}

/** A database in a fresh folder, or a fresh one of PostgreSQL, written as the command line does. */
export function freshDatabase(folder?: string): TestDatabase {
  return testDatabase(
    ENGINE === "sqlite" ? sqliteBackend(folder) : postgresBackend(folder ?? freshFolder()),
  );
}

/** For tests of what PostgreSQL alone has. */
export function freshPostgresDatabase(): TestDatabase {
  return testDatabase(postgresBackend(freshFolder()));
}

/** For tests of what SQLite alone has. */
export function freshSqliteDatabase(folder?: string, file?: () => Uint8Array): TestDatabase {
  return testDatabase(sqliteBackend(folder, file));
}

function testDatabase(backend: Backend): TestDatabase {
  const run: TestDatabase["run"] = (name, input) =>
    backend.execute(
      name,
      { actor: OPERATOR, ...input } as unknown as CommandInput<typeof name>,
      Date.now(),
    );
  return {
    ...backend,
    run,
    user(username, balance, parent) {
      run("createUser", { username, name: username, parent: parent ?? null });
      if (balance === undefined) return;
      run("creditUser", { username, amountMicros: micros(balance), note: null, actor: OPERATOR });
    },
    key(username, type, reach = "all", test = false) {
      const text = formatKey(randomBytes(KEY_RANDOM_BYTES), test);
      const { id } = run("createKey", {
        username,
        type,
        reach,
        label: "",
        hash: hashKey(text),
        start: startOfKey(text),
        test,
      });
      return { text, id };
    },
    service({ cancel, refill, refillDays, ...fields } = {}) {
      return run("createService", {
        ...(cancel === undefined ? {} : { cancel }),
        ...(refill === undefined ? {} : { refill }),
        ...(refillDays === undefined ? {} : { refillDays }),
        id: fields.id ?? null,
        name: fields.name ?? "Followers",
        priceMicros: micros(fields.price ?? "2.32"),
        per: fields.per ?? standardUnit(fields.type ?? "default"),
        min: fields.min ?? 10,
        max: fields.max ?? 10_000,
        ...(fields.type ? { type: fields.type } : {}),
        dripfeed: fields.dripfeed ?? false,
        private: fields.private ?? false,
        ...(fields.provider ? { provider: fields.provider } : {}),
      }).id;
    },
    attempt(orderId, result) {
      const [order] = backend.query<{ provider: number }>(
        "SELECT provider_id AS provider FROM orders WHERE order_id = ?",
        orderId,
      );
      const providerId = Number(order!.provider);
      const send = { orderId, providerId, server: "test", placeRetryMs: PLACE_RETRY_MS };
      const started = run("startAttempt", send);
      if (!started.send) throw new Error(`order ${orderId} is not to be sent`);
      if (!result) return;
      const { attemptId } = started;
      const ended = { orderId, attemptId, result, placeRetryMs: PLACE_RETRY_MS, backoffMs: 0 };
      run("finishAttempt", ended);
    },
    balance(username) {
      const [row] = backend.query<{ balance: number }>(
        "SELECT balance_micros AS balance FROM users WHERE username = ?",
        username,
      );
      return row!.balance;
    },
    fingerprint() {
      return MONEY_TABLES.map((table) => dumpOf(backend, table)).join("\n");
    },
  };
}

const PLACE_RETRY_MS = 3_600_000;
const MONEY_TABLES = [users, orders, transfers, orderEvents, attempts];

/** All rows of a table as text, in the order of their keys. */
export function dumpOf({ query }: Pick<TestDatabase, "query">, table: AnyTable): string {
  const keys = table.key.map((field) => table.columns.find((each) => each.field === field)!.name);
  return JSON.stringify(query(`SELECT * FROM ${table.name} ORDER BY ${keys.join()}`));
}

export function micros(amount: string): number {
  return parseMicros(amount)!;
}

/** For transactions of a test's own: close it. */
export function openStore({ connection, location }: TestDatabase): Store {
  if (location.database) return createPostgresStore(parseAddress(location.database));
  return { ...connection.store, close() {} };
}

/** Runs a statement in a transaction that is then rolled back. */
export function tryOut({ query }: Pick<TestDatabase, "query">, sql: string): void {
  query("BEGIN");
  try {
    query(sql);
  } finally {
    query("ROLLBACK");
  }
}

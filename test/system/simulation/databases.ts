// The database of a simulated market on either engine, called synchronously: what happens next never waits for it.

import type { Statement } from "bun:sqlite";
import type { ReadStore } from "../../../src/db/port/port.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
} from "../../../src/operations/batch/commands.ts";
import { runCommand } from "../../../src/operations/batch/commands.ts";
import { transact, type Tx } from "../../../src/db/port/port.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { createPostgresDatabase } from "../../support/databases/postgres-sync.ts";
import { emptyMemoryDatabase } from "../../support/databases/sqlite-template.ts";

export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

export interface MarketDatabase {
  store: ReadStore;
  execute<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now: number,
  ): CommandOutput<Name>;
  /** The database fails when the command has written all, and takes back what it wrote. */
  fail<Name extends CommandName>(name: Name, input: CommandInput<Name>, now: number): void;
  /** The rows of SQL that both engines take, with `?` for each parameter. */
  query<Row>(text: string, ...values: string[]): Row[];
  close(): void;
}

export function openMarketDatabase(engine: Engine): MarketDatabase {
  return engine === "sqlite" ? openSqlite() : openPostgres();
}

/**
 * Many queries SQLite plans anew at each call, since the values that are bound might allow another plan: ten times as slow
 * as the query itself on so few rows. Of `+?` it expects nothing.
 */
function planned(text: string): string {
  return /^\s*(SELECT|WITH)/.test(text) ? text.replaceAll(/(?<![+\w])\?(\d*)/g, "+?$1") : text;
}

function openSqlite(): MarketDatabase {
  const sqlite = emptyMemoryDatabase();
  const prepare = sqlite.prepare.bind(sqlite);
  sqlite.prepare = ((text: string) => prepare(planned(text))) as typeof sqlite.prepare;
  const store = createSqliteStore(sqlite);
  // More than Database.query keeps.
  const statements = new Map<string, Statement<object, string[]>>();
  const prepared = (text: string) => {
    const statement = statements.get(text) ?? (sqlite.prepare(text) as Statement<object, string[]>);
    statements.set(text, statement);
    return statement;
  };
  let lastId = 0;
  const createId = () => {
    lastId += 1;
    return `s${String(lastId).padStart(23, "0")}`;
  };
  const contextAt = (now: number) => ({ now, createId, createEventId: () => `evt_${createId()}` });
  const run = (body: (tx: Tx) => unknown) => transact(store, body as (tx: Tx) => object);
  return {
    store,
    execute: (name, input, now) =>
      run((tx) => runCommand(tx, name, input, contextAt(now))) as CommandOutput<typeof name>,
    fail(name, input, now) {
      const failure = new Error("the database failed");
      try {
        void run((tx) => {
          runCommand(tx, name, input, contextAt(now));
          throw failure;
        });
      } catch (error) {
        // Refused, it would not have written.
        if (error !== failure && !(error instanceof Refusal)) throw error;
      }
    },
    query: (text, ...values) => prepared(text).all(...values) as never,
    close: () => store.close(),
  };
}

function openPostgres(): MarketDatabase {
  const database = createPostgresDatabase();
  return {
    store: { read: async (body) => database.read(body) },
    execute: (name, input, now) => database.execute(name, input, now),
    // The thread that talks to the server takes whole commands: here it fails before it writes.
    fail() {},
    query: (text, ...values) => database.query(text, values) as never,
    close: () => database.close(),
  };
}

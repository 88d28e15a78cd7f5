// The database of a simulated market on either engine, called synchronously: what happens next never waits for it.

import { Database } from "bun:sqlite";
import type { ReadStore } from "../../../src/db/port.ts";
import { createSqliteStore } from "../../../src/db/sqlite/store.ts";
import type { CommandInput, CommandName, CommandOutput } from "../../../src/operations/commands.ts";
import { runCommand } from "../../../src/operations/commands.ts";
import { transact, type Tx } from "../../../src/db/port.ts";
import { migrate, MIGRATIONS } from "../../../src/storage/migrate.ts";
import { createPostgresDatabase } from "../../support/postgres-sync.ts";

export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];

export interface MarketDatabase {
  store: ReadStore;
  execute<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now: number,
  ): CommandOutput<Name>;
  /** The rows of SQL that both engines take, with `?` for each parameter. */
  query<Row>(text: string, ...values: string[]): Row[];
  close(): void;
}

export function openMarketDatabase(engine: Engine): MarketDatabase {
  return engine === "sqlite" ? openSqlite() : openPostgres();
}

function openSqlite(): MarketDatabase {
  const sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS, 0);
  const store = createSqliteStore(sqlite);
  let lastId = 0;
  const createId = () => {
    lastId += 1;
    return `s${String(lastId).padStart(23, "0")}`;
  };
  return {
    store,
    execute(name, input, now) {
      const run = (tx: Tx) =>
        runCommand(tx, name, input, { now, createId, createEventId: () => `evt_${createId()}` });
      return transact(store, run as (tx: Tx) => object) as CommandOutput<typeof name>;
    },
    query: (text, ...values) => sqlite.query(text).all(...values) as never,
    close: () => store.close(),
  };
}

function openPostgres(): MarketDatabase {
  const database = createPostgresDatabase();
  return {
    store: { read: async (body) => database.read(body) },
    execute: (name, input, now) => database.execute(name, input, now),
    query: (text, ...values) => database.query(text, values) as never,
    close: () => database.close(),
  };
}

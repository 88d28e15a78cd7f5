// Either side of a move that is a PostgreSQL database. Locks on its tables keep servers and commands out.

import { type Address, describeAddress } from "../db/postgres/address.ts";
import { connect, type Connection } from "../db/postgres/connection.ts";
import { sqlStateOf } from "../db/postgres/errors.ts";
import { migrate, pendingMigrations } from "../db/postgres/migrate.ts";
import { requireSchema } from "../db/postgres/open-for-command.ts";
import { readOn } from "../db/postgres/snapshot.ts";
import { insertStatement, updateStatement } from "../db/postgres/text.ts";
import { POSTGRES_CHECK_COUNT, verifyOn } from "../db/postgres/verify.ts";
import type { ReadStore } from "../db/port.ts";
import { listLiveServers } from "../db/server-leases.ts";
import type { AnyTable } from "../db/table-definition.ts";
import { TABLES } from "../db/tables.ts";
import { type GivenNumbers, MoveError, type MoveSide, type MoveTarget } from "./move.ts";

const CONNECT_MS = 5000;
const STATEMENT_MS = 6 * 3_600_000;
const SETTINGS = {
  jit: "off",
  statement_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  max_parallel_workers_per_gather: "0",
};
/** lock_not_available and deadlock_detected, of a command that writes meanwhile. */
const LOCKED = new Set(["55P03", "40P01"]);
const LOCKED_TABLES = [...TABLES.map(({ name }) => name), "catalogue_version"].join();

/** Must be at this program's schema. */
export async function openSource(address: Address, now: number): Promise<MoveSide> {
  const connection = await open(address);
  try {
    await requireSchema(connection);
    return await sideOn(connection, address, now, {
      begin: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
      mode: "SHARE",
    });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Makes the tables where there are none. */
export async function openTarget(address: Address, now: number): Promise<MoveTarget> {
  const connection = await open(address);
  try {
    const [first] = await pendingMigrations(connection);
    // One with rows of an older version is refused as it is, not upgraded.
    if (first?.version === 1) await migrate(address, now);
    await requireSchema(connection);
    const side = await sideOn(connection, address, now, { begin: "BEGIN", mode: "EXCLUSIVE" });
    const run = async (text: string) => void (await connection.turn([{ text, values: [] }]));
    return {
      ...side,
      async insert(table, rows) {
        await connection.turn([insertStatement(table, rows)]);
      },
      async update(table, fields, rows) {
        await connection.turn([updateStatement(table, fields, rows)]);
      },
      async setNumbers(numbers) {
        for (const [{ name }, given] of numbers) {
          await run(`ALTER SEQUENCE ${name}_number RESTART WITH ${given + 1}`);
        }
      },
      async analyze() {
        for (const { name } of TABLES) {
          // Of a table that was analyzed while empty the planner goes on assuming that it has no rows.
          const [found] = await connection.turn([
            { text: `SELECT 1 FROM ${name} LIMIT 1`, values: [] },
          ]);
          if (found!.length > 0) await run(`ANALYZE ${name}`);
        }
      },
      commit: () => commit(connection, side.shown),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

function open(address: Address): Promise<Connection> {
  return connect(address, {
    turnMs: STATEMENT_MS,
    connectMs: CONNECT_MS,
    name: "reseller move",
    settings: SETTINGS,
  });
}

async function sideOn(
  connection: Connection,
  address: Address,
  now: number,
  { begin, mode }: { begin: string; mode: "SHARE" | "EXCLUSIVE" },
): Promise<MoveSide> {
  const shown = describeAddress(address);
  const store = readOn(connection);
  await refuseServers(store, shown, now);
  try {
    await connection.turn([
      { text: begin, values: [] },
      // Autovacuum, which a table that was just filled has soon, gives way to a lock that has waited for deadlock_timeout (1 s).
      { text: "SET LOCAL lock_timeout = '5s'", values: [] },
      // Before the first query, whose view of the database is then that of all.
      { text: `LOCK TABLE ${LOCKED_TABLES} IN ${mode} MODE`, values: [] },
      { text: "SET LOCAL lock_timeout = 0", values: [] },
    ]);
  } catch (error) {
    if (!LOCKED.has(sqlStateOf(error) ?? "")) throw error;
    throw new MoveError(`${shown} is in use: stop what writes to it`, { cause: error });
  }
  // One that started in between.
  await refuseServers(store, shown, now);
  return {
    shown,
    store,
    readNumbers: () => numbersOf(connection),
    verify: (progress) =>
      verifyOn(store, address, {
        isUnreadable: () => false,
        progress: (done) => progress(done, POSTGRES_CHECK_COUNT),
      }),
    close: () => connection.close(),
  };
}

async function refuseServers(store: ReadStore, shown: string, now: number): Promise<void> {
  const live = await store.read((reader) => listLiveServers(reader, now));
  const [first] = live;
  if (!first) return;
  const seconds = Math.ceil((first.leaseUntil - now) / 1000);
  throw new MoveError(
    `${shown} is served by ${live.map(({ name }) => name).join(", ")}: stop it first; one that was killed counts as running for ${seconds} s more`,
  );
}

async function numbersOf(connection: Connection): Promise<GivenNumbers> {
  const numbers = new Map<AnyTable, number>();
  for (const table of TABLES) {
    if (table.numbered === null) continue;
    const text = `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS given FROM ${table.name}_number`;
    const [rows] = await connection.turn([{ text, values: [] }]);
    numbers.set(table, Number((rows![0] as { given: string }).given));
  }
  return numbers;
}

async function commit(connection: Connection, shown: string): Promise<void> {
  let command: string;
  try {
    const [result] = await connection.turn([{ text: "COMMIT", values: [] }]);
    ({ command } = result!);
  } catch (error) {
    throw new MoveError(
      `the connection to ${shown} was lost while the copy was committed: see with \`reseller verify\` whether it is there; the source is as it was`,
      { cause: error },
    );
  }
  if (command !== "COMMIT") throw new MoveError(`${shown} did not commit the copy`);
}

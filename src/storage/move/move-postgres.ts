// A PostgreSQL database as the source or target of a move. Locks on its tables keep servers and commands out.

import { UNFINISHED_MOVE } from "../../db/port/database-state.ts";
import { type Address, describeAddress } from "../../db/postgres/connection/address.ts";
import {
  connect,
  CONNECT_ONCE_MS,
  type Connection,
} from "../../db/postgres/connection/connection.ts";
import { sqlStateOf } from "../../db/postgres/connection/errors.ts";
import { migrate, pendingMigrations } from "../../db/postgres/schema/migrate.ts";
import { requireSchema } from "../../db/postgres/connection/open-for-command.ts";
import { listRunningServers } from "../../db/postgres/connection/sessions.ts";
import { LONG_READS, readOn } from "../../db/postgres/batch/snapshot.ts";
import { insertStatement, updateStatement } from "../../db/postgres/batch/text.ts";
import { POSTGRES_CHECK_COUNT, verifyOn } from "../../db/postgres/schema/verify.ts";
import type { ReadStore } from "../../db/port/port.ts";
import { LEASE_MS } from "../../db/delivery/server-leases.ts";
import type { AnyTable } from "../../db/port/table-definition.ts";
import { TABLES } from "../../db/tables/tables.ts";
import {
  type IssuedNumbers,
  MoveError,
  type MoveSide,
  type MoveTarget,
  refuseRows,
} from "./move.ts";

const MARK = `CREATE TABLE ${UNFINISHED_MOVE} (marked bigint)`;
const UNMARK = `DROP TABLE ${UNFINISHED_MOVE}`;
/** SQL states lock_not_available and deadlock_detected, caused by a command that is writing. */
const LOCKED = new Set(["55P03", "40P01"]);
const LOCKED_TABLES = [...TABLES.map(({ name }) => name), "catalogue_version"].join();

/** Opens the source, which must have this program's schema. */
export async function openSource(address: Address): Promise<MoveSide> {
  const connection = await open(address);
  try {
    await requireSchema(connection);
    return await sideOn(connection, address, {
      begin: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
      mode: "SHARE",
    });
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Opens the target and creates the tables if there are none. */
export async function openTarget(address: Address, now: number): Promise<MoveTarget> {
  const connection = await open(address);
  try {
    const run = async (text: string) => void (await connection.turn([{ text, values: [] }]));
    const lockOut = () => sideOn(connection, address, { begin: "BEGIN", mode: "EXCLUSIVE" });
    const origin = await readOrigin(connection);
    if (origin === "none") await run(MARK);
    // A database of an older version with rows is refused, not upgraded.
    if (origin !== "empty") await migrate(address, now, { mayBeUnfinished: true });
    await requireSchema(connection, true);
    if (origin === "empty") {
      const { store, displayName } = await lockOut();
      await store.read((reader) => refuseRows(reader, displayName));
      await run(MARK);
      await run("COMMIT");
    }
    let isCommitted = false;
    const side = await lockOut();
    await run(UNMARK);
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
      async finishRows() {
        for (const { name } of TABLES) {
          // Empty tables are skipped: after ANALYZE the planner would keep assuming that they have no rows.
          const [found] = await connection.turn([
            { text: `SELECT 1 FROM ${name} LIMIT 1`, values: [] },
          ]);
          if (found!.length > 0) await run(`ANALYZE ${name}`);
        }
      },
      async commit() {
        // Set before the COMMIT: without a reply its outcome is unknown. The COMMIT also removes the mark.
        isCommitted = true;
        await commit(connection, side.displayName);
      },
      async close() {
        try {
          if (isCommitted || origin !== "empty" || connection.isLost) return;
          await run("ROLLBACK");
          await run(UNMARK);
        } finally {
          connection.close();
        }
      },
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Returns the state before the move: no tables, tables without rows, or the rest of an earlier move. */
async function readOrigin(connection: Connection): Promise<"none" | "empty" | "unfinished"> {
  const [found] = await connection.turn([
    { text: `SELECT to_regclass('${UNFINISHED_MOVE}') IS NOT NULL AS marked`, values: [] },
  ]);
  if ((found![0] as { marked: boolean }).marked) return "unfinished";
  const [first] = await pendingMigrations(connection);
  return first?.version === 1 ? "none" : "empty";
}

function open(address: Address): Promise<Connection> {
  return connect(address, {
    ...LONG_READS,
    connectMs: CONNECT_ONCE_MS,
    name: "reseller move",
  });
}

async function sideOn(
  connection: Connection,
  address: Address,
  { begin, mode }: { begin: string; mode: "SHARE" | "EXCLUSIVE" },
): Promise<MoveSide> {
  const displayName = describeAddress(address);
  const store = readOn(connection);
  await refuseServers(store, displayName);
  try {
    await connection.turn([
      { text: begin, values: [] },
      // Longer than deadlock_timeout (1 s): autovacuum often holds a table that was just filled, and gives way to a
      // lock that has waited that long.
      { text: "SET LOCAL lock_timeout = '5s'", values: [] },
      // Locks before the first query, because that query fixes the snapshot of the transaction.
      { text: `LOCK TABLE ${LOCKED_TABLES} IN ${mode} MODE`, values: [] },
      { text: "SET LOCAL lock_timeout = 0", values: [] },
    ]);
  } catch (error) {
    if (!LOCKED.has(sqlStateOf(error) ?? "")) throw error;
    throw new MoveError(`${displayName} is in use: stop all programs that write to it`, {
      cause: error,
    });
  }
  // A server may have started in between.
  await refuseServers(store, displayName);
  return {
    displayName,
    store,
    readNumbers: () => readIssuedNumbers(connection),
    verify: (progress) =>
      verifyOn(store, address, {
        isUnreadable: () => false,
        progress: (done) => progress(done, POSTGRES_CHECK_COUNT),
      }),
    close: () => connection.close(),
  };
}

async function refuseServers(store: ReadStore, displayName: string): Promise<void> {
  const running = await store.read(listRunningServers);
  if (running.length === 0) return;
  const names = running.map(({ name }) => name).join(", ");
  throw new MoveError(
    `${displayName} is in use by the server ${names}: stop it first; a killed server counts as running for ${LEASE_MS / 1000} s`,
  );
}

async function readIssuedNumbers(connection: Connection): Promise<IssuedNumbers> {
  const numbers = new Map<AnyTable, number>();
  for (const table of TABLES) {
    if (table.numberField === null) continue;
    const text = `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS given FROM ${table.name}_number`;
    const [rows] = await connection.turn([{ text, values: [] }]);
    numbers.set(table, Number((rows![0] as { given: string }).given));
  }
  return numbers;
}

async function commit(connection: Connection, displayName: string): Promise<void> {
  let command: string;
  try {
    const [result] = await connection.turn([{ text: "COMMIT", values: [] }]);
    ({ command } = result!);
  } catch (error) {
    throw new MoveError(
      `the connection to ${displayName} was lost during the commit of the copy: check with \`reseller verify\` whether it is there; the source is unchanged`,
      { cause: error },
    );
  }
  if (command !== "COMMIT") throw new MoveError(`${displayName} did not commit the copy`);
}

// A snapshot of the database for long reads, such as `verify`. Every read sees what was committed when the snapshot was
// opened, even if servers write while it is open.

import { type ReadStore, refusePromise } from "../../port/port.ts";
import type { Query } from "../../port/query.ts";
import { type AnyRow, keyOfRow } from "../../port/table-definition.ts";
import type { Address } from "../connection/address.ts";
import { connect, type Connection } from "../connection/connection.ts";
import { sqlStateOf } from "../connection/errors.ts";
import { LoadedRows, NotLoaded } from "./loaded-rows.ts";
import { LoadedReader } from "./reader.ts";
import { decodeRows, kindsOf, loadStatement, queryStatement } from "./text.ts";
import { HOUR_MS } from "../../../domain/values/spans.ts";

export interface PostgresSnapshot extends ReadStore {
  close(): void;
}

/** Time limit for one statement, which may read whole tables while servers use the same disk. */
const STATEMENT_MS = 6 * HOUR_MS;
const CONNECT_MS = 5000;
/**
 * Settings of the connection. jit: compiling takes longer than running most of these statements. Sequential scans stay
 * allowed, unlike in the store, because these statements read whole tables.
 */
const SETTINGS = {
  jit: "off",
  statement_timeout: "0",
  idle_in_transaction_session_timeout: "0",
  max_parallel_workers_per_gather: "0",
};

const ROLLBACK_TO_START = { text: "ROLLBACK TO SAVEPOINT begun", values: [] };

/** Opens a snapshot. `name`: shown in pg_stat_activity. Throws what connect throws. */
export async function openSnapshot(address: Address, name: string): Promise<PostgresSnapshot> {
  const connection = await connect(address, {
    turnMs: STATEMENT_MS,
    connectMs: CONNECT_MS,
    name,
    settings: SETTINGS,
  });
  await connection.turn([
    { text: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", values: [] },
    { text: "SAVEPOINT begun", values: [] },
  ]);
  // Without this, PostgreSQL would refuse every further statement of the transaction after an error.
  const rollBackToStart = async () => void (await connection.turn([ROLLBACK_TO_START]));
  return { ...readOn(connection, rollBackToStart), close: () => connection.close() };
}

/** Creates a store that reads on a connection, in its transaction if one is open. `onError` runs after its errors. */
export function readOn(connection: Connection, onError?: () => Promise<void>): ReadStore {
  return {
    async read(body) {
      const loaded = new LoadedRows();
      const reader = new LoadedReader(loaded);
      for (;;) {
        try {
          const result = body(reader);
          refusePromise(result);
          return result;
        } catch (error) {
          if (!(error instanceof NotLoaded)) throw error;
        }
        try {
          await load(connection, loaded);
        } catch (error) {
          if (onError && !connection.isLost && sqlStateOf(error) !== null) await onError();
          throw error;
        }
      }
    },
  };
}

async function load(connection: Connection, loaded: LoadedRows): Promise<void> {
  const { rows, queries } = loaded.takeRequests();
  for (const wanted of rows) {
    const { index } = wanted[0]!;
    const statement = loadStatement(
      index,
      wanted.map(({ values }) => values),
    );
    const [found] = await connection.turn([statement]);
    const decoded = decodeRows(found!, kindsOf(index.table));
    loaded.putRows(wanted, new Map(decoded.map((row) => [keyOfRow(index, row)!, row])));
  }
  for (const wanted of queries) {
    const { query, values } = wanted;
    loaded.putResult(wanted, await rowsOf(connection, query, values));
  }
}

async function rowsOf(
  connection: Connection,
  query: Query,
  values: AnyRow | undefined,
): Promise<AnyRow[]> {
  const [found] = await connection.turn([queryStatement(query, values)]);
  return decodeRows(found!, query.columns);
}

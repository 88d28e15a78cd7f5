// A snapshot of the database for long reads, such as `verify`. Every read sees what was committed when the snapshot was
// opened, even if servers write while it is open.

import { type ReadStore, refusePromise } from "../../port/port.ts";
import type { Query } from "../../port/query.ts";
import { type AnyRow, keyOfRow } from "../../port/table-definition.ts";
import type { Address } from "../connection/address.ts";
import { connect, CONNECT_ONCE_MS, type Connection } from "../connection/connection.ts";
import { sqlStateOf } from "../connection/errors.ts";
import { LoadedRows, NotLoaded } from "./loaded-rows.ts";
import { LoadedReader } from "./reader.ts";
import { decodeRows, kindsOf, loadStatement, queryStatement } from "./text.ts";
import { HOUR_MS } from "../../../domain/values/spans.ts";

export interface PostgresSnapshot extends ReadStore {
  close(): void;
}

/**
 * Options of a connection that reads whole tables while servers use the same disk. jit: compiling takes longer than
 * running most of these statements. Sequential scans stay allowed, unlike in the store.
 */
export const LONG_READS = {
  turnMs: 6 * HOUR_MS,
  settings: {
    jit: "off",
    statement_timeout: "0",
    idle_in_transaction_session_timeout: "0",
    max_parallel_workers_per_gather: "0",
  },
};

const ROLLBACK_TO_START = { text: "ROLLBACK TO SAVEPOINT begun", values: [] };

/** Opens a snapshot. `name`: shown in pg_stat_activity. Throws what connect throws. */
export async function openSnapshot(address: Address, name: string): Promise<PostgresSnapshot> {
  const connection = await connect(address, {
    ...LONG_READS,
    connectMs: CONNECT_ONCE_MS,
    name,
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
    loaded.putResult(wanted, await runQuery(connection, query, values));
  }
}

async function runQuery(
  connection: Connection,
  query: Query,
  values: AnyRow | undefined,
): Promise<AnyRow[]> {
  const [found] = await connection.turn([queryStatement(query, values)]);
  return decodeRows(found!, query.columns);
}

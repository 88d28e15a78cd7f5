// Reads outside transactions: a synchronous body runs again until nothing is missing. All bodies of one turn of the
// event loop load their missing rows together. Every statement sees what is committed when it runs, so a later round of
// a body may see a later state.

import {
  type TimedTable,
  type Reader,
  refusePromise,
  type Span,
  type Synchronous,
  type TimeWindow,
  TransientError,
  type Values,
} from "../../port/port.ts";
import type { Query } from "../../port/query.ts";
import {
  type AnyRow,
  type Index,
  keyOfRow,
  type Kinds,
  type Value,
} from "../../port/table-definition.ts";
import type { Address } from "../connection/address.ts";
import {
  connect,
  type Connection,
  type ConnectionOptions,
  type Rows,
  type Statement,
} from "../connection/connection.ts";
import { errorClassOf } from "../connection/errors.ts";
import { mapLoaded, LoadedRows, NotLoaded, type RowToLoad } from "./loaded-rows.ts";
import { spansWithin } from "./time-spans.ts";
import { decodeRows, kindsOf, loadStatement, queryStatement } from "./text.ts";

/** Limit for the rounds of loading, more than any correct body needs. */
const ROUNDS_LIMIT = 100;
const RECONNECT_MS = 50;

export class LoadedReader implements Reader {
  constructor(readonly loaded: LoadedRows) {}

  row<Row, Key extends readonly Value[]>(index: Index<Row, Key>, ...key: Key): Row | undefined {
    return (this.loaded.row(index as unknown as Index, key) ?? undefined) as Row | undefined;
  }

  all<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row[] {
    return this.loaded.all(query as unknown as Query, values[0] as AnyRow) as Row[];
  }

  one<Row, P extends Kinds>(query: Query<Row, P>, ...values: Values<P>): Row | undefined {
    return this.all(query, ...values)[0];
  }

  spans(table: TimedTable, account: number | null, window: TimeWindow): Span[] {
    return spansWithin(this, table, account, window);
  }

  each<T, R>(items: readonly T[], body: (item: T, index: number) => R): R[] {
    return mapLoaded(items, body);
  }
}

interface WaitingRead {
  statement: Statement;
  take: (rows: Rows) => void;
}

interface WaitingBody {
  rows: RowToLoad[][];
  loaded: LoadedRows;
  reads: WaitingRead[];
  resolve: () => void;
  reject: (error: unknown) => void;
}

export class ReadLane {
  #connection: Promise<Connection> | null = null;
  #waiting: WaitingBody[] = [];
  #isClosed = false;

  constructor(
    readonly address: Address,
    readonly options: ConnectionOptions & { primaryWaitMs: number },
  ) {}

  async read<T>(body: (reader: Reader) => Synchronous<T>): Promise<T> {
    const loaded = new LoadedRows();
    const reader = new LoadedReader(loaded);
    for (let round = 0; round < ROUNDS_LIMIT; round += 1) {
      try {
        const result = body(reader);
        refusePromise(result);
        return result;
      } catch (error) {
        if (!(error instanceof NotLoaded)) throw error;
      }
      await this.#load(loaded);
    }
    throw new Error(`the read still requests new rows after ${ROUNDS_LIMIT} rounds`);
  }

  close(): void {
    this.#isClosed = true;
    // A connection that could not be opened needs no closing.
    this.#connection?.then((connection) => connection.close()).catch(() => {});
  }

  #load(loaded: LoadedRows): Promise<void> {
    const { rows, queries } = loaded.takeRequests();
    const reads = queries.map((wanted) => ({
      statement: queryStatement(wanted.query, wanted.values),
      take: (found: Rows) => loaded.putResult(wanted, decodeRows(found, wanted.query.columns)),
    }));
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => void this.#flush());
      this.#waiting.push({ rows, loaded, reads, resolve, reject });
    });
  }

  async #flush(): Promise<void> {
    const waiting = this.#waiting.splice(0);
    const reads = [...rowReads(waiting), ...waiting.flatMap((each) => each.reads)];
    try {
      const results = await this.#turn(reads.map(({ statement }) => statement));
      for (const [place, result] of results.entries()) reads[place]!.take(result);
      for (const { resolve } of waiting) resolve();
    } catch (error) {
      if (waiting.length === 1) return waiting[0]!.reject(error);
      // The database refused the reads of one body. Each body is loaded alone, so that only that one fails.
      for (const each of waiting) {
        if (error instanceof TransientError) each.reject(error);
        else await this.#flushOne(each);
      }
    }
  }

  async #flushOne(waiting: WaitingBody): Promise<void> {
    const reads = [...rowReads([waiting]), ...waiting.reads];
    try {
      const results = await this.#turn(reads.map(({ statement }) => statement));
      for (const [place, result] of results.entries()) reads[place]!.take(result);
      waiting.resolve();
    } catch (error) {
      waiting.reject(error);
    }
  }

  /** Sends the reads. If the connection is lost, repeats them on a new one, until primaryWaitMs has passed. */
  async #turn(statements: readonly Statement[]): Promise<Rows[]> {
    const deadline = performance.now() + this.options.primaryWaitMs;
    for (;;) {
      let connection: Connection | null = null;
      try {
        connection = await this.#connected();
        return await connection.turn(statements);
      } catch (error) {
        const errorClass = errorClassOf(error);
        if (errorClass === "refused") throw error;
        if (connection && errorClass === "lost") connection.close();
        if (performance.now() + RECONNECT_MS > deadline || this.#isClosed) {
          throw new TransientError(String(error), { cause: error });
        }
        await Bun.sleep(RECONNECT_MS);
      }
    }
  }

  async #connected(): Promise<Connection> {
    const current = this.#connection;
    if (current) {
      const connection = await current.catch(() => null);
      if (connection && !connection.isLost) return connection;
      if (this.#connection === current) this.#connection = null;
    }
    this.#connection ??= connect(this.address, this.options);
    return this.#connection;
  }
}

/** Merges the row reads of all waiting bodies into one statement for each index. */
function rowReads(waiting: readonly WaitingBody[]): WaitingRead[] {
  const byIndex = new Map<
    Index,
    { wanted: Map<string | number, RowToLoad>; bodies: [LoadedRows, RowToLoad[]][] }
  >();
  for (const { rows, loaded } of waiting) {
    for (const wanted of rows) {
      const { index } = wanted[0]!;
      let together = byIndex.get(index);
      if (!together) byIndex.set(index, (together = { wanted: new Map(), bodies: [] }));
      for (const each of wanted) together.wanted.set(each.key, each);
      together.bodies.push([loaded, wanted]);
    }
  }
  return [...byIndex].map(([index, { wanted, bodies }]) => ({
    statement: loadStatement(
      index,
      [...wanted.values()].map(({ values }) => values),
    ),
    take(rows) {
      const found = new Map(
        decodeRows(rows, kindsOf(index.table)).map((row) => [keyOfRow(index, row)!, row]),
      );
      for (const [loaded, own] of bodies) loaded.putRows(own, found);
    },
  }));
}

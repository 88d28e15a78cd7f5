// A PostgreSQL database for tests that fill and read theirs synchronously, as they do SQLite's: another thread talks to
// the server while this one waits for it.

import { MessageChannel, receiveMessageOnPort, Worker } from "node:worker_threads";
import type { Reader } from "../../../src/db/port/port.ts";
import { LoadedRows, NotLoaded } from "../../../src/db/postgres/batch/loaded-rows.ts";
import type { Statement } from "../../../src/db/postgres/connection/connection.ts";
import { LoadedReader } from "../../../src/db/postgres/batch/reader.ts";
import {
  decodeRows,
  kindsOf,
  loadStatement,
  queryStatement,
} from "../../../src/db/postgres/batch/text.ts";
import { keyOfRow } from "../../../src/db/port/table-definition.ts";
import { Refusal, type RefusalCode } from "../../../src/domain/values/error-table.ts";
import type {
  CommandInput,
  CommandName,
  CommandOutput,
  CommandRequest,
  Reply as CommandReply,
} from "../../../src/operations/batch/commands.ts";

export type Call =
  | { do: "create"; file: string }
  | { do: "execute"; url: string; name: CommandName; input: unknown; now: number }
  | { do: "batch"; url: string; requests: readonly CommandRequest[]; now: number }
  | { do: "query"; url: string; text: string; values: readonly unknown[] }
  | { do: "turn"; url: string; statements: readonly Statement[] }
  | { do: "close"; url: string };

export type Reply =
  { done: unknown } | { refused: RefusalCode; details: unknown } | { failed: string };

/** Longer than the store's patience with a server that is away, and than a busy machine takes to make a cluster. */
const WAIT_MS = 240_000;

let thread: { send(call: Call): unknown } | undefined;

function startThread(): { send(call: Call): unknown } {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL("postgres-thread.ts", import.meta.url), {
    workerData: { port: port2, signal },
    transferList: [port2],
  });
  worker.unref();
  return {
    send(call) {
      Atomics.store(signal, 0, 0);
      port1.postMessage(call);
      // The notification of the reply before may come only now: it wakes this thread although its own is not there yet.
      while (Atomics.load(signal, 0) === 0) {
        if (Atomics.wait(signal, 0, 0, WAIT_MS) === "timed-out") break;
      }
      const reply = (receiveMessageOnPort(port1) as { message: Reply } | undefined)?.message;
      if (!reply) throw new Error(`no reply of PostgreSQL to ${call.do}`);
      if ("refused" in reply) throw new Refusal(reply.refused, reply.details as never);
      if ("failed" in reply) throw new Error(reply.failed);
      return reply.done;
    },
  };
}

export interface PostgresDatabase {
  url: string;
  execute<Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
    now: number,
  ): CommandOutput<Name>;
  batch(requests: readonly CommandRequest[], now: number): CommandReply[];
  query(text: string, values: readonly unknown[]): unknown[];
  read<T>(body: (reader: Reader) => T): T;
  close(): void;
}

/** A database that is fresh and migrated. */
export function createPostgresDatabase(): PostgresDatabase {
  const waiting = (thread ??= startThread());
  const send = (call: Call) => waiting.send(call);
  const url = send({ do: "create", file: Bun.main }) as string;
  return {
    url,
    execute: (name, input, now) => send({ do: "execute", url, name, input, now }) as never,
    batch: (requests, now) => send({ do: "batch", url, requests, now }) as CommandReply[],
    query: (text, values) => send({ do: "query", url, text, values }) as unknown[],
    read(body) {
      const loaded = new LoadedRows();
      const reader = new LoadedReader(loaded);
      for (;;) {
        try {
          return body(reader);
        } catch (error) {
          if (!(error instanceof NotLoaded)) throw error;
        }
        load(loaded, (statements) => send({ do: "turn", url, statements }) as never);
      }
    },
    close: () => void send({ do: "close", url }),
  };
}

type Turn = (statements: readonly Statement[]) => Parameters<typeof decodeRows>[0][];

function load(loaded: LoadedRows, turn: Turn): void {
  const { rows, queries } = loaded.takeRequests();
  for (const wanted of rows) {
    const { index } = wanted[0]!;
    const [found] = turn([
      loadStatement(
        index,
        wanted.map(({ values }) => values),
      ),
    ]);
    const decoded = decodeRows(found!, kindsOf(index.table));
    loaded.putRows(wanted, new Map(decoded.map((row) => [keyOfRow(index, row)!, row])));
  }
  for (const wanted of queries) {
    const [found] = turn([queryStatement(wanted.query, wanted.values)]);
    loaded.putResult(wanted, decodeRows(found!, wanted.query.columns));
  }
}

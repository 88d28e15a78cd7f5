// The thread behind postgres-sync.ts: it may wait for PostgreSQL while the thread of the tests stands still.

import { workerData } from "node:worker_threads";
import type { MessagePort } from "node:worker_threads";
import { SQL } from "bun";
import { createPostgresStore, type PostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { runBatch } from "../../../src/operations/batch/commands.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { cluster } from "./postgres.ts";
import type { Call, Reply } from "./postgres-sync.ts";

const { port, signal } = workerData as { port: MessagePort; signal: Int32Array };
const opened = new Map<string, { store: PostgresStore; sql: SQL }>();
/** The file of tests whose databases are open. */
let file: string | undefined;

port.on("message", (call: Call) => {
  void answer(call).then((reply) => {
    port.postMessage(reply);
    Atomics.store(signal, 0, 1);
    Atomics.notify(signal, 0);
  });
});

async function answer(call: Call): Promise<Reply> {
  try {
    return { done: await perform(call) };
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.code, details: error.details };
    return { failed: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function perform(call: Call): Promise<unknown> {
  if (call.do === "create") {
    const server = await cluster();
    if (call.file !== file) for (const url of opened.keys()) await close(url);
    file = call.file;
    const name = await server.createDatabase(file);
    return `postgres://postgres@127.0.0.1:${server.port}/${name}`;
  }
  if (call.do === "close") return close(call.url);
  const { store, sql } = await open(call.url);
  switch (call.do) {
    case "execute":
      return execute(store, call.name, call.input as never, call.now);
    case "batch":
      return runBatch(store, call.requests, call.now, crypto.randomUUID());
    case "query":
      return rowsOf(sql, call.text, call.values);
    case "turn": {
      const turn = [];
      for (const { text, values } of call.statements)
        turn.push(await sql.unsafe(text, [...values]));
      return turn.map((rows) => [...(rows as object[])]);
    }
  }
}

async function close(url: string): Promise<void> {
  const found = opened.get(url);
  if (!found) return;
  const { store, sql } = found;
  opened.delete(url);
  await store.close();
  await sql.close();
}

/** The server allows 60 connections, and most tests leave their database open. */
const OPEN_LIMIT = 4;

async function open(url: string): Promise<{ store: PostgresStore; sql: SQL }> {
  const found = opened.get(url);
  // The one that was used last is the last to be closed.
  opened.delete(url);
  const { hosts, username, database } = parseAddress(url);
  const open = found ?? {
    sql: new SQL({ adapter: "postgres", ...hosts[0]!, username, database, max: 1 }),
    store: createPostgresStore(parseAddress(url)),
  };
  opened.set(url, open);
  if (opened.size > OPEN_LIMIT) await close(opened.keys().next().value!);
  return open;
}

/** As JSON, so that numbers are numbers and text is text. What returns no rows runs as it is. */
async function rowsOf(sql: SQL, text: string, values: readonly unknown[]): Promise<unknown[]> {
  let place = 0;
  const numbered = text.replaceAll("?", () => `$${++place}`);
  if (!/^\s*SELECT\b/i.test(text))
    return [...((await sql.unsafe(numbered, [...values])) as object[])];
  const rows = await sql.unsafe(`SELECT to_json(found)::text AS row FROM (${numbered}) AS found`, [
    ...values,
  ]);
  return (rows as { row: string }[]).map(({ row }) => JSON.parse(row) as unknown);
}

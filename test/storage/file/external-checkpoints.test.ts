// --checkpoint external: nothing of this program takes anything from the WAL, which a replicator copies.

import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import { COPY_THREAD, WRITER_THREAD } from "../../../src/config/source-files.ts";
import type { Connection } from "../../../src/db/sqlite/connection.ts";
import {
  checkpoint,
  checkpointAtEnd,
  type CheckpointMode,
  createCheckpointer,
  createExternalCheckpointer,
} from "../../../src/storage/file/checkpoint.ts";
import { backUp } from "../../../src/storage/backup/backup.ts";
import { openReader, openWriter } from "../../../src/storage/file/open.ts";
import { startWriter } from "../../../src/writer/writer.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";

const CONNECTIONS: Connection[] = [];
afterEach(() => {
  for (const { sqlite } of CONNECTIONS.splice(0)) sqlite.close();
});

function kept<T extends Connection>(connection: T): T {
  CONNECTIONS.push(connection);
  return connection;
}

const pragma = ({ sqlite }: Connection, name: string) =>
  sqlite.query(`PRAGMA ${name}`).values()[0]![0];
const wal = ({ sqlite }: Connection) =>
  sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number; checkpointed: number };

/** Writes about that many pages. */
function fill({ sqlite }: Connection, pages: number): void {
  sqlite.run("CREATE TABLE IF NOT EXISTS filler (bytes BLOB)");
  const insert = sqlite.query("INSERT INTO filler VALUES (zeroblob(4000))");
  sqlite.run("BEGIN IMMEDIATE");
  for (let row = 0; row < pages; row += 1) insert.run();
  sqlite.run("COMMIT");
}

test("the writer's WAL is neither truncated nor checkpointed by SQLite", () => {
  const { connection } = freshDatabase();
  kept(connection);
  const [external, internal] = (["external", "internal"] as const).map((mode) =>
    kept(openWriter(connection.path, mode)),
  );
  const pragmas = (of: Connection) =>
    ["journal_size_limit", "wal_autocheckpoint"].map((name) => pragma(of, name));
  expect(pragmas(external!)).toEqual([-1, 0]);
  expect(pragmas(internal!)).toEqual([32 * 1024 * 1024, 0]);
});

test("a checkpoint is due only above the limit, runs in the other thread, and removes nothing from the WAL", () => {
  const { connection } = freshDatabase();
  const writer = kept(openWriter(kept(connection).path, "external"));
  const checkpointer = createExternalCheckpointer(writer, 10_000);
  fill(writer, 9000);
  expect(createCheckpointer(writer).checkpointDue()).toBe("offloaded");
  expect(checkpointer.checkpointDue()).toBe("none");
  fill(writer, 2000);
  expect(checkpointer.checkpointDue()).toBe("offloaded");
  const { log } = wal(writer);
  // Litestream keeps a read transaction open: with it, the WAL goes on to grow.
  const replicator = kept(openReader(writer.path));
  replicator.sqlite.run("BEGIN");
  replicator.sqlite.query("SELECT count(*) FROM users").get();
  checkpoint(kept(openWriter(writer.path, "external")));
  expect(checkpointer.checkpointDue()).toBe("none");
  fill(writer, 100);
  expect(wal(writer).log).toBeGreaterThan(log);
});

test("no thread checkpoints: not after a batch, not when idle, not beside a backup, not at the end", async () => {
  const events = { onCopy() {}, onWarning() {} };
  const warned: string[] = [];
  const run = async (mode: CheckpointMode) => {
    const connection = kept(freshDatabase().connection);
    const { path } = connection;
    const writer = await startWriter({
      path,
      thread: WRITER_THREAD,
      mode,
      onFatal() {},
      onLongWal: () => warned.push(mode),
    });
    fill(connection, 3000);
    await writer.submit("probe", undefined);
    return { connection, path, writer };
  };
  const external = await run("external");
  const internal = await run("internal");
  // Begun later, and idle when it is done: the other one had its time.
  while (wal(internal.connection).checkpointed < 3000) await Bun.sleep(1);
  expect(wal(external.connection)).toMatchObject({ checkpointed: 0 });
  // The copy does not verify because of its filler, which is found after what would be the checkpoint beside it.
  const target = join(freshFolder(), "b.db");
  const made = await backUp(COPY_THREAD, external.path, target, "external", events);
  expect(made.fault).toContain("filler");
  expect(wal(external.connection)).toMatchObject({ checkpointed: 0 });
  const before = wal(external.connection);
  expect(before.log).toBeGreaterThan(3000);
  await external.writer.close();
  // A TRUNCATE would leave nothing in it.
  expect(wal(external.connection)).toEqual(before);
  await internal.writer.close();
  expect(wal(internal.connection).log).toBe(0);
  expect(warned).toEqual([]);
});

test("a backup by hand does not checkpoint a database that Litestream replicates", async () => {
  const connection = kept(freshDatabase().connection);
  connection.sqlite.run("CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)");
  fill(connection, 2000);
  const before = wal(connection);
  const events = { onCopy() {}, onWarning() {} };
  const backup = (name: string) =>
    backUp(COPY_THREAD, connection.path, join(freshFolder(), name), "internal", events);
  // The filler is no table of ours, which is found after the copy and after what would be its checkpoint.
  expect((await backup("a.db")).fault).toContain("filler");
  expect(wal(connection)).toEqual(before);
  connection.sqlite.run("DROP TABLE _litestream_seq");
  await backup("b.db");
  expect(wal(connection).checkpointed).toBeGreaterThan(before.checkpointed);
});

test("a reader of another process delays the end of the writer by less than a second", async () => {
  const writable = kept(openWriter(freshDatabase().connection.path));
  checkpointAtEnd(writable);
  expect(pragma(writable, "busy_timeout")).toBeLessThan(1000);
  const database = freshDatabase();
  const connection = kept(database.connection);
  const writer = await startWriter({ path: connection.path, thread: WRITER_THREAD, onFatal() {} });
  const reader = kept(openReader(connection.path));
  reader.sqlite.run("BEGIN");
  reader.sqlite.query("SELECT count(*) FROM users").get();
  database.user("anna");
  await writer.close();
  expect(reader.sqlite.inTransaction).toBe(true);
});

// Which checkpoint is due (none, idle, immediate, offloaded), and that the WAL restarts afterwards.

import { expect, test } from "bun:test";
import { checkpoint, createCheckpointer } from "../../../src/storage/file/checkpoint.ts";
import type { Connection } from "../../../src/db/sqlite/connection.ts";
import { openReader, openWriter } from "../../../src/storage/file/open.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";

const ROWS_A_BATCH = 100;

/** Writes about that many pages. */
function fill({ sqlite }: Connection, pages: number): void {
  const insert = sqlite.query("INSERT INTO filler VALUES (zeroblob(4000))");
  for (let written = 0; written < pages; written += ROWS_A_BATCH) {
    sqlite.run("BEGIN IMMEDIATE");
    for (let row = 0; row < ROWS_A_BATCH; row += 1) insert.run();
    sqlite.run("COMMIT");
  }
}

const pagesInWal = ({ sqlite }: Connection) =>
  (sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number }).log;

test("a checkpoint is due when idle, then immediately, offloaded while a reader blocks it; after the reader the WAL restarts", () => {
  const database = freshDatabase();
  const { path } = database.connection;
  const writer = openWriter(path);
  writer.sqlite.run("CREATE TABLE filler (bytes BLOB)");
  const checkpointer = createCheckpointer(writer);
  checkpointer.run();
  expect(checkpointer.checkpointDue()).toBe("none");
  fill(writer, 1500);
  expect(checkpointer.checkpointDue()).toBe("idle");

  const reader = openReader(path);
  reader.sqlite.run("BEGIN");
  reader.sqlite.query("SELECT count(*) FROM filler").get();
  fill(writer, 4500);
  expect(checkpointer.checkpointDue()).toBe("immediate");
  checkpointer.run();
  expect(checkpointer.checkpointDue()).toBe("idle");
  fill(writer, 7000);
  expect(checkpointer.checkpointDue()).toBe("offloaded");
  const second = openWriter(path);
  checkpoint(second);
  expect(checkpoint(second)).toBe(false);
  expect(checkpointer.checkpointDue()).toBe("offloaded");

  reader.sqlite.run("COMMIT");
  expect(checkpoint(second)).toBe(true);
  expect(checkpointer.checkpointDue()).toBe("none");
  fill(writer, 4200);
  expect(checkpointer.checkpointDue()).toBe("immediate");
  checkpointer.run();
  fill(writer, ROWS_A_BATCH);
  expect(pagesInWal(writer)).toBeLessThan(500);
  for (const { sqlite } of [reader, second, writer, database.connection]) sqlite.close();
});

test("a WAL that a reader kept from restarting is tried again at 1 MB more, not at another 16 MB", () => {
  const database = freshDatabase();
  const { path } = database.connection;
  const writer = openWriter(path);
  writer.sqlite.run("CREATE TABLE filler (bytes BLOB)");
  const checkpointer = createCheckpointer(writer);
  checkpointer.run();
  fill(writer, 4200);
  const reader = openReader(path);
  reader.sqlite.run("BEGIN");
  reader.sqlite.query("SELECT count(*) FROM filler").get();
  expect(checkpointer.checkpointDue()).toBe("immediate");
  checkpointer.run();
  expect(checkpointer.checkpointDue()).toBe("none");
  fill(writer, 300);
  expect(pagesInWal(writer)).toBeGreaterThan(4400);

  reader.sqlite.run("COMMIT");
  expect(checkpointer.checkpointDue()).toBe("immediate");
  checkpointer.run();
  fill(writer, ROWS_A_BATCH);
  expect(pagesInWal(writer)).toBeLessThan(500);
  for (const { sqlite } of [reader, writer, database.connection]) sqlite.close();
});

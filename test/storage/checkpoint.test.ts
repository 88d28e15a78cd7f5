// Who moves what waits in the write-ahead log, and when; and that the log begins anew.

import { expect, test } from "bun:test";
import { checkpoint, createCheckpointer } from "../../src/storage/checkpoint.ts";
import { type Connection, transact } from "../../src/db/connection.ts";
import { openReader, openWriter } from "../../src/storage/open.ts";
import { freshDatabase } from "../support/service.ts";

const ROWS_A_BATCH = 100;

/** Writes about so many pages. */
function fill(connection: Connection, pages: number): void {
  for (let written = 0; written < pages; written += ROWS_A_BATCH) {
    transact(connection, ({ sqlite }) => {
      const insert = sqlite.query("INSERT INTO filler VALUES (zeroblob(4000))");
      for (let row = 0; row < ROWS_A_BATCH; row += 1) insert.run();
    });
  }
}

const pagesInLog = ({ sqlite }: Connection) =>
  (sqlite.query("PRAGMA wal_checkpoint(NOOP)").get() as { log: number }).log;

test("the log waits for a quiet moment, then for no longer; behind a reader for another thread; and begins anew once it is gone", () => {
  const database = freshDatabase();
  const { path } = database.connection;
  const writer = openWriter(path);
  writer.sqlite.run("CREATE TABLE filler (bytes BLOB)");
  const log = createCheckpointer(writer);
  log.empty();
  expect(log.checkpointDue()).toBe("nobody");
  fill(writer, 1500);
  expect(log.checkpointDue()).toBe("quietly");

  const reader = openReader(path);
  reader.sqlite.run("BEGIN");
  reader.sqlite.query("SELECT count(*) FROM filler").get();
  fill(writer, 4500);
  expect(log.checkpointDue()).toBe("now");
  log.empty();
  expect(log.checkpointDue()).toBe("quietly");
  fill(writer, 7000);
  expect(log.checkpointDue()).toBe("beside");
  const beside = openWriter(path);
  checkpoint(beside);
  expect(checkpoint(beside)).toBe(false);
  expect(log.checkpointDue()).toBe("beside");

  reader.sqlite.run("COMMIT");
  expect(checkpoint(beside)).toBe(true);
  expect(log.checkpointDue()).toBe("nobody");
  fill(writer, 4200);
  expect(log.checkpointDue()).toBe("now");
  log.empty();
  fill(writer, ROWS_A_BATCH);
  expect(pagesInLog(writer)).toBeLessThan(500);
  for (const { sqlite } of [reader, beside, writer, database.connection]) sqlite.close();
});

// The database of a server on SQLite, opened and closed in a process that lives on.

import { readdirSync, readlinkSync } from "node:fs";
import { expect, test } from "bun:test";
import { listServices } from "../../src/db/catalogue/services.ts";
import { createLog } from "../../src/monitoring/log.ts";
import { openSqliteDatabase } from "../../src/server/sqlite-database.ts";
import { freshFolder } from "../support/folders.ts";

/** The open files of this process below a folder, also deleted ones. */
function openFilesIn(folder: string): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return path.startsWith(folder) ? [path] : [];
    } catch {
      // Closed since it was listed.
      return [];
    }
  });
}

test("a database that was closed holds no file open", async () => {
  const data = freshFolder();
  const log = createLog("error", "json", false);
  const events = { log, onFatal: () => {}, onCommit: () => {} };
  const options = { data, diskFloor: 0, checkpoint: "internal" } as const;
  const database = await openSqliteDatabase(options, events);
  await database.writer.submit("setMailSettings", { active: false, operator: null });
  await database.store.read(listServices);
  await database.slowStore.read(listServices);
  expect(database.check()).toMatchObject({ disk: { ok: true }, migrations: { ok: true } });
  expect(openFilesIn(data)).not.toEqual([]);
  await database.close();
  expect(openFilesIn(data)).toEqual([]);
  await log.close();
});

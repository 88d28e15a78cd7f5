// The database that a restore replaces goes with its log, or both are where they were.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { keepReplaced, settleReplaced } from "../../../src/storage/backup/replaced-file.ts";
import { freshFolder } from "../../support/folders.ts";

const NOW = Date.UTC(2026, 10, 21);
const KEPT = "reseller.db.before-restore-2026-11-21T00-00-00-000Z";

/** A data directory of a database that could not be brought into its one file, with a backup that is made ready. */
function restoring(): { folder: string; path: string; staged: string } {
  const folder = freshFolder();
  const path = join(folder, "reseller.db");
  const staged = join(folder, "restoring", "reseller.db");
  writeFileSync(path, "old");
  writeFileSync(`${path}-wal`, "log of old");
  mkdirSync(join(folder, "restoring"));
  writeFileSync(staged, "new");
  return { folder, path, staged };
}

const contents = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );

test("an uncommitted restore is undone, with the database and its log as before, however far it was", () => {
  const before = { "reseller.db": "old", "reseller.db-wal": "log of old" };
  const { folder, path } = restoring();
  keepReplaced(path, NOW);
  settleReplaced(path);
  expect(contents(folder)).toEqual(before);
  for (const isWritten of [false, true]) {
    const again = restoring();
    keepReplaced(again.path, NOW);
    // As where the log was still in its place and its copy was half done.
    if (isWritten) {
      renameSync(join(again.folder, `${KEPT}.partial-wal`), `${again.path}-wal`);
      writeFileSync(join(again.folder, `${KEPT}.partial-wal`), "log");
    }
    settleReplaced(again.path);
    settleReplaced(again.path);
    expect(contents(again.folder)).toEqual(before);
  }
});

test("a committed restore names the database that it replaced, with its log under the same name", () => {
  for (const isLogNamed of [false, true]) {
    const { folder, path, staged } = restoring();
    expect(keepReplaced(path, NOW)).toBe(join(folder, KEPT));
    renameSync(staged, path);
    if (isLogNamed) renameSync(join(folder, `${KEPT}.partial-wal`), join(folder, `${KEPT}-wal`));
    settleReplaced(path);
    expect(contents(folder)).toEqual({
      "reseller.db": "new",
      [KEPT]: "old",
      [`${KEPT}-wal`]: "log of old",
    });
  }
});

test("a second name of the database in use is removed, even without the folder that records the progress", () => {
  const { folder, path } = restoring();
  keepReplaced(path, NOW);
  rmSync(join(folder, "restoring"), { recursive: true });
  settleReplaced(path);
  expect(contents(folder)).toEqual({ "reseller.db": "old", "reseller.db-wal": "log of old" });
});

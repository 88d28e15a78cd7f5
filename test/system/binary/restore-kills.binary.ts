// `restore` killed after each change of a name and each sync that it makes: whatever comes next finds a whole database,
// and the one that was replaced is kept once, under a name of its own.

import { Database } from "bun:sqlite";
import { cpSync, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "bun:test";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { binaryWith, startServerProcess } from "../../support/binary.ts";
import { runs } from "../../support/runs.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { compileShim, type Shim } from "../powercut/shim.ts";

let shim: Shim;
beforeAll(async () => (shim = await compileShim()));

/** More than a restore takes. */
const STEPS_LIMIT = 300;
/** Each so many steps it is killed. */
const STRIDE = runs(3, 1);

/** A data directory in which carol came after the backup. */
function shopWithBackup(): { template: string; file: string } {
  const template = freshFolder();
  const database = freshDatabase(template);
  database.user("alice", "100");
  const file = join(freshFolder(), "copy.db");
  copyDatabase(database.connection.path, file);
  database.user("carol", "5");
  database.connection.sqlite.close();
  return { template, file };
}

function usersOf(path: string): string[] {
  const sqlite = new Database(path, { readonly: true });
  try {
    const query = "SELECT username FROM users WHERE username IS NOT NULL ORDER BY username";
    return sqlite
      .query<{ username: string }, []>(query)
      .all()
      .map(({ username }) => username);
  } finally {
    sqlite.close();
  }
}

/** Without the empty files that a reader leaves beside a database. */
const keptIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name.includes(".before-restore-") && !name.endsWith("-shm"))
    .filter((name) => !name.endsWith("-wal") || statSync(join(folder, name)).size > 0);

/** What a restore that was killed left, once the next command has gone over it. */
function expectSettled(folder: string): void {
  const path = join(folder, "reseller.db");
  const isRestored = !usersOf(path).includes("carol");
  const kept = keptIn(folder);
  expect(kept).toEqual(isRestored ? [expect.stringMatching(/-20[\dTZ-]+$/)] : []);
  for (const name of kept) {
    expect(statSync(join(folder, name)).nlink).toBe(1);
    expect(usersOf(join(folder, name))).toContain("carol");
  }
  expect(existsSync(join(folder, "restoring"))).toBe(false);
}

test.each([
  ["a hard link", false],
  ["a copy, where there are no hard links", true],
])("kill -9 after each step of a restore that keeps the old database as %s", async (_, noLinks) => {
  const { template, file } = shopWithBackup();
  let tried = 0;
  let restored = 0;
  let kill = 1;
  for (; kill < STEPS_LIMIT; kill += STRIDE) {
    tried += 1;
    const folder = freshFolder();
    cpSync(template, folder, { recursive: true });
    const environment = shim.environment(folder, { kill, noLinks });
    const { code } = await binaryWith(environment, folder, "restore", file, "--data", folder);
    if (code === 0) break;
    expect(code).toBe(137);
    // What has its last name already is neither half a copy nor another name of the database in use.
    for (const name of keptIn(folder).filter((name) => !name.includes(".partial"))) {
      expect(statSync(join(folder, name)).nlink).toBe(1);
      expect(usersOf(join(folder, name))).toContain("carol");
    }
    const server = await startServerProcess({ data: folder });
    expect(await server.stop()).toBe(0);
    expectSettled(folder);
    if (keptIn(folder).length > 0) restored += 1;
  }
  // It was killed before the backup became the database, between that and the last name, and after it.
  expect(kill).toBeLessThan(STEPS_LIMIT);
  expect(restored).toBeGreaterThan(0);
  expect(tried - 1 - restored).toBeGreaterThan(10 / STRIDE);
});

// Upgrades of a database to the next version, killed at any moment.

import { Database } from "bun:sqlite";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { migrate, MIGRATIONS } from "../../../src/storage/file/migrate.ts";
import { nextBinary, NEXT_MIGRATION } from "../../support/databases/next-version.ts";
import { startServerProcess } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

/** 40 MB of which every byte counts. */
const ROWS = 40;
const ROW_BYTES = 1_000_000;

test("kill -9 during upgrades: the next start upgrades, one whole copy is kept and nothing else", async () => {
  const folder = freshFolder();
  const older = new Database(join(folder, "reseller.db"));
  migrate(older, MIGRATIONS, 1);
  older.run("CREATE TABLE keepsake (bytes BLOB)");
  for (let row = 0; row < ROWS; row++) {
    older.run(`INSERT INTO keepsake VALUES (randomblob(${ROW_BYTES}))`);
  }
  const sumOf = (database: Database) =>
    database.query("SELECT count(*), sum(length(bytes)), max(hex(bytes)) FROM keepsake").values();
  const before = sumOf(older);
  older.close();
  const copies = () => readdirSync(folder).filter((name) => name.includes(".before-migration"));
  /** Which of them there is, as no later one can be. */
  const seen = () =>
    copies().flatMap((name) => {
      const stat = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false });
      return stat ? [`${stat.ctimeNs} ${name}`] : [];
    });
  const [BEING_WRITTEN, WHOLE, NAMED] = [/\.partial$/, /-to-\d+$/, /-20\d\d-/];
  const binary = await nextBinary();
  for (const stage of [BEING_WRITTEN, BEING_WRITTEN, WHOLE, WHOLE, NAMED]) {
    const earlier = seen();
    const server = Bun.spawn([binary, "serve", "--data", folder, "--port", "0"], {
      stdout: "ignore",
      stderr: "ignore",
    });
    const isNew = (name: string) => !earlier.includes(name) && stage.test(name);
    await until(() => seen().some((name) => NAMED.test(name) || isNew(name)));
    server.kill("SIGKILL");
    await server.exited;
    expect(copies().filter((name) => !name.endsWith("-journal")).length).toBeLessThanOrEqual(1);
  }
  const server = await startServerProcess({ data: folder, binary });
  expect(await server.stop()).toBe(0);
  expect(copies()).toEqual([expect.stringMatching(/\.before-migration-20[\dTZ-]+$/)]);
  const copy = new Database(join(folder, copies()[0]!), { readonly: true });
  expect(sumOf(copy)).toEqual(before);
  const versionIn = (database: Database) =>
    database.query("SELECT max(version) FROM migrations").values();
  expect(versionIn(copy)).toEqual([[MIGRATIONS.at(-1)!.version]]);
  copy.close();
  const upgraded = new Database(join(folder, "reseller.db"), { readonly: true });
  expect(versionIn(upgraded)).toEqual([[NEXT_MIGRATION.sqlite.version]]);
  upgraded.close();
});

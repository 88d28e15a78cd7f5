// The job that copies backups off-site: every failure is logged and tried again, and orders never wait for it.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type Offsite, startOffsite } from "../../src/jobs/offsite.ts";
import type { Logger } from "../../src/monitoring/log.ts";
import { copyDatabase } from "../../src/storage/backup/copy.ts";
import { nextBackup } from "../../src/storage/backup/backup-folder.ts";
import { parseBackupName } from "../../src/storage/backup/backup-names.ts";
import { claimInstanceId } from "../../src/storage/file/instance.ts";
import { bundledProgram } from "../support/bundles.ts";
import { type S3, startS3 } from "../support/peers/s3.ts";
import { freshSqliteDatabase, type TestDatabase } from "../support/databases/test-database.ts";

let program: string[];
let s3: S3;
let database: TestDatabase;
let folder: string;
let offsite: Offsite | null = null;
let lines: { message: string; fields: Record<string, unknown> }[];
let heard = () => {};

beforeAll(async () => {
  program = await bundledProgram();
  s3 = await startS3();
});
afterAll(() => s3.stop());

beforeEach(() => {
  s3.fail(null);
  database = freshSqliteDatabase();
  folder = join(database.folder, "backups");
  lines = [];
});
afterEach(async () => {
  await offsite?.stop();
  database.connection.sqlite.close();
});

function backup(): string {
  const file = nextBackup(folder, claimInstanceId(database.folder), Date.now());
  copyDatabase(database.connection.path, file);
  return file;
}

function start(retryMs = 20): Offsite {
  const hear = (fields: object, message: string) => {
    lines.push({ message, fields: fields as Record<string, unknown> });
    heard();
  };
  const log = { info: hear, warn: hear, error: hear } as unknown as Logger;
  const environment = { ...process.env, ...s3.environment };
  return (offsite = startOffsite(
    { data: database.folder, folder, environment, retryMs, program },
    log,
  ));
}

/** Resolves once so many lines with this message were logged. */
async function logged(message: string, times = 1): Promise<void> {
  const count = () => lines.filter((line) => line.message === message).length;
  while (count() < times) await new Promise<void>((resolve) => (heard = resolve));
}

test("a store that fails is tried again with growing pauses, and each failure is logged", async () => {
  s3.fail(() => "full");
  const file = backup();
  const job = start();
  await logged("backup not copied off-site", 3);
  expect(job.newestAt()).toBeNull();
  s3.fail(null);
  await logged("backup copied off-site");
  const failures = lines.filter(({ message }) => message === "backup not copied off-site");
  expect(failures[0]!.fields).toMatchObject({ file, retryInSeconds: 0.02 });
  expect(failures[2]!.fields).toMatchObject({ file, retryInSeconds: 0.08 });
  const error = String(failures[0]!.fields["error"]);
  expect(error).toContain("QuotaExceeded");
  expect(error).not.toContain('"status"');
  expect(JSON.stringify(lines)).not.toContain(s3.settings.secretKey);
  expect(job.newestAt()).toBe(parseBackupName(file.split("/").at(-1)!)!.begunAt);
});

test("a newer backup replaces one that still waits, and is sent without the rest of its pause", async () => {
  s3.fail(() => "busy");
  backup();
  const job = start(3_600_000);
  await logged("backup not copied off-site");
  s3.fail(null);
  const newer = backup();
  job.copy(newer);
  await logged("backup copied off-site");
  const copied = lines.filter(({ message }) => message === "backup copied off-site");
  expect(copied.map(({ fields }) => fields["file"])).toEqual([newer]);
});

test("a stop ends an upload at once, and the next start repeats it", async () => {
  let reached = () => {};
  const reaching = new Promise<void>((resolve) => (reached = resolve));
  s3.fail(() => {
    reached();
    return "hang";
  });
  const file = backup();
  const job = start();
  await reaching;
  expect(job.inUse()).toBe(file);
  await job.stop();
  expect(lines).toEqual([]);
  s3.fail(null);
  start();
  await logged("backup copied off-site");
});

// The pace of the server's backups: a seventh of the time they work, and while they rest they can be ended.

import { afterEach, expect, test } from "bun:test";
import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Backups, startBackups } from "../../src/jobs/backups.ts";
import { pace, type PaceClock } from "../../src/jobs/paced-process.ts";
import type { Logger } from "../../src/monitoring/log.ts";
import { WAL_LIMIT_BYTES } from "../../src/storage/file/checkpoint.ts";
import { childrenOf, stateOf } from "../support/children.ts";
import { freshFolder } from "../support/folders.ts";
import { freshSqliteDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { until } from "../support/until.ts";

/** The signals to a process that works until `end`; each timer is late by the next of `late`. */
async function signalsUntil(end: number, late: number[] = [], mayRest = () => true) {
  let now = 0;
  const signals: string[] = [];
  const clock: PaceClock = {
    now: () => now,
    sleep(milliseconds) {
      now += milliseconds + (late.shift() ?? 0);
      return Promise.resolve();
    },
  };
  const isRunning = () => now < end;
  await pace((signal) => signals.push(`${signal} ${now}`), { isRunning, mayRest, clock });
  return signals;
}

test("after each portion of work there is a rest six times as long", async () => {
  expect(await signalsUntil(160)).toEqual([
    "SIGSTOP 10",
    "SIGCONT 70",
    "SIGSTOP 80",
    "SIGCONT 140",
    "SIGSTOP 150",
    "SIGCONT 210",
  ]);
});

test("a portion prolonged by a late timer is followed by a longer rest; a late rest is not made up for", async () => {
  expect(await signalsUntil(300, [10, 100])).toEqual([
    "SIGSTOP 20",
    "SIGCONT 240",
    "SIGSTOP 250",
    "SIGCONT 310",
  ]);
});

test("a process that has ended gets no signal, and one that may not rest continues", async () => {
  expect(await signalsUntil(10)).toEqual([]);
  let asked = 0;
  expect(await signalsUntil(45, [], () => ++asked > 3)).toEqual(["SIGSTOP 40", "SIGCONT 100"]);
});

const ENDS: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ENDS.splice(0)) await end();
});

interface Started {
  backups: Backups;
  folder: string;
  lines: string[];
}

/** The server's job, whose rests never end by themselves. The first begins once `worked` resolves. */
function startWith(database: TestDatabase, path: string, worked: () => Promise<void>): Started {
  const folder = join(database.folder, "backups");
  const lines: string[] = [];
  const hear = (fields: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { info: hear, warn: hear, error: hear } as unknown as Logger;
  let works = false;
  const clock: PaceClock = {
    now: () => performance.now(),
    sleep() {
      works = !works;
      return works ? worked() : new Promise(() => {});
    },
  };
  const plan = { path, data: database.folder, folder, every: 0, keep: 2, environment: process.env };
  const backups = startBackups({ ...plan, checkpoint: "internal", clock }, log);
  ENDS.push(
    () => backups.stop(),
    () => database.connection.sqlite.close(),
  );
  return { backups, folder, lines };
}

/** The server looks at the size of its database alone. */
function largeFile(): string {
  const path = join(freshFolder(), "large.db");
  writeFileSync(path, "");
  truncateSync(path, 64 * 1024 * 1024);
  return path;
}

const isStopped = (pid: number) => stateOf(pid) === "T";

test("a stop of the server during a rest ends the backup at once and leaves no file of it", async () => {
  const database = freshSqliteDatabase();
  const remains = () => {
    const folder = join(database.folder, "backups");
    return existsSync(folder) ? readdirSync(folder) : [];
  };
  const hasBegun = () => until(() => remains().some((name) => name.endsWith(".partial")));
  const { backups, lines } = startWith(database, largeFile(), hasBegun);
  const before = childrenOf(process.pid);
  backups.backUpNow();
  const started = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
  await until(() => started().some(isStopped));
  const [child] = started().filter(isStopped);
  expect(remains()).not.toEqual([]);
  await backups.stop();
  expect([remains(), lines]).toEqual([[], []]);
  expect(stateOf(child!)).toBeNull();
});

test("a backup does not rest once the write-ahead log that it holds has grown by its limit", async () => {
  const database = freshSqliteDatabase();
  const path = largeFile();
  writeFileSync(`${path}-wal`, "");
  const grown = () => {
    truncateSync(`${path}-wal`, WAL_LIMIT_BYTES);
    return Bun.sleep(1);
  };
  const { backups, lines } = startWith(database, path, grown);
  backups.backUpNow();
  await until(() => lines.length > 0);
  expect(lines).toEqual([expect.stringMatching(/^backup made /)]);
});

test("a backup of a small database does not rest", async () => {
  const database = freshSqliteDatabase();
  const { backups, lines } = startWith(database, database.connection.path, () => Bun.sleep(1));
  backups.backUpNow();
  backups.backUpNow();
  await until(() => lines.length > 1);
  expect(lines).toEqual([
    expect.stringMatching(/^a backup is already in progress /),
    expect.stringMatching(/^backup made /),
  ]);
});

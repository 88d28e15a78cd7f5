// The server's own backups: at intervals and when asked, each by `reseller backup` in a process of its own with a low
// priority, so that orders keep the server's threads and memory to themselves. The newest few are kept.

import { chmodSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { partialPath } from "../db/backup.ts";
import type { Logger } from "../log.ts";
import type { Upkeep } from "./upkeep.ts";

/** After a start without a backup that is young enough: not in the way of the first requests. */
const FIRST_MILLISECONDS = 60_000;
/** A file of 1 GB that goes at once holds up the syncs of others for 300 ms; it is cut off in steps of 32 MiB. */
const REMOVE_STEP_BYTES = 32 * 1024 * 1024;
const REMOVE_PAUSE_MILLISECONDS = 5;
/** Sorts by time. */
const NAME = /^reseller-(\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z)\.db$/;
const UNFINISHED = /^reseller-.*\.db\.partial(-journal)?$/;

/** How this program is run again: the binary is one, from source it is Bun and the program's file. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? [process.execPath]
  : [process.execPath, new URL("../main.ts", import.meta.url).pathname];

export interface BackupPlan {
  /** Absolute path of the database. */
  path: string;
  data: string;
  folder: string;
  /** Milliseconds; 0: only when asked. */
  every: number;
  keep: number;
}

export interface Backups extends Upkeep {
  backUpNow(): void;
}

export function startBackups(plan: BackupPlan, log: Logger): Backups {
  const { every, folder } = plan;
  let stopped = false;
  let child: Bun.Subprocess | null = null;
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const run = async (): Promise<void> => {
    try {
      const file = await prepareFile(folder, Date.now());
      if (stopped) return;
      child = Bun.spawn([...PROGRAM, "backup", file, "--data", plan.data, "--json"], {
        stdout: "pipe",
        stderr: "pipe",
      });
      const output = child as Bun.Subprocess<"ignore", "pipe", "pipe">;
      const [result, trouble] = await Promise.all([output.stdout.text(), output.stderr.text()]);
      if ((await child.exited) !== 0) {
        if (!stopped) log.error({ file, trouble: trouble.trim() }, "backup not made");
        return;
      }
      log.info({ ...(JSON.parse(result) as object) }, "backup made");
      for (const name of outdated(folder, plan.keep, file)) {
        // Half removed it must not pass for a backup.
        const old = join(folder, name);
        await rename(old, partialPath(old));
        await removeGently(partialPath(old));
      }
    } catch (error) {
      log.error({ folder, trouble: String(error) }, "backup not made");
    }
  };
  const backUpNow = () => {
    if (stopped) return;
    if (running) {
      log.warn({ folder }, "a backup is being made already");
      return;
    }
    running = run().finally(() => (running = null));
  };
  const schedule = (milliseconds: number) => {
    timer = setTimeout(() => {
      if (!running) backUpNow();
      schedule(every);
    }, milliseconds);
  };
  if (every > 0) schedule(untilFirst(plan, Date.now()));
  return {
    backUpNow,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      child?.kill();
      await running;
    },
  };
}

/** Names of the server's backups in a folder, newest first. */
export function listBackups(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .reverse();
}

/** When a backup was begun, by its name. */
export function timeOfBackup(name: string): number {
  const [date, time] = NAME.exec(name)![1]!.split("T");
  const [hours, minutes, seconds, milliseconds] = time!.replace("Z", "").split("-");
  return Date.parse(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}Z`);
}

/** An interval after the newest one; soon when that is past. A clock that was put back waits for one interval at most. */
function untilFirst({ folder, every }: BackupPlan, now: number): number {
  const [newest] = listBackups(folder);
  const soon = Math.min(every, FIRST_MILLISECONDS);
  if (newest === undefined) return soon;
  return Math.min(every, Math.max(soon, timeOfBackup(newest) + every - now));
}

/** The folder is there and holds no remains; returns the name of the next file in it. */
async function prepareFile(folder: string, now: number): Promise<string> {
  if (!existsSync(folder)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }
  for (const name of readdirSync(folder)) {
    if (UNFINISHED.test(name)) await removeGently(join(folder, name));
  }
  return join(folder, `reseller-${new Date(now).toISOString().replace(/[:.]/g, "-")}.db`);
}

/** Never the one that was just made: by a clock that was put back it is the oldest. */
function outdated(folder: string, keep: number, made: string): string[] {
  return listBackups(folder)
    .filter((name) => name !== basename(made))
    .slice(keep - 1);
}

async function removeGently(file: string): Promise<void> {
  const handle = await open(file, "r+");
  const { size } = await handle.stat();
  for (let left = size; left > 0; left -= REMOVE_STEP_BYTES) {
    await handle.truncate(Math.max(0, left - REMOVE_STEP_BYTES));
    await Bun.sleep(REMOVE_PAUSE_MILLISECONDS);
  }
  await handle.close();
  await rm(file);
}

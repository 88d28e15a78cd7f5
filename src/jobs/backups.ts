// The server's own backups, at intervals and on SIGUSR1, each by `reseller backup` in a separate process with low
// priority, so that a backup takes neither threads nor memory of the server. Old ones are deleted. A failure is logged,
// and the next backup is made at its time all the same.

import { PROGRAM } from "../config/source-files.ts";
import type { Logger } from "../monitoring/log.ts";
import { adoptOlderBackups, listBackups, nextBackup } from "../storage/backup-folder.ts";
import { removeOutdated, removeRemains } from "../storage/backup-removal.ts";
import type { CheckpointMode } from "../storage/checkpoint.ts";
import { claimInstanceId } from "../storage/instance.ts";
import type { BackgroundJob } from "./expiry.ts";

/** Delay after a start when a backup is due: not during the first requests. */
const FIRST_MS = 60_000;

export interface BackupPlan {
  /** Absolute path of the database. */
  path: string;
  data: string;
  folder: string;
  /** Milliseconds; 0: only on SIGUSR1. */
  every: number;
  keep: number;
  /** Who checkpoints the database: where a replicator does, the backup does not. */
  checkpoint: CheckpointMode;
  /** Called with each backup that was made. */
  onMade?: (file: string) => void;
  /** The backup that must not be removed now. */
  inUse?: () => string | null;
}

export interface Backups extends BackgroundJob {
  backUpNow(): void;
}

export function startBackups(plan: BackupPlan, log: Logger): Backups {
  const {
    checkpoint,
    data,
    every,
    folder,
    keep,
    path,
    onMade = () => {},
    inUse = () => null,
  } = plan;
  let stopped = false;
  let child: Bun.Subprocess | null = null;
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let instance: string | null = null;
  const id = () => (instance ??= claimInstanceId(data));
  const warned = new Set<string>();

  const attempt = async <T>(failure: string, work: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      log.error({ folder, error: String(error) }, failure);
      return null;
    }
  };
  /** Returns the file; null when the server is stopping. */
  const make = async (): Promise<string | null> => {
    const file = nextBackup(folder, id(), Date.now());
    if (stopped) return null;
    const flags = ["--data", data, "--checkpoint", checkpoint, "--json"];
    const started = Bun.spawn([...PROGRAM, "backup", file, ...flags], {
      stdout: "pipe",
      stderr: "pipe",
    });
    child = started;
    const printed = await Promise.all([started.stdout.text(), started.stderr.text()]);
    const [result, messages] = printed.map((text) => text.trim()) as [string, string];
    const code = await started.exited;
    if (stopped && code !== 0) return null;
    if (code !== 0) throw new Error(`${file}: ${messages || started.signalCode || `exit ${code}`}`);
    if (messages !== "" && !warned.has(messages)) log.warn({ file, messages }, "backup warns");
    warned.add(messages);
    log.info(JSON.parse(result) as object, "backup made");
    return file;
  };
  const clear = () => attempt("remains of backups not removed", () => removeRemains(folder, id()));
  const run = async (): Promise<void> => {
    await clear();
    const made = await attempt("backup not made", make);
    // The backup's process may have been killed and have left an incomplete file.
    if (made === null) await clear();
    else onMade(made);
    await attempt("old backups not removed", () =>
      removeOutdated(folder, id(), keep, made, inUse()),
    );
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
      schedule(every);
      backUpNow();
    }, milliseconds);
  };
  const start = async (): Promise<void> => {
    const left = await attempt("backups of an earlier version could not be listed", () =>
      adoptOlderBackups(folder, id(), path),
    );
    if (left?.length) {
      log.warn({ files: left }, "backups of another database or unfinished ones: left alone");
    }
    if (every === 0) return;
    const first = await attempt("backups cannot be listed", () => {
      const [newest] = listBackups(folder, id(), Date.now());
      return untilFirst(newest?.begunAt ?? null, every, Date.now());
    });
    if (!stopped) schedule(first ?? Math.min(every, FIRST_MS));
  };
  void start();
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

/** An interval after the newest one; soon when that is past. At most one interval, even if the clock was set back. */
function untilFirst(newest: number | null, every: number, now: number): number {
  const soon = Math.min(every, FIRST_MS);
  if (newest === null) return soon;
  return Math.min(every, Math.max(soon, newest + every - now));
}

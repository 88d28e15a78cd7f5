// Makes the server's own backups, at intervals and on SIGUSR1. Each is made by `reseller backup` in a separate process
// of low priority that rests most of the time (paced-process.ts), so it takes neither threads nor memory of the server.
// Old backups are deleted. A failure is logged, and the next backup is made at its usual time. A backup that fails
// verification is kept.

import { basename, join } from "node:path";
import type { Logger } from "../monitoring/log.ts";
import { listBackups, nextBackup } from "../storage/backup/backup-folder.ts";
import { removeOutdated, removeRemains } from "../storage/backup/backup-removal.ts";
import { type CheckpointMode, WAL_LIMIT_BYTES } from "../storage/file/checkpoint.ts";
import type { Backup } from "../storage/backup/backup.ts";
import { sizeOf } from "../storage/file/files.ts";
import { claimInstanceId } from "../storage/file/instance.ts";
import type { BackgroundJob } from "./housekeeping.ts";
import { type PaceClock, type PacedProcess, startPaced } from "./paced-process.ts";
import { MINUTE_MS } from "../domain/values/spans.ts";

/** Shortest delay of a backup after the start, so that it does not run during the first requests. */
const FIRST_MS = MINUTE_MS;

export interface BackupPlan {
  /** Absolute path of the database. */
  path: string;
  data: string;
  folder: string;
  /** Milliseconds between two backups; 0: only on SIGUSR1. */
  every: number;
  keep: number;
  /** Who checkpoints the database. If a replicator does, the backup does not. */
  checkpoint: CheckpointMode;
  /** The environment of the backup's processes. */
  environment: Record<string, string | undefined>;
  clock?: PaceClock | undefined;
  /** Called with the file of each backup that was made. */
  onMade?: (file: string) => void;
  /** Returns the backup that must not be removed now. */
  inUse?: () => string | null;
}

export interface Backups extends BackgroundJob {
  backUpNow(): void;
  status(): BackupStatus;
  /**
   * Starts to verify a backup that `status` lists; false if the name is unknown or another backup is being verified.
   */
  verify(name: string): boolean;
  /** Returns whether the last attempt since the start failed. */
  hasFailed(): boolean;
}

export interface BackupStatus {
  folder: string;
  /** Whether a backup is being made. */
  isRunning: boolean;
  /** Newest first. */
  backups: { name: string; begunAt: number; bytes: number; verified: Verified | null }[];
}

const UNVERIFIED = "failed verification when it was made";

/**
 * Result of verifying a backup since the server started. Until it is verified again, a backup that failed verification
 * when it was made keeps that result.
 */
export interface Verified {
  at: number;
  /** Null while it is being verified. */
  ok: boolean | null;
  detail: string;
}

export function startBackups(plan: BackupPlan, log: Logger): Backups {
  const {
    checkpoint,
    clock,
    data,
    environment,
    every,
    folder,
    keep,
    path,
    onMade = () => {},
    inUse = () => null,
  } = plan;
  let stopped = false;
  let child: PacedProcess | null = null;
  let running: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let instance: string | null = null;
  let failed = false;
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
  /** Returns the file, or null if the server is stopping. */
  const make = async (): Promise<string | null> => {
    const file = nextBackup(folder, id(), Date.now());
    if (stopped) return null;
    const flags = ["--data", data, "--checkpoint", checkpoint, "--json"];
    // The write-ahead log is not reset during the copy: the longer the copy takes, the longer the log.
    const wal = `${path}-wal`;
    const limit = sizeOf(wal) + WAL_LIMIT_BYTES;
    const mayRest = () => sizeOf(wal) < limit;
    child = startPaced(["backup", file, ...flags], { file: path, environment, mayRest, clock });
    const { code, signal, result, messages } = await child.ended;
    if (stopped && code !== 0) return null;
    // `systemctl kill` without --kill-whom=main sends the server's signal to this process too, and that ends it.
    if (signal === "SIGUSR1") {
      await clear();
      return make();
    }
    // A process that failed but printed a result has made a backup, which failed verification.
    if (code !== 0 && result === "") throw new Error(`${file}: ${messages}`);
    const made = JSON.parse(result) as Pick<Backup, "file" | "verified">;
    if (!made.verified) {
      log.error(made, "backup made, but it failed verification");
      return made.file;
    }
    if (messages !== "" && !warned.has(messages)) log.warn({ file, messages }, "backup warning");
    warned.add(messages);
    log.info(made, "backup made");
    return made.file;
  };
  const clear = () =>
    attempt("leftovers of backups not removed", () => removeRemains(folder, id()));
  const run = async (): Promise<void> => {
    await clear();
    let hasThrown = true;
    const made = await attempt("backup not made", async () => {
      const file = await make();
      hasThrown = false;
      return file;
    });
    failed = hasThrown;
    // The backup's process may have been killed and have left an incomplete file.
    if (made === null) await clear();
    else onMade(made);
    await attempt("old backups not removed", () =>
      removeOutdated(folder, id(), keep, made, inUse()),
    );
  };
  const verified = new Map<string, Verified>();
  let verifier: PacedProcess | null = null;
  const verify = async (name: string): Promise<void> => {
    verified.set(name, { at: Date.now(), ok: null, detail: "is being verified" });
    const file = join(folder, name);
    verifier = startPaced(["verify", "--file", file, "--data", data, "--json"], {
      file,
      environment,
      clock,
    });
    const { code, messages } = await verifier.ended;
    verifier = null;
    const ok = code === 0;
    const message = messages.replace(/^error: /, "");
    if (stopped) return;
    verified.set(name, { at: Date.now(), ok, detail: ok ? "adds up" : message });
    if (ok) log.info({ folder, name }, "backup verified");
    else log.error({ folder, name, error: message }, "backup failed verification");
  };
  const status = (): BackupStatus => ({
    folder,
    isRunning: running !== null,
    backups: listBackups(folder, id(), Date.now()).map(({ file, begunAt, isVerified }) => {
      const name = basename(file);
      const asMade = isVerified ? null : { at: begunAt, ok: false, detail: UNVERIFIED };
      return { name, begunAt, bytes: sizeOf(file), verified: verified.get(name) ?? asMade };
    }),
  });
  const backUpNow = () => {
    if (stopped) return;
    if (running) {
      log.warn({ folder }, "a backup is already in progress");
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
    status,
    hasFailed: () => failed,
    verify(name) {
      const isKnown = status().backups.some((each) => each.name === name);
      if (stopped || !isKnown || verifier !== null) return false;
      void attempt("backup not verified", () => verify(name));
      return true;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      child?.kill();
      verifier?.kill();
      await running;
    },
  };
}

/**
 * Returns the delay until the next backup: one interval after the newest, or soon if that time is past. Never more
 * than one interval, even if the clock was set back.
 */
function untilFirst(newest: number | null, every: number, now: number): number {
  const soon = Math.min(every, FIRST_MS);
  if (newest === null) return soon;
  return Math.min(every, Math.max(soon, newest + every - now));
}

// `doctor` for a data directory: checks everything that a server on this machine needs. Each finding says what to do:
// docs/specification/storage.md#doctor

import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { errorCode } from "../../domain/values/error-table.ts";
import { basename, dirname, join, resolve } from "node:path";
import { type CheckpointMode, WAL_LIMIT_BYTES } from "../file/checkpoint.ts";
import { type DatabaseFacts, factsOf } from "./database-facts.ts";
import { conditionsOf } from "../../domain/alerts/conditions.ts";
import { MACHINE_RULES } from "../../domain/alerts/machine-conditions.ts";
import { type Finding, finding, judged, rowFindings } from "./findings.ts";
import { freeBytesIn, mebibytes, sizeOf } from "../file/files.ts";
import { fileSystemUnder, isMemoryFileSystem, isNetworkFileSystem } from "../file/file-systems.ts";
import { databasePath, sqliteVersion } from "../file/open.ts";
import { type NewestBackups, newestBackups } from "../backup/backup-folder.ts";
import { OpenError } from "../file/open-error.ts";
import { whyMoveBegun } from "../move/unfinished-move.ts";
import { HOUR_MS } from "../../domain/values/spans.ts";

/** Limit for the median time of an fsync. A slower one delays every order that shares no batch with others. */
const SYNC_WARN_MS = 10;
const SYNC_TRIES = 9;

export interface DoctorInput {
  data: string;
  backupFolder: string;
  now: number;
  /** The mode in which `serve` runs. */
  checkpoint: CheckpointMode;
}

export function runDoctor({ data, backupFolder, now, checkpoint }: DoctorInput): Finding[] {
  const directory = resolve(data);
  const path = databasePath(directory);
  const findings = [finding("SQLite", "ok", sqliteVersion())];
  const denied = accessError(directory);
  const isFound = existsSync(directory);
  // The directory may exist inside a folder that this user may not enter.
  if (!isFound && denied === "EACCES") return [...findings, unreadable(directory, denied)];
  if (!isFound) {
    findings.push(
      finding(
        "data directory",
        "warn",
        `${directory} does not exist`,
        "`reseller serve` creates it",
      ),
    );
    return findings;
  }
  if (!statSync(directory).isDirectory()) {
    const advice = "choose a folder with --data";
    findings.push(finding("data directory", "fail", `${directory} is not a folder`, advice));
    return findings;
  }
  if (denied !== undefined) {
    return [...findings, ownership(directory), unreadable(directory, denied)];
  }
  findings.push(ownership(directory), fileSystem(directory), room(directory), syncTime(directory));
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file || (file.isFile() && file.size === 0)) {
    const found = file ? `${path} is empty` : `${path} does not exist`;
    const begun = whyMoveBegun(path);
    findings.push(
      begun === null
        ? finding("database", "warn", found, "`reseller serve` creates it")
        : finding("database", "fail", begun),
    );
    return findings;
  }
  findings.push(
    permissions(path),
    walLength(path),
    ...databaseFindings(path, now, checkpoint),
    backupAge(directory, backupFolder, now),
  );
  return findings;
}

/** Returns the error code, or undefined if the directory can be read. */
function accessError(directory: string): string | undefined {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
}

function unreadable(directory: string, code: string): Finding {
  const advice = "run this as the service's user, for example with `sudo -u reseller`";
  return finding("data directory", "fail", `${directory} cannot be read (${code})`, advice);
}

function ownership(directory: string): Finding {
  const { mode, uid } = statSync(directory);
  const user = process.getuid?.() ?? uid;
  const open = (mode & 0o077) !== 0;
  const found = `${directory} belongs to user ${uid}, mode ${(mode & 0o777).toString(8)}`;
  if (user !== 0 && user !== uid) {
    return finding(
      "owner",
      "fail",
      found,
      `run this as user ${uid}, or give the folder to user ${user}`,
    );
  }
  if (open) {
    const advice = `other users can read it: chmod 700 ${directory}, or choose a separate folder with --data`;
    return finding("owner", "warn", found, advice);
  }
  return finding("owner", "ok", found);
}

function permissions(path: string): Finding {
  const { mode, uid } = statSync(path);
  const found = `${path} mode ${(mode & 0o777).toString(8)}`;
  const owner = statSync(dirname(path)).uid;
  if (uid !== owner) {
    const advice = `its owner is user ${uid}, but the owner of its folder is user ${owner}: chown ${owner} ${path}`;
    return finding("permissions", "fail", found, advice);
  }
  if ((mode & 0o077) === 0) return finding("permissions", "ok", found);
  return finding("permissions", "warn", found, `other users can read it: chmod 600 ${path}`);
}

function fileSystem(directory: string): Finding {
  const type = fileSystemUnder(directory) ?? "unknown";
  if (isMemoryFileSystem(type)) {
    const advice = "everything in it is lost on reboot: put --data on a disk";
    return finding("file system", "warn", type, advice);
  }
  if (!isNetworkFileSystem(type)) return finding("file system", "ok", type);
  return finding(
    "file system",
    "fail",
    type,
    "SQLite loses data there: put --data on a local disk",
  );
}

function room(directory: string): Finding {
  const freeBytes = freeBytesIn(directory);
  const measured = `${mebibytes(freeBytes)} MiB free, the database takes ${mebibytes(sizeOf(databasePath(directory)))} MiB`;
  return judged("room", measured, conditionsOf(MACHINE_RULES, { freeBytes }, 0));
}

/** Measures an fsync. An order that shares no batch with others waits for one. */
function syncTime(directory: string): Finding {
  const probe = join(directory, "doctor.probe");
  try {
    const descriptor = openSync(probe, "w", 0o600);
    const times = Array.from({ length: SYNC_TRIES }, () => {
      const started = performance.now();
      writeSync(descriptor, Buffer.alloc(4096), 0, 4096, 0);
      fsyncSync(descriptor);
      return performance.now() - started;
    }).sort((a, b) => a - b);
    closeSync(descriptor);
    const median = times[times.length >> 1]!;
    const found = `${median.toFixed(1)} ms (median of ${SYNC_TRIES})`;
    if (median <= SYNC_WARN_MS) return finding("sync", "ok", found);
    return finding(
      "sync",
      "warn",
      found,
      "a slow disk: an order that is not in a batch with others waits this long",
    );
  } catch (error) {
    const advice = `${directory} cannot be written: check its owner, permissions and room`;
    return finding("sync", "fail", String(error), advice);
  } finally {
    // If writing was not allowed, the file does not exist, and removing it would fail too.
    if (existsSync(probe)) rmSync(probe);
  }
}

function walLength(path: string): Finding {
  const bytes = sizeOf(`${path}-wal`);
  const found = `${mebibytes(bytes)} MiB`;
  if (bytes <= WAL_LIMIT_BYTES) return finding("write-ahead log", "ok", found);
  const advice =
    "a long-running reader, or a stopped Litestream with --checkpoint external: find and fix it";
  return finding("write-ahead log", "warn", found, advice);
}

/** Returns the finding about Litestream; none without it. */
function replication(facts: DatabaseFacts, checkpoint: CheckpointMode): Finding[] {
  if (!facts.hasLitestream) return [];
  if (checkpoint === "external") return [finding("Litestream", "ok", "--checkpoint external")];
  const found = "this database has Litestream tables";
  const advice =
    "with Litestream, run `serve` with --checkpoint external, or replicas may fail to restore";
  return [finding("Litestream", "warn", found, advice)];
}

function databaseFindings(path: string, now: number, checkpoint: CheckpointMode): Finding[] {
  let facts: DatabaseFacts;
  try {
    facts = factsOf(path);
  } catch (error) {
    // The message already says what to do.
    if (error instanceof OpenError) return [finding("database", "fail", error.message)];
    const found = error instanceof Error ? error.message : String(error);
    return [finding("database", "fail", found, "see `reseller restore --help`")];
  }
  return [
    schema(facts),
    integrity(facts),
    ...replication(facts, checkpoint),
    ...rowFindings(facts, now),
  ];
}

function schema({ pendingMigrations: pending, schemaDifferences }: DatabaseFacts): Finding {
  if (schemaDifferences !== "") {
    const advice = "restore a backup or ask for help before taking orders";
    return finding("schema", "fail", schemaDifferences, advice);
  }
  if (pending === 0) return finding("schema", "ok", "this version's");
  const advice = "run this version's `reseller serve` once: it upgrades and keeps a copy";
  return finding("schema", "warn", `${pending} migrations behind`, advice);
}

function integrity({ integrity: found }: DatabaseFacts): Finding {
  if (found === "ok") return finding("integrity", "ok", "every page is intact");
  return finding(
    "integrity",
    "fail",
    found,
    "stop the server and `reseller restore` the last backup",
  );
}

function backupAge(data: string, folder: string, now: number): Finding {
  let found: NewestBackups;
  try {
    found = newestBackups(data, folder, now);
  } catch (error) {
    const advice = `${folder} cannot be read: check its owner and permissions`;
    return finding("last backup", "fail", String(error), advice);
  }
  const { newest, verified } = found;
  const conditions = conditionsOf(
    MACHINE_RULES,
    { newestBackupAt: newest?.begunAt ?? null, isBackupVerified: newest?.isVerified },
    now,
  );
  if (newest === null)
    return judged("last backup", `no backup of this service in ${folder}`, conditions);
  const hours = Math.round((now - newest.begunAt) / HOUR_MS);
  const last =
    verified === null ? "no verified backup" : `newest verified one: ${basename(verified.file)}`;
  const state = newest.isVerified ? "" : `, not verified; ${last}`;
  return judged("last backup", `${basename(newest.file)}, ${hours} h old${state}`, conditions);
}

// `doctor`: checks everything that a service on this machine needs. Each finding says what to do. docs/specification.md#doctor.

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
import { errorCode } from "../domain/refusals.ts";
import { basename, dirname, join, resolve } from "node:path";
import { type CheckpointMode, WAL_LIMIT_BYTES } from "./checkpoint.ts";
import { type DatabaseFacts, factsOf } from "./database-facts.ts";
import {
  clock,
  type Finding,
  finding,
  polling,
  unknown,
  unrecognized,
  webhooks,
} from "./findings.ts";
import { freeBytesIn, mebibytes, sizeOf } from "./files.ts";
import { fileSystemUnder, isMemoryFileSystem, isNetworkFileSystem } from "./file-systems.ts";
import { databasePath, sqliteVersion } from "./open.ts";
import { type BackupFile, newestBackup } from "./backup-folder.ts";

/** Free disk space below which orders will soon fail, and below which the operator should make room. */
const ROOM_FAIL_BYTES = 64 * 1024 * 1024;
const ROOM_WARN_BYTES = 1024 * 1024 * 1024;
/** An fsync that takes longer (median) slows down every order that is sent alone. */
const SYNC_WARN_MS = 10;
const SYNC_TRIES = 9;
const BACKUP_WARN_MS = 2 * 24 * 3_600_000;

export interface DoctorInput {
  data: string;
  backupFolder: string;
  now: number;
  /** As `serve` is run. */
  checkpoint: CheckpointMode;
}

export function runDoctor({ data, backupFolder, now, checkpoint }: DoctorInput): Finding[] {
  const directory = resolve(data);
  const path = databasePath(directory);
  const findings = [finding("SQLite", "ok", sqliteVersion())];
  const denied = accessError(directory);
  const isFound = existsSync(directory);
  // A folder above it that this user may not enter hides it.
  if (!isFound && denied === "EACCES") return [...findings, unreadable(directory, denied)];
  if (!isFound) {
    findings.push(
      finding("data directory", "warn", `${directory} is not there`, "`reseller serve` creates it"),
    );
    return findings;
  }
  if (!statSync(directory).isDirectory()) {
    const advice = "name a folder with --data";
    findings.push(finding("data directory", "fail", `${directory} is not a folder`, advice));
    return findings;
  }
  if (denied !== undefined) {
    return [...findings, ownership(directory), unreadable(directory, denied)];
  }
  findings.push(ownership(directory), fileSystem(directory), room(directory), syncTime(directory));
  if (!existsSync(path)) {
    findings.push(
      finding("database", "warn", `${path} is not there`, "`reseller serve` creates it"),
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

/** Undefined where it can be read. */
function accessError(directory: string): string | undefined {
  try {
    accessSync(directory, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return errorCode(error);
  }
}

function unreadable(directory: string, code: string): Finding {
  const advice = "run this as the user of the service, such as with `sudo -u reseller`";
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
    const advice = `others can look in: chmod 700 ${directory}, or name a folder of its own with --data`;
    return finding("owner", "warn", found, advice);
  }
  return finding("owner", "ok", found);
}

function permissions(path: string): Finding {
  const { mode, uid } = statSync(path);
  const found = `${path} mode ${(mode & 0o777).toString(8)}`;
  const owner = statSync(dirname(path)).uid;
  if (uid !== owner) {
    const advice = `it belongs to user ${uid}, its folder to user ${owner}: chown ${owner} ${path}`;
    return finding("permissions", "fail", found, advice);
  }
  if ((mode & 0o077) === 0) return finding("permissions", "ok", found);
  return finding("permissions", "warn", found, `others can read it: chmod 600 ${path}`);
}

function fileSystem(directory: string): Finding {
  const type = fileSystemUnder(directory) ?? "unknown";
  if (isMemoryFileSystem(type)) {
    const advice = "everything in it is lost at a reboot: put --data on a disk";
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
  const free = freeBytesIn(directory);
  const found = `${mebibytes(free)} MiB free, the database has ${mebibytes(sizeOf(databasePath(directory)))}`;
  if (free < ROOM_FAIL_BYTES)
    return finding("room", "fail", found, "make room: soon no order can be written");
  if (free < ROOM_WARN_BYTES) return finding("room", "warn", found, "make room, or move --data");
  return finding("room", "ok", found);
}

/** The time of an fsync, which every order that is sent alone waits for. */
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
    return finding("sync", "warn", found, "a slow disk: orders sent one by one take as long each");
  } catch (error) {
    const advice = `${directory} cannot be written: check its owner, permissions and room`;
    return finding("sync", "fail", String(error), advice);
  } finally {
    // Where nothing may be written it is not there, and removing it fails all the same.
    if (existsSync(probe)) rmSync(probe);
  }
}

function walLength(path: string): Finding {
  const bytes = sizeOf(`${path}-wal`);
  const found = `${mebibytes(bytes)} MiB`;
  if (bytes <= WAL_LIMIT_BYTES) return finding("write-ahead log", "ok", found);
  const advice =
    "a long reader, or with --checkpoint external a Litestream that does not run: look for it";
  return finding("write-ahead log", "warn", found, advice);
}

/** Nothing without Litestream. */
function replication(facts: DatabaseFacts, checkpoint: CheckpointMode): Finding[] {
  if (!facts.hasLitestream) return [];
  if (checkpoint === "external") return [finding("Litestream", "ok", "--checkpoint external")];
  const found = "it replicates this database or did";
  const advice = "beside it run `serve` with --checkpoint external, or a replica may not restore";
  return [finding("Litestream", "warn", found, advice)];
}

function databaseFindings(path: string, now: number, checkpoint: CheckpointMode): Finding[] {
  let facts: DatabaseFacts;
  try {
    facts = factsOf(path);
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return [finding("database", "fail", found, "see `reseller restore --help`")];
  }
  return [
    schema(facts),
    integrity(facts),
    clock(facts, now),
    unknown(facts),
    unrecognized(facts),
    polling(facts, now),
    ...replication(facts, checkpoint),
    webhooks(facts),
  ];
}

function schema({ pendingMigrations: pending, schemaDifferences }: DatabaseFacts): Finding {
  if (schemaDifferences !== "") {
    const advice = "restore a backup or ask for help before taking orders";
    return finding("schema", "fail", schemaDifferences, advice);
  }
  if (pending === 0) return finding("schema", "ok", "this version's");
  const advice = "start `reseller serve` of this version once: it upgrades and keeps a copy";
  return finding("schema", "warn", `${pending} migrations behind`, advice);
}

function integrity({ integrity: found }: DatabaseFacts): Finding {
  if (found === "ok") return finding("integrity", "ok", "every page is in order");
  return finding(
    "integrity",
    "fail",
    found,
    "stop the server and `reseller restore` the last backup",
  );
}

function backupAge(data: string, folder: string, now: number): Finding {
  let newest: BackupFile | null;
  try {
    newest = newestBackup(data, folder, now);
  } catch (error) {
    const advice = `${folder} cannot be read: check its owner and permissions`;
    return finding("last backup", "fail", String(error), advice);
  }
  if (newest === null) {
    const advice = "`reseller backup FILE`, or let `serve` make them (--backup-every)";
    return finding("last backup", "warn", `none of this service in ${folder}`, advice);
  }
  const age = now - newest.begunAt;
  const found = `${basename(newest.file)}, ${Math.round(age / 3_600_000)} h old`;
  if (age <= BACKUP_WARN_MS) return finding("last backup", "ok", found);
  return finding("last backup", "warn", found, "see the server's log for `backup not made`");
}

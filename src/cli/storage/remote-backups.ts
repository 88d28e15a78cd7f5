// `backup send|list|check|fetch`: copies of backups in an S3-compatible store. docs/specification/storage.md#offsite

import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { backupFolder, settingOption } from "../../config/flags.ts";
import type { Config } from "../../config/settings.ts";
import { counted } from "../../domain/values/text.ts";
import { checkBackup, type Checked } from "../../offsite/check.ts";
import { chooseCopy, isEncrypted, listCopies, type RemoteCopy } from "../../offsite/copies.ts";
import { downloadCopy } from "../../offsite/download.ts";
import type { Store } from "../../offsite/store.ts";
import { type Upload, uploadBackup } from "../../offsite/upload.ts";
import { BackupError } from "../../storage/backup/backup-error.ts";
import { openStaging, publishCopy } from "../../storage/backup/copy.ts";
import { newestBackups } from "../../storage/backup/backup-folder.ts";
import { lowerPriority } from "../../storage/backup/backup.ts";
import { mebibytes, sizeOf } from "../../storage/file/files.ts";
import { readInstanceId } from "../../storage/file/instance.ts";
import { databasePath } from "../../storage/file/open.ts";
import { asFailure, CommandFailure, declare } from "../kernel/command.ts";
import { databaseOf, refusePostgres } from "../kernel/database-name.ts";
import { addWindow, inWindow, type WindowOptions } from "../output/list-pages.ts";
import { isoTime, print } from "../output/output.ts";
import {
  addRemoteOptions, identityOption, openRemote, readIdentities, type RemoteOptions, startTransfer,
} from "./remote.ts"; // prettier-ignore
import { table } from "../output/text-table.ts";

type SendOptions = RemoteOptions &
  Pick<Config, "backupDir" | "backupKeepRemote" | "backupRecipient">;

export function declareRemoteBackups(backup: Command): void {
  const send = declare(
    backup,
    "send [file]",
    "copy a backup made by the server (default: the newest) to the S3 folder",
    "reseller backup send --backup-to s3://backups/reseller",
  );
  addRemoteOptions(send)
    .addOption(settingOption("backup-dir"))
    .addOption(settingOption("backup-keep-remote"))
    .addOption(settingOption("backup-recipient"))
    .action((file: string | undefined, options: SendOptions) =>
      runRemoteCommand(options, () => sendOne(file, options)),
    );

  const list = declare(
    backup,
    "list",
    "list the copies in the S3 folder, newest first",
    "reseller backup list --backup-to s3://backups/reseller",
  );
  addWindow(addRemoteOptions(list)).action((options: RemoteOptions & WindowOptions) =>
    runRemoteCommand(options, () => listAll(options)),
  );

  const check = declare(
    backup,
    "check [name]",
    "download a copy (default: the newest), verify it and print what it contains",
    "reseller backup check --backup-to s3://backups/reseller",
  );
  addRemoteOptions(check)
    .addOption(identityOption())
    .action((name: string | undefined, options: RemoteOptions) =>
      runRemoteCommand(options, () => checkOne(name ?? null, options)),
    );

  const fetch = declare(
    backup,
    "fetch <file> [name]",
    "download a copy (default: the newest) to a new file and compare checksums",
    "reseller backup fetch /tmp/copy.db --backup-to s3://backups/reseller",
  );
  addRemoteOptions(fetch)
    .addOption(identityOption())
    .action((file: string, name: string | undefined, options: RemoteOptions) =>
      runRemoteCommand(options, () => fetchOne(resolve(file), name ?? null, options)),
    );
}

/**
 * Runs `work` and turns failures into sentences. Ignores SIGUSR1, which makes the server start a backup:
 * `systemctl kill` sends it to this process too.
 */
async function runRemoteCommand(options: RemoteOptions, work: () => Promise<void>): Promise<void> {
  process.on("SIGUSR1", () => {});
  refusePostgres(
    options,
    "off-site copies work only for SQLite: back up PostgreSQL with its own tools",
  );
  try {
    await work();
  } catch (error) {
    throw asFailure(error, { ...databaseOf(options), shown: "the backup" });
  }
}

async function sendOne(given: string | undefined, options: SendOptions): Promise<void> {
  const onWarning = (warning: string) => void process.stderr.write(`warning: ${warning}\n`);
  const now = Date.now();
  const store = openRemote(options);
  const folder = backupFolder(options);
  const file = given ?? newestBackups(options.data, folder, now).newest?.file;
  if (file === undefined) throw new CommandFailure(`no backup made by the server in ${folder}`);
  if (!existsSync(file)) throw new CommandFailure(`${file} not found: choose a backup`);
  lowerPriority(onWarning);
  const all = sizeOf(file);
  const progress = startTransfer("uploaded");
  let upload: Upload;
  try {
    upload = await uploadBackup(store, resolve(file), {
      recipient: options.backupRecipient,
      keep: options.backupKeepRemote,
      now,
      onProgress: (bytes) => progress.update(bytes, all),
      onWarning,
    });
  } finally {
    progress.end();
  }
  print(options.json, { file, ...upload }, ({ uploaded, url, bytes, removed }) =>
    uploaded
      ? `${url}: ${mebibytes(bytes)} MiB, read back and compared; ${removed} old copies removed`
      : `${url} already exists: nothing was sent`,
  );
  if (upload.uploaded && !upload.verified) {
    onWarning(
      `${upload.url} is a copy of a backup that failed verification: see \`reseller verify\``,
    );
  }
}

async function listAll(options: RemoteOptions & WindowOptions): Promise<void> {
  const store = openRemote(options);
  const { copies, incomplete } = await listCopies(store, Date.now());
  const rows = inWindow(options, copies, ({ begunAt }) => begunAt).map((copy) => ({
    name: copy.name,
    begunAt: new Date(copy.begunAt).toISOString(),
    installation: copy.instance,
    bytes: copy.bytes,
    encrypted: isEncrypted(copy),
    verified: copy.isVerified,
  }));
  const result = {
    folder: store.url(""),
    copies: rows,
    incomplete: incomplete.map(({ name }) => name),
  };
  print(options.json, result, () =>
    table(
      rows.map(({ name, bytes, encrypted, verified }) => ({
        name,
        MiB: mebibytes(bytes),
        encrypted,
        verified,
      })),
      `no copy in ${store.url("")}`,
    ),
  );
}

async function checkOne(name: string | null, options: RemoteOptions): Promise<void> {
  const store = openRemote(options);
  const copy = await choose(store, name, options);
  const folder = mkdtempSync(join(tmpdir(), "reseller-check-"));
  try {
    await download(store, copy, databasePath(folder), options);
    const found = await checkBackup(folder, Date.now());
    const ok = found.problemCount === 0;
    const url = store.url(copy.object);
    const { lastOrderAt, ...verification } = found;
    const at = isoTime(lastOrderAt);
    print(options.json, { ok, url, ...verification, lastOrderAt: at }, () =>
      report(url, found, at),
    );
    if (!ok) {
      throw new CommandFailure(`${url} does not add up: ${counted(found.problemCount, "problem")}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(
  url: string,
  { users, orders, transfers, problems }: Checked,
  at: string | null,
): string {
  const held = `${url}: ${counted(users, "user")}, ${counted(orders, "order")}${at === null ? "" : ` (the last one at ${at})`}, ${counted(transfers, "transfer")}`;
  if (problems.length === 0) return `${held}: all checksums and balances are correct`;
  return `${held}\n\n${table(
    problems.map((problem) => ({ ...problem })),
    "",
  )}`;
}

async function fetchOne(
  target: string,
  name: string | null,
  options: RemoteOptions,
): Promise<void> {
  if (existsSync(target))
    throw new CommandFailure(`${target} already exists and was not overwritten`);
  const store = openRemote(options);
  const copy = await choose(store, name, options);
  const staging = openStaging(target);
  if (!staging)
    throw new CommandFailure(`another process is writing ${target}: wait for it to finish`);
  try {
    rmSync(staging.copy, { force: true });
    await download(store, copy, staging.copy, options);
    publishCopy(staging.copy, target);
  } finally {
    staging.end();
  }
  const result = { file: target, url: store.url(copy.object), bytes: sizeOf(target) };
  print(
    options.json,
    result,
    ({ file, url, bytes }) => `${file}: ${mebibytes(bytes)} MiB of ${url}`,
  );
}

/**
 * Fetches a copy for `restore` into the data directory, which is created if it is missing. Calls `use` with the copy's
 * path and address.
 */
export async function withFetched<T>(
  store: Store,
  name: string | null,
  options: RemoteOptions,
  use: (file: string, url: string) => Promise<T>,
): Promise<T> {
  const { copies } = await listCopies(store, Date.now());
  // Considers copies of every installation, because a new data directory has no copies of its own.
  const copy = chooseCopy(store, copies, name, null);
  const folder = join(resolve(options.data), "backups");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const staging = openStaging(join(folder, "fetched.db"));
  if (!staging) throw new BackupError(`another process is restoring into ${options.data}`);
  try {
    rmSync(staging.copy, { force: true });
    await download(store, copy, staging.copy, options);
    return await use(staging.copy, store.url(copy.object));
  } finally {
    staging.end();
  }
}

async function choose(
  store: Store,
  name: string | null,
  options: RemoteOptions,
): Promise<RemoteCopy> {
  const { copies } = await listCopies(store, Date.now());
  const instance = existsSync(options.data) ? readInstanceId(options.data) : null;
  return chooseCopy(store, copies, name, instance);
}

async function download(
  store: Store,
  copy: RemoteCopy,
  target: string,
  options: RemoteOptions,
): Promise<void> {
  const identities = readIdentities(options);
  const progress = startTransfer("downloaded");
  try {
    await downloadCopy(store, copy, target, { identities, onProgress: progress.update });
  } finally {
    progress.end();
  }
}

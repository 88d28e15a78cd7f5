// Copies a backup off-site: verified, compressed, encrypted if there is a recipient, uploaded in parts, read back and
// compared, and only then given its manifest. Nothing is written to the local disk, whose syncs orders wait for.
// docs/decisions/0033-off-site-copies-are-read-back.md

import { basename } from "node:path";
import { BackupError, verifyBackup } from "../storage/backup.ts";
import { parseBackupName } from "../storage/backup-names.ts";
import { sizeOf } from "../storage/files.ts";
import {
  DamagedManifest,
  listCopies,
  type Manifest,
  manifestName,
  objectName,
  readManifest,
  type RemoteCopy,
  type RemoteFolderContent,
} from "./copies.ts";
import { encrypt } from "./encryption.ts";
import type { Store } from "./store.ts";
import { compress, createMeter, type Digest, metered } from "./streams.ts";

/** An incomplete upload that is older is not that of a process that is still running. */
const INCOMPLETE_MS = 24 * 3_600_000;

export interface UploadOptions {
  /** Null: not encrypted. */
  recipient: string | null;
  /** Copies of the installation that are kept. */
  keep: number;
  now: number;
  /** Bytes of the backup that were read. */
  onProgress: (bytes: number) => void;
  onWarning: (warning: string) => void;
}

export interface Upload {
  /** False: it was there already. */
  uploaded: boolean;
  /** The address of its object. */
  url: string;
  bytes: number;
  databaseBytes: number;
  /** Old copies. */
  removed: number;
}

/** `file`: a backup that the server made. Throws BackupError; what was uploaded by then is no copy. */
export async function uploadBackup(
  store: Store,
  file: string,
  options: UploadOptions,
): Promise<Upload> {
  const name = basename(file);
  const parsed = parseBackupName(name);
  if (!parsed) throw new BackupError(`${file} has not the name of a backup of the server`);
  const databaseBytes = sizeOf(file);
  const before = await listCopies(store, options.now);
  const present = before.copies.find((copy) => copy.name === name);
  if (present && (await isWhole(store, present, databaseBytes))) {
    return {
      uploaded: false,
      url: store.url(present.object),
      bytes: present.bytes,
      databaseBytes,
      removed: 0,
    };
  }
  await verifyBackup(file);
  const object = objectName(name, options.recipient !== null);
  const manifest = await uploadObject(store, file, object, options);
  await compareObject(store, manifest.object);
  await storeManifest(store, manifest);
  const own = await listCopies(store, options.now);
  const removed = await removeOutdated(store, ofInstance(own, parsed.instance), name, options);
  const { bytes } = manifest.object;
  return { uploaded: true, url: store.url(object), bytes, databaseBytes, removed };
}

/** By its manifest and its size: a store that shows a part of what is uploaded may have kept a part of either. */
async function isWhole(store: Store, copy: RemoteCopy, databaseBytes: number): Promise<boolean> {
  try {
    const { object, database } = await readManifest(store, copy.object);
    return object.bytes === copy.bytes && database.bytes === databaseBytes;
  } catch (error) {
    if (error instanceof DamagedManifest) return false;
    throw error;
  }
}

async function uploadObject(
  store: Store,
  file: string,
  object: string,
  { recipient, onProgress }: UploadOptions,
): Promise<Manifest> {
  const before = sizeOf(file);
  const read = createMeter(onProgress);
  const sent = createMeter();
  const compressed = compress(Bun.file(file).stream().pipeThrough(metered(read)));
  const content = recipient === null ? compressed : await encrypt(compressed, recipient);
  await store.putStream(object, content.pipeThrough(metered(sent)), before);
  const database = read.digest();
  // Removing an old backup truncates it first.
  if (database.bytes !== before || sizeOf(file) !== before) {
    throw new BackupError(`${file} was changed or removed while it was copied`);
  }
  return {
    format: 1,
    object: { name: object, ...sent.digest() },
    database: { name: basename(file), ...database },
  };
}

async function compareObject(store: Store, expected: Manifest["object"]): Promise<void> {
  const meter = createMeter();
  for await (const chunk of store.getStream(expected.name)) meter.add(chunk);
  const found: Digest = meter.digest();
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  throw new BackupError(
    `${store.url(expected.name)} is not what was uploaded (${found.bytes} bytes of ${expected.bytes}, SHA-256 ${found.sha256}, not ${expected.sha256})`,
  );
}

async function storeManifest(store: Store, manifest: Manifest): Promise<void> {
  const name = manifestName(manifest.object.name);
  const text = `${JSON.stringify(manifest)}\n`;
  await store.putText(name, text);
  if ((await store.getText(name)) === text) return;
  // With a wrong manifest it would be taken for a copy.
  await store.remove(name);
  throw new BackupError(`${store.url(name)} is not what was uploaded`);
}

interface OwnCopies {
  copies: RemoteCopy[];
  incomplete: RemoteFolderContent["incomplete"];
}

/** Several installations may share a folder: each removes its own copies alone. */
function ofInstance({ copies, incomplete }: RemoteFolderContent, instance: string): OwnCopies {
  return {
    copies: copies.filter((copy) => copy.instance === instance),
    incomplete: incomplete.filter((object) => object.instance === instance),
  };
}

/** Returns how many copies were removed. A key that may not remove objects is no failure of the upload. */
async function removeOutdated(
  store: Store,
  own: OwnCopies,
  uploaded: string,
  { keep, now, onWarning }: UploadOptions,
): Promise<number> {
  const others = own.copies.filter(({ name }) => name !== uploaded);
  const outdated = others.slice(keep - 1);
  const left = own.incomplete.filter(({ storedAt }) => storedAt < now - INCOMPLETE_MS);
  try {
    for (const { object } of outdated) {
      // The manifest first: what is left of a removal that is cut off is no copy.
      await store.remove(manifestName(object));
      await store.remove(object);
    }
    for (const { name } of left) await store.remove(name);
    return outdated.length;
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    onWarning(`old copies were not removed: ${error.message}`);
    return 0;
  }
}

// Copies a backup off-site: verifies it (a backup with problems gets a name that says so), compresses it, encrypts it
// if there is a recipient, and uploads it in parts. Reads the object back and compares it before storing its manifest.
// Writes nothing to the local disk, because orders wait for the disk's syncs.
// docs/decisions/0011-backups-in-a-process-of-their-own.md

import { basename } from "node:path";
import { BackupError } from "../storage/backup/backup-error.ts";
import { checkBackup } from "../storage/backup/copy.ts";
import { outdated } from "../storage/backup/backup-folder.ts";
import { parseBackupName, unverifiedName } from "../storage/backup/backup-names.ts";
import { sizeOf } from "../storage/file/files.ts";
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
import { DAY_MS } from "../domain/values/spans.ts";

/** Age above which an incomplete upload cannot belong to a process that is still running. */
const INCOMPLETE_MS = DAY_MS;

export interface UploadOptions {
  /** Null for no encryption. */
  recipient: string | null;
  /** Number of the installation's copies to keep. */
  keep: number;
  now: number;
  /** Called with the bytes of the backup that were read so far. */
  onProgress: (bytes: number) => void;
  onWarning: (warning: string) => void;
}

export interface Upload {
  /** False if the copy was there already. */
  uploaded: boolean;
  /** False if `verify` finds problems in the backup; the name of the copy then says so. */
  verified: boolean;
  /** The address of its object. */
  url: string;
  bytes: number;
  databaseBytes: number;
  /** Number of old copies that were removed. */
  removed: number;
}

/**
 * Copies `file`, a backup that the server made. If `verify` finds problems, copies it under a name that says so.
 * Throws BackupError, also for a file that was damaged after it was made. An object that was uploaded before the error
 * has no manifest and does not count as a copy.
 */
export async function uploadBackup(
  store: Store,
  file: string,
  options: UploadOptions,
): Promise<Upload> {
  const parsed = parseBackupName(basename(file));
  if (!parsed) throw new BackupError(`${file} is not named like a backup made by the server`);
  const databaseBytes = sizeOf(file);
  const before = await listCopies(store, options.now);
  const names = [basename(file), unverifiedName(basename(file))];
  const present = before.copies.find((copy) => names.includes(copy.name));
  if (present && (await isWhole(store, present, databaseBytes))) {
    return {
      uploaded: false,
      verified: present.isVerified,
      url: store.url(present.object),
      bytes: present.bytes,
      databaseBytes,
      removed: 0,
    };
  }
  const { fault, isDamaged } = await checkBackup(file);
  if (isDamaged && parsed.isVerified) throw new BackupError(`${file} ${fault}`);
  const verified = fault === null && parsed.isVerified;
  const name = verified || !parsed.isVerified ? basename(file) : unverifiedName(basename(file));
  const object = objectName(name, options.recipient !== null);
  const sent = await uploadObject(store, file, object, options);
  const manifest = { ...sent, database: { ...sent.database, name }, verified };
  await compareObject(store, manifest.object);
  await storeManifest(store, manifest);
  const own = await listCopies(store, options.now);
  const removed = await removeOutdated(
    store,
    copiesOfInstance(own, parsed.instance),
    name,
    options,
  );
  const { bytes } = manifest.object;
  return { uploaded: true, verified, url: store.url(object), bytes, databaseBytes, removed };
}

/**
 * Checks a copy by its manifest and its sizes, because a store that shows unfinished uploads may have kept only part of
 * an object.
 */
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
): Promise<Omit<Manifest, "verified">> {
  const before = sizeOf(file);
  const read = createMeter(onProgress);
  const sent = createMeter();
  const compressed = compress(Bun.file(file).stream().pipeThrough(metered(read)));
  const content = recipient === null ? compressed : await encrypt(compressed, recipient);
  await store.putStream(object, content.pipeThrough(metered(sent)), before);
  const database = read.digest();
  // An old backup is truncated before it is removed.
  if (database.bytes !== before || sizeOf(file) !== before) {
    throw new BackupError(`${file} was changed or removed while it was being copied`);
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
    `${store.url(expected.name)} differs from the uploaded file (${found.bytes} bytes of ${expected.bytes}, SHA-256 ${found.sha256}, not ${expected.sha256})`,
  );
}

async function storeManifest(store: Store, manifest: Manifest): Promise<void> {
  const name = manifestName(manifest.object.name);
  const text = `${JSON.stringify(manifest)}\n`;
  await store.putText(name, text);
  if ((await store.getText(name)) === text) return;
  // With a wrong manifest the object would be taken for a copy.
  await store.remove(name);
  throw new BackupError(`${store.url(name)} differs from the uploaded file`);
}

interface OwnCopies {
  copies: RemoteCopy[];
  incomplete: RemoteFolderContent["incomplete"];
}

/** Selects the objects of one installation. Several installations may share a folder, and each removes only its own. */
function copiesOfInstance(
  { copies, incomplete }: RemoteFolderContent,
  instance: string,
): OwnCopies {
  return {
    copies: copies.filter((copy) => copy.instance === instance),
    incomplete: incomplete.filter((object) => object.instance === instance),
  };
}

/**
 * Removes old copies and incomplete uploads. Returns the number of removed copies. A failure is only a warning, because
 * the access key may not be allowed to remove objects.
 */
async function removeOutdated(
  store: Store,
  own: OwnCopies,
  uploaded: string,
  { keep, now, onWarning }: UploadOptions,
): Promise<number> {
  const isUploaded = ({ name }: RemoteCopy) => name === uploaded;
  const { copies } = own;
  // The copy that was just uploaded counts as the newest, whatever the clock says.
  const newest = [...copies.filter(isUploaded), ...copies.filter((each) => !isUploaded(each))];
  const old = outdated(newest, keep);
  const left = own.incomplete.filter(({ storedAt }) => storedAt < now - INCOMPLETE_MS);
  try {
    for (const { object } of old) {
      // The manifest is removed first, so that the rest of an interrupted removal does not count as a copy.
      await store.remove(manifestName(object));
      await store.remove(object);
    }
    for (const { name } of left) await store.remove(name);
    return old.length;
  } catch (error) {
    if (!(error instanceof BackupError)) throw error;
    onWarning(`old copies were not removed: ${error.message}`);
    return 0;
  }
}

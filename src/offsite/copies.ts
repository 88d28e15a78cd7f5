// The copies of backups in a folder of a store. A copy consists of two objects: the compressed backup, and its
// manifest with the checksums, which is stored last. An object without a manifest is an interrupted upload, never a
// copy.

import * as v from "valibot";
import { BackupError } from "../storage/backup/backup-error.ts";
import { newestFirst } from "../storage/backup/backup-folder.ts";
import { parseBackupName } from "../storage/backup/backup-names.ts";
import type { Store, StoredObject } from "./store.ts";

const COMPRESSED = ".zst";
const ENCRYPTED = ".age";
const MANIFEST = ".json";
const OBJECT = /^(.+\.db)\.zst(?:\.age)?$/;

export interface RemoteCopy {
  /** The file name of the backup, as in the folder of the server's backups. */
  name: string;
  /** The name of its object; the manifest has the same name followed by MANIFEST. */
  object: string;
  instance: string;
  begunAt: number;
  /** From its name: false if `verify` found problems in the backup. */
  isVerified: boolean;
  /** The size of the object. */
  bytes: number;
}

export interface RemoteFolderContent {
  /** Newest first. */
  copies: RemoteCopy[];
  /** Objects of interrupted uploads and removals. */
  incomplete: (StoredObject & { instance: string })[];
}

const SHA256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const BYTES = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const MANIFEST_SCHEMA = v.object({
  format: v.literal(1),
  object: v.object({ name: v.string(), bytes: BYTES, sha256: SHA256 }),
  database: v.object({ name: v.string(), bytes: BYTES, sha256: SHA256 }),
  /**
   * Whether the backup was verified before it was sent. It does not say what is wrong, because a manifest is not
   * encrypted.
   */
  verified: v.boolean(),
});

/** The checksums of an object and of the backup in it. Stored after the object and read before each use of it. */
export type Manifest = v.InferOutput<typeof MANIFEST_SCHEMA>;

/** Returns the name of the object of a backup. */
export function objectName(backup: string, isEncrypted: boolean): string {
  return `${backup}${COMPRESSED}${isEncrypted ? ENCRYPTED : ""}`;
}

export function isEncrypted(copy: RemoteCopy): boolean {
  return copy.object.endsWith(ENCRYPTED);
}

export function manifestName(object: string): string {
  return `${object}${MANIFEST}`;
}

export async function listCopies(store: Store, now: number): Promise<RemoteFolderContent> {
  const objects = await store.list();
  const names = new Set(objects.map(({ name }) => name));
  const copies: RemoteCopy[] = [];
  const incomplete: RemoteFolderContent["incomplete"] = [];
  for (const stored of objects) {
    const isManifest = stored.name.endsWith(MANIFEST);
    const object = isManifest ? stored.name.slice(0, -MANIFEST.length) : stored.name;
    const name = OBJECT.exec(object)?.[1] ?? "";
    const parsed = parseBackupName(name);
    if (!parsed) continue;
    const isComplete = names.has(isManifest ? object : manifestName(object));
    if (!isComplete) incomplete.push({ ...stored, instance: parsed.instance });
    else if (!isManifest) copies.push({ name, object, ...parsed, bytes: stored.bytes });
  }
  return { copies: newestFirst(copies, now), incomplete };
}

/**
 * Returns the copy named `name`; with null, the newest one of `instance`. If that instance has no copies, returns the
 * newest copy of the folder. It refuses to choose among several installations, since the newest copy may be of another.
 */
export function chooseCopy(
  store: Store,
  copies: readonly RemoteCopy[],
  name: string | null,
  instance: string | null,
): RemoteCopy {
  if (name !== null) {
    const named = copies.find((copy) => [copy.name, copy.object].includes(name));
    if (named) return named;
    throw new BackupError(
      `${store.url(name)} is not a copy of a backup: see \`reseller backup list\``,
    );
  }
  const own = copies.filter((copy) => copy.instance === instance);
  const [newest] = own.length > 0 ? own : copies;
  if (!newest) throw new BackupError(`${store.url("")} has no copy of a backup`);
  const instances = new Set(copies.map((copy) => copy.instance));
  if (own.length > 0 || instances.size === 1) return newest;
  throw new BackupError(
    `${store.url("")} has copies of ${instances.size} installations (${[...instances].join(", ")}): choose one from \`reseller backup list\``,
  );
}

/** Thrown for a manifest that cannot be read or belongs to another object. */
export class DamagedManifest extends BackupError {}

/** Returns whether a manifest agrees with the name of its object, because a list of the folder shows only names. */
function agreesWith({ object, database, verified }: Manifest, name: string): boolean {
  const backup = OBJECT.exec(name)?.[1];
  const parsed = parseBackupName(backup ?? "");
  return object.name === name && database.name === backup && parsed?.isVerified === verified;
}

/** Reads the manifest of an object. Throws DamagedManifest or BackupError. */
export async function readManifest(store: Store, object: string): Promise<Manifest> {
  const name = manifestName(object);
  const text = await store.getText(name);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    content = null;
  }
  const { success, output } = v.safeParse(MANIFEST_SCHEMA, content);
  if (success && agreesWith(output, object)) return output;
  throw new DamagedManifest(
    `${store.url(name)} is damaged: choose another copy from \`reseller backup list\``,
  );
}

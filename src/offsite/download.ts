// Downloads a copy into a file: decrypts and decompresses it, and compares it with its manifest's checksums.

import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { BackupError } from "../storage/backup/backup-error.ts";
import { freeBytesIn, mebibytes } from "../storage/file/files.ts";
import { isEncrypted, readManifest, type RemoteCopy } from "./copies.ts";
import { decrypt } from "./encryption.ts";
import type { Store } from "./store.ts";
import { createMeter, decompress, type Digest } from "./streams.ts";

export interface DownloadOptions {
  /** The text of a file of age identities; null when none was given. */
  identities: string | null;
  /** Called with the bytes of the object read so far, and with its size. */
  onProgress: (bytes: number, all: number) => void;
}

/**
 * Writes the backup to `target`, which must not exist. When it throws BackupError, the file at `target` is unusable.
 */
export async function downloadCopy(
  store: Store,
  copy: RemoteCopy,
  target: string,
  { identities, onProgress }: DownloadOptions,
): Promise<void> {
  const url = store.url(copy.object);
  if (isEncrypted(copy) && identities === null) {
    throw new BackupError(`${url} is encrypted: give the file with its age identity in --identity`);
  }
  const manifest = await readManifest(store, copy.object);
  refuseWithoutRoom(target, manifest.database.bytes);
  const read = createMeter((bytes) => onProgress(bytes, manifest.object.bytes));
  const written = createMeter((bytes) => {
    if (bytes <= manifest.database.bytes) return;
    throw new BackupError(
      `${url} is damaged (longer than the uploaded file): choose another copy from \`reseller backup list\``,
    );
  });
  try {
    const object = streamOf(store.getStream(copy.object), read.add);
    const compressed = isEncrypted(copy) ? await decrypt(object, identities!) : object;
    await writeTo(target, decompress(compressed), written.add);
  } catch (error) {
    throw asDamageError(error, url);
  }
  refuseOther(url, read.digest(), manifest.object);
  refuseOther(url, written.digest(), manifest.database);
}

function refuseWithoutRoom(target: string, needed: number): void {
  const free = freeBytesIn(dirname(target));
  if (free > needed) return;
  throw new BackupError(
    `${dirname(target)} has too little free space for the copy (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): free some first`,
  );
}

function streamOf(
  chunks: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) return controller.close();
      onChunk(value);
      controller.enqueue(value);
    },
  });
}

async function writeTo(
  target: string,
  content: ReadableStream<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  await using handle = await open(target, "wx", 0o600);
  for await (const chunk of content) {
    onChunk(chunk);
    await handle.writeFile(chunk);
  }
}

/**
 * Turns an error of decompression or decryption into a BackupError about damaged content. Returns errors of files
 * unchanged.
 */
function asDamageError(error: unknown, url: string): unknown {
  if (error instanceof BackupError) {
    return error.message.startsWith(url) ? error : new BackupError(`${url}: ${error.message}`);
  }
  if (error instanceof Error && "syscall" in error) return error;
  return new BackupError(
    `${url} is damaged (${error instanceof Error ? error.message : String(error)}): choose another copy from \`reseller backup list\``,
  );
}

function refuseOther(url: string, found: Digest, expected: Digest): void {
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  throw new BackupError(
    `${url} is damaged (its checksum differs): choose another copy from \`reseller backup list\``,
  );
}

// Fetches a copy: downloaded, compared with its manifest's checksums, decrypted and decompressed into a file.

import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { BackupError } from "../storage/backup.ts";
import { freeBytesIn, mebibytes } from "../storage/files.ts";
import { isEncrypted, readManifest, type RemoteCopy } from "./copies.ts";
import { decrypt } from "./encryption.ts";
import type { Store } from "./store.ts";
import { createMeter, decompress, type Digest } from "./streams.ts";

export interface DownloadOptions {
  /** The text of a file of age identities; null when none was given. */
  identities: string | null;
  /** Bytes of the object that were read, and all of them. */
  onProgress: (bytes: number, all: number) => void;
}

/** Writes the backup to `target`, which must not exist. Throws BackupError, and has then written an unusable file. */
export async function downloadCopy(
  store: Store,
  copy: RemoteCopy,
  target: string,
  { identities, onProgress }: DownloadOptions,
): Promise<void> {
  const url = store.url(copy.object);
  if (isEncrypted(copy) && identities === null) {
    throw new BackupError(`${url} is encrypted: name the file of its identity with --identity`);
  }
  const manifest = await readManifest(store, copy.object);
  refuseWithoutRoom(target, manifest.database.bytes);
  const read = createMeter((bytes) => onProgress(bytes, manifest.object.bytes));
  const written = createMeter((bytes) => {
    if (bytes > manifest.database.bytes) throw new BackupError(`${url} is not what was uploaded`);
  });
  try {
    const object = streamOf(store.getStream(copy.object), read.add);
    const compressed = isEncrypted(copy) ? await decrypt(object, identities!) : object;
    await writeTo(target, decompress(compressed), written.add);
  } catch (error) {
    throw damageOf(error, url);
  }
  refuseOther(url, read.digest(), manifest.object);
  refuseOther(url, written.digest(), manifest.database);
}

function refuseWithoutRoom(target: string, needed: number): void {
  const free = freeBytesIn(dirname(target));
  if (free > needed) return;
  throw new BackupError(
    `${dirname(target)} has too little room for the copy (${mebibytes(free)} MiB free, ${mebibytes(needed)} needed): make room first`,
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

/** What decompression and decryption throw for damaged content; errors of files are returned as they are. */
function damageOf(error: unknown, url: string): unknown {
  if (error instanceof BackupError) return new BackupError(`${url}: ${withoutUrl(error, url)}`);
  if (error instanceof Error && "syscall" in error) return error;
  return new BackupError(
    `${url} is damaged (${error instanceof Error ? error.message : String(error)}): name another copy, see \`reseller backup list\``,
  );
}

function withoutUrl({ message }: Error, url: string): string {
  return message.startsWith(`${url}: `) ? message.slice(url.length + 2) : message;
}

function refuseOther(url: string, found: Digest, expected: Digest): void {
  if (found.bytes === expected.bytes && found.sha256 === expected.sha256) return;
  throw new BackupError(
    `${url} is damaged, its checksum differs: name another copy, see \`reseller backup list\``,
  );
}

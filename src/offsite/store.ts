// A folder in a bucket of an S3-compatible store. This is the only file that uses Bun's S3 client.
// docs/specification/storage.md#offsite

import { BackupError } from "../storage/backup/backup-error.ts";
import { errorCode } from "../domain/values/error-table.ts";

/**
 * Minimum size of a part of an upload. Large files have larger parts, because a store limits the number of parts.
 */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_LIMIT = 9_000;
const PARTS_AT_ONCE = 2;
/** Retries of each part. If they fail, the server repeats the whole upload (jobs/offsite.ts). */
const PART_RETRIES = 3;
const MESSAGE_LENGTH = 200;
/** Limit for the bytes of a manifest, which has about 600. */
const TEXT_LIMIT = 64 * 1024;

export interface StoreSettings {
  bucket: string;
  /** Without a slash at either end; empty for the bucket itself. */
  prefix: string;
  /** Null for Amazon's endpoint. */
  endpoint: string | null;
  region: string;
  accessKey: string;
  secretKey: string;
}

export interface StoredObject {
  /** The object's key below the prefix. */
  name: string;
  bytes: number;
  storedAt: number;
}

/** Each method throws BackupError. */
export interface Store {
  /** Returns s3://bucket/prefix/name. */
  url(name: string): string;
  /** Lists the objects in the folder itself, not below it. */
  list(): Promise<StoredObject[]>;
  /**
   * Stores an object. `bytes`: its maximum length. The object should appear only when complete, but not every store
   * ensures that.
   */
  putStream(name: string, content: ReadableStream<Uint8Array>, bytes: number): Promise<void>;
  putText(name: string, content: string): Promise<void>;
  /** Returns at most the first TEXT_LIMIT bytes. Every text that this program writes is shorter. */
  getText(name: string): Promise<string>;
  /** Returns the content of an object. Iterating over it may throw BackupError too. */
  getStream(name: string): AsyncIterable<Uint8Array>;
  remove(name: string): Promise<void>;
}

export function openStore(settings: StoreSettings): Store {
  const { bucket, prefix, endpoint, region, accessKey, secretKey } = settings;
  const client = new Bun.S3Client({
    bucket,
    region,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    // Always given: otherwise Bun takes one from variables such as AWS_ENDPOINT.
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
  });
  const keyOf = (name: string) => (prefix === "" ? name : `${prefix}/${name}`);
  const url = (name: string) => `s3://${bucket}/${keyOf(name)}`;
  const file = (name: string) => client.file(keyOf(name));
  const named = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw storeError(error, url(name));
    }
  };
  return {
    url,
    list: () => named("", () => listAll(client, keyOf(""))),
    putStream: (name, content, bytes) =>
      named(name, async () => {
        const partSize = Math.max(PART_BYTES, Math.ceil(bytes / PARTS_LIMIT));
        const options = { partSize, queueSize: PARTS_AT_ONCE, retry: PART_RETRIES };
        await file(name).write(new Response(content), options);
      }),
    putText: (name, content) => named(name, async () => void (await file(name).write(content))),
    getText: (name) => named(name, () => textOf(file(name))),
    async *getStream(name) {
      try {
        yield* file(name).stream();
      } catch (error) {
        throw storeError(error, url(name));
      }
    },
    remove: (name) => named(name, () => file(name).delete()),
  };
}

async function textOf(file: Bun.S3File): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of file.stream()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= TEXT_LIMIT) break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, TEXT_LIMIT);
}

async function listAll(client: Bun.S3Client, prefix: string): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  for (let continuationToken: string | undefined; ;) {
    const page = await client.list({
      prefix,
      delimiter: "/",
      ...(continuationToken === undefined ? {} : { continuationToken }),
    });
    for (const { key, size, lastModified } of page.contents ?? []) {
      const storedAt = Date.parse(String(lastModified ?? ""));
      found.push({ name: key.slice(prefix.length), bytes: size ?? 0, storedAt });
    }
    continuationToken = page.isTruncated ? page.nextContinuationToken : undefined;
    if (continuationToken === undefined) return found;
  }
}

const REASONS: Record<string, string> = {
  InvalidAccessKeyId: "rejected the access key as unknown: check RESELLER_S3_ACCESS_KEY",
  SignatureDoesNotMatch:
    "rejected the signature: check RESELLER_S3_ACCESS_KEY, RESELLER_S3_SECRET_KEY, --s3-region and the clock",
  AuthorizationHeaderMalformed: "rejected the region: correct --s3-region",
  RequestTimeTooSkewed: "has a clock that differs from this machine's: set the clock",
  AccessDenied: "denied access: check the permissions of the key",
  NoSuchBucket: "has no such bucket: create it, or correct --backup-to",
  NoSuchKey: "has no such object",
  ConnectionRefused: "cannot be reached (connection refused): check --s3-endpoint",
  DNSResolveFailed: "cannot be reached (unknown host): check --s3-endpoint",
  Timeout: "did not respond in time",
};

/**
 * Turns an error of the client into a BackupError of one sentence. Returns errors of files or of this program
 * unchanged.
 */
function storeError(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof BackupError || "syscall" in error) return error;
  const code = errorCode(error);
  if (code === "") return error;
  const reason = REASONS[code] ?? `failed (${code}: ${error.message.slice(0, MESSAGE_LENGTH)})`;
  return new BackupError(`${url}: the store ${reason}`);
}

// The files that an owner uploads to move in. They hold keys and e-mail addresses, so no file of the data directory has
// their content under a name: each is created with mode 0600 and removed from its folder before anything is written. Only
// this process can read it then, and the system frees it when the process closes it or ends, however it ends.

import { close, mkdirSync, openSync, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { Busboy } from "@fastify/busboy";
import { errorCode } from "../../domain/values/error-table.ts";
import { formatSize } from "../../domain/values/units.ts";
import { BrokenOff } from "../../http1/parser.ts";
import type { IncomingRequest } from "../../http1/request.ts";
import { PANEL_TABLES } from "../../imports/panel/map.ts";
import { isDump, type PanelFile } from "../../imports/panel/table-file.ts";
import { Unreadable } from "../../web/server/form-body.ts";

const writeTo = promisify(write);
const closeFile = promisify(close);

/** The fields of the form: a file for each table, or one dump for all. */
export const UPLOAD_FIELDS = [...PANEL_TABLES, "dump"] as const;
export type UploadField = (typeof UPLOAD_FIELDS)[number];

/** The field with the mapping file, whose text is kept in memory: it holds no secrets. */
const MAPPING = "map";
const MAPPING_LIMIT_BYTES = 64 * 1024;
/** After so many bytes the free space is looked at again. */
const CHECKED_BYTES = 8 * 1024 * 1024;

export interface Upload extends PanelFile {
  bytes: number;
}

export type Uploads = ReadonlyMap<UploadField, Upload>;

/** What a request brought. */
export interface Received {
  uploads: Uploads;
  /** Null: no mapping was sent. */
  mapping: string | null;
}

export interface UploadLimits {
  /** The folder for the files. */
  folder: string;
  limitBytes: number;
  /** Bytes that must stay free on the disk. */
  diskFloor: number;
  freeBytes: (folder: string) => number;
}

/** Thrown for files that are not taken. The message says why. */
export class UploadError extends Error {
  override name = "UploadError";
}

/** Takes the files of a form while they arrive. Throws UploadError, Unreadable. */
export async function receiveUploads(
  request: IncomingRequest,
  limits: UploadLimits,
): Promise<Received> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.limitBytes) throw tooLarge(limits);
  mkdirSync(limits.folder, { recursive: true, mode: 0o700 });
  requireSpace(limits, declared);
  const reception = new Reception(limits);
  const busboy = formParser(request);
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => {});
  busboy.on("file", (field, stream, name) => {
    reception.take(field, stream, name).catch((error) => failure.reject(error));
  });
  busboy.on("error", () => failure.reject(new Unreadable()));
  const finished = new Promise<void>((resolve) => busboy.on("finish", resolve));
  try {
    for await (const part of request.stream()) {
      const taken = new Promise<void>((resolve) => busboy.write(part, () => resolve()));
      await Promise.race([taken, failure.promise]);
    }
    if (request.isTooLong) throw tooLarge(limits);
    busboy.end();
    await Promise.race([finished, failure.promise]);
    return await reception.complete();
  } catch (error) {
    await reception.discard();
    throw refusalOf(error);
  }
}

/** A request that breaks off cannot be answered anyway. */
function refusalOf(error: unknown): Error {
  if (error instanceof UploadError || error instanceof Unreadable) return error;
  if (error instanceof BrokenOff) return new Unreadable();
  return new UploadError(`The files could not be stored (${errorCode(error)})`);
}

/** Closes the files, which frees them. */
export async function closeUploads(uploads: Uploads): Promise<void> {
  await Promise.all([...uploads.values()].map(({ descriptor }) => closeFile(descriptor)));
}

function formParser(request: IncomingRequest): Busboy {
  try {
    return new Busboy({
      headers: { "content-type": request.headers.get("content-type") ?? "" },
      limits: { files: UPLOAD_FIELDS.length + 1, fields: 20, fieldSize: 1000, headerPairs: 20 },
    });
  } catch {
    throw new Unreadable();
  }
}

/** The files of one request. */
class Reception {
  readonly #uploads = new Map<UploadField, Upload>();
  readonly #streams: Readable[] = [];
  readonly #writing: Promise<void>[] = [];
  #mapping: string | null = null;
  #sinceChecked = 0;

  constructor(readonly limits: UploadLimits) {}

  take(field: string, stream: Readable, name: string | undefined): Promise<void> {
    this.#streams.push(stream);
    // A stream that is destroyed reports that.
    stream.on("error", () => {});
    const taken = this.#save(field, stream, name ?? "");
    this.#writing.push(taken);
    return taken;
  }

  async complete(): Promise<Received> {
    await Promise.all(this.#writing);
    return { uploads: this.#uploads, mapping: this.#mapping };
  }

  /** Waits for what is being written, because a descriptor that is closed too early may be given to another file. */
  async discard(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    await Promise.allSettled(this.#writing);
    await closeUploads(this.#uploads);
  }

  async #save(field: string, stream: Readable, name: string): Promise<void> {
    const table = UPLOAD_FIELDS.find((each) => each === field);
    if (!table) return await this.#readMapping(field, stream);
    let upload: Upload | null = null;
    for await (const chunk of stream) {
      upload ??= this.#create(table, name);
      const bytes = chunk as Uint8Array;
      this.#sinceChecked += bytes.length;
      if (this.#sinceChecked > CHECKED_BYTES) {
        requireSpace(this.limits, 0);
        this.#sinceChecked = 0;
      }
      for (let done = 0; done < bytes.length;) {
        const left = bytes.length - done;
        const { bytesWritten } = await writeTo(upload.descriptor, bytes, done, left, upload.bytes);
        done += bytesWritten;
        upload.bytes += bytesWritten;
      }
    }
    // A browser sends an empty file without a name for a field that was left empty.
    if (!upload && name !== "") throw new UploadError(`The file for ${table} is empty`);
  }

  #create(table: UploadField, name: string): Upload {
    if (this.#uploads.has(table)) throw new UploadError(`More than one file for ${table}`);
    const isSql = table === "dump" || isDump(name);
    const path = join(this.limits.folder, `moving-in-${crypto.randomUUID()}`);
    const descriptor = openSync(path, "wx+", 0o600);
    const upload = { name: `${table}.${isSql ? "sql" : "csv"}`, descriptor, bytes: 0 };
    this.#uploads.set(table, upload);
    unlinkSync(path);
    return upload;
  }

  async #readMapping(field: string, stream: Readable): Promise<void> {
    if (field !== MAPPING) throw new UploadError("The form has an unknown file");
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of stream) {
      parts.push(chunk as Uint8Array);
      length += (chunk as Uint8Array).length;
      if (length > MAPPING_LIMIT_BYTES) throw new UploadError("The mapping file is too large");
    }
    if (length > 0) this.#mapping = Buffer.concat(parts).toString("utf8");
  }
}

function requireSpace({ folder, diskFloor, freeBytes }: UploadLimits, bytes: number): void {
  if (freeBytes(folder) - bytes >= diskFloor) return;
  throw new UploadError(
    "The disk of the data directory has too little free space for these files (--disk-floor)",
  );
}

function tooLarge({ limitBytes }: UploadLimits): UploadError {
  return new UploadError(
    `The files are larger than ${formatSize(limitBytes)} together: raise --panel-upload-limit, or use the command`,
  );
}

// A model of a disk that replays a trace and loses power: synced writes are there, others may be there
// in whole, in part, or in another order. Contents and directory entries are synced apart, as POSIX has it.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { below, type Random } from "../../support/random/seeded.ts";
import { Operation, type TraceRecord } from "./trace.ts";

/** What a disk writes in one piece. */
const SECTOR_BYTES = 512;

/** How unsynced writes fare in one power cut. */
export const FATES = ["dropped", "kept", "cut off", "any of them", "torn", "newest first"] as const;
export type Fate = (typeof FATES)[number];

interface File {
  content: Content;
  /** Since its last sync, in order. */
  unsynced: TraceRecord[];
}

/** Bytes that grow. */
interface Content {
  bytes: Buffer;
  size: number;
}

export interface Disk {
  apply(record: TraceRecord): void;
  /** Writes into `folder` what a power cut at this moment may leave. */
  cut(folder: string, fate: Fate, random: Random): void;
}

/** A disk that holds the files of `folder`, all of them synced. */
export function diskOf(folder: string): Disk {
  const current = new Map<string, File>();
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (!statSync(path).isFile() || name.endsWith("-shm")) continue;
    const bytes = readFileSync(path);
    current.set(name, { content: { bytes, size: bytes.length }, unsynced: [] });
  }
  let durable = new Map(current);
  /** Entries made and removed since the directory was synced, in order: a journal keeps their order. */
  let entries: [name: string, file: File | null][] = [];

  return {
    apply(record) {
      const { operation, file: name } = record;
      if (operation === Operation.DirectorySync) {
        durable = new Map(current);
        entries = [];
        return;
      }
      if (operation === Operation.Answer) return;
      if (operation === Operation.Unlink) {
        current.delete(name);
        entries.push([name, null]);
        return;
      }
      let file = current.get(name);
      if (!file) {
        file = { content: { bytes: Buffer.alloc(0), size: 0 }, unsynced: [] };
        current.set(name, file);
        entries.push([name, file]);
      }
      if (operation === Operation.Sync) {
        for (const change of file.unsynced) applyChange(file.content, change);
        file.unsynced = [];
      } else if (operation !== Operation.Create) {
        file.unsynced.push(record);
      }
    },
    cut(folder, fate, random) {
      const files = new Map(durable);
      const kept = fate === "kept" ? entries.length : below(random, entries.length + 1);
      for (const [name, file] of fate === "dropped" ? [] : entries.slice(0, kept)) {
        if (file) files.set(name, file);
        else files.delete(name);
      }
      for (const [name, file] of files) {
        const content = contentAfter(file, fate, random);
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), content.bytes.subarray(0, content.size));
      }
    },
  };
}

function contentAfter({ content, unsynced }: File, fate: Fate, random: Random): Content {
  const after = { bytes: Buffer.from(content.bytes.subarray(0, content.size)), size: content.size };
  for (const change of survivors(unsynced, fate, random)) applyChange(after, change);
  return after;
}

function survivors(changes: TraceRecord[], fate: Fate, random: Random): TraceRecord[] {
  switch (fate) {
    case "dropped":
      return [];
    case "kept":
      return changes;
    case "cut off": {
      const whole = changes.slice(0, below(random, changes.length + 1));
      const last = changes[whole.length];
      return last ? [...whole, ...sectorsOf(last, (sector) => sector === 0)] : whole;
    }
    case "any of them":
      return changes.filter(() => random() < 0.5);
    case "torn":
      return changes.flatMap((change) => sectorsOf(change, () => random() < 0.7));
    case "newest first": {
      const lost = below(random, changes.length + 1);
      return changes.filter((_, index) => index >= lost || random() < 0.1);
    }
  }
}

/** The parts of a write whose sectors reached the disk. */
function sectorsOf(change: TraceRecord, reached: (sector: number) => boolean): TraceRecord[] {
  if (change.operation !== Operation.Write) return reached(0) ? [change] : [];
  const parts: TraceRecord[] = [];
  for (let at = 0, sector = 0; at < change.data.length; sector++) {
    const end = Math.min(
      change.data.length,
      at + SECTOR_BYTES - ((change.offset + at) % SECTOR_BYTES),
    );
    if (reached(sector)) {
      parts.push({ ...change, offset: change.offset + at, data: change.data.subarray(at, end) });
    }
    at = end;
  }
  return parts;
}

function applyChange(content: Content, { operation, offset, data }: TraceRecord): void {
  if (operation === Operation.Truncate) {
    grow(content, offset);
    content.bytes.fill(0, Math.min(offset, content.size), content.size);
    content.size = offset;
    return;
  }
  grow(content, offset + data.length);
  data.copy(content.bytes, offset);
  content.size = Math.max(content.size, offset + data.length);
}

function grow(content: Content, size: number): void {
  if (size <= content.bytes.length) return;
  const larger = Buffer.alloc(Math.max(size, content.bytes.length * 2));
  content.bytes.copy(larger);
  content.bytes = larger;
}

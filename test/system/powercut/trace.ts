// Reading the shim's trace: the writes, syncs and responses of one process, in order.

import { readFileSync } from "node:fs";

/** As test/system/powercut/shim.c numbers them. */
export enum Operation {
  Name = 1,
  Write,
  Sync,
  Truncate,
  Create,
  Unlink,
  DirectorySync,
  Answer,
}

export interface TraceRecord {
  operation: Operation;
  /** Name below the watched folder; empty for an answer. */
  file: string;
  /** Position of a write; the new size for a truncation. */
  offset: number;
  data: Buffer;
}

const HEADER_BYTES = 24;

export function readTrace(path: string): TraceRecord[] {
  const bytes = readFileSync(path);
  const names = new Map<number, string>();
  const records: TraceRecord[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length;) {
    const operation = bytes.readUInt32LE(at) as Operation;
    const number = bytes.readUInt32LE(at + 4);
    const offset = Number(bytes.readBigUInt64LE(at + 8));
    const length = Number(bytes.readBigUInt64LE(at + 16));
    const data = bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length);
    at += HEADER_BYTES + length;
    if (operation === Operation.Name) names.set(number, data.toString());
    else records.push({ operation, file: names.get(number) ?? "", offset, data });
  }
  return records;
}

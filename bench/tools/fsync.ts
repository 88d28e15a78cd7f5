// What a durable write costs here, and the shim that makes it cost more.

import { closeSync, existsSync, fdatasyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { freshFolder, removeFolder, runToEnd } from "./children.ts";
import { median } from "./results.ts";

const SOURCE = join(import.meta.dir, "slow-fsync.c");
const SAMPLES = 101;

/** Milliseconds of one fdatasync after a page of a file that does not grow was written, median. */
export function timeFsync(): number {
  const folder = freshFolder();
  const file = openSync(join(folder, "probe"), "w");
  const page = new Uint8Array(4096);
  const times = Array.from({ length: SAMPLES }, () => {
    writeSync(file, page, 0, page.length, 0);
    const started = performance.now();
    fdatasyncSync(file);
    return performance.now() - started;
  });
  closeSync(file);
  removeFolder(folder);
  return median(times);
}

/** The environment of a process whose fsync takes that much longer. */
export async function slowDisk(milliseconds: number): Promise<Record<string, string>> {
  const folder = join(import.meta.dir, "../../dist");
  const shim = join(folder, "slow-fsync.so");
  if (!Bun.which("gcc")) throw new Error("gcc is missing: apt-get install gcc libc6-dev");
  if (!existsSync(folder)) mkdirSync(folder);
  await runToEnd(["gcc", "-shared", "-fPIC", "-O2", "-o", shim, SOURCE, "-ldl"]);
  return { LD_PRELOAD: shim, SLOW_FSYNC_MICROSECONDS: String(milliseconds * 1000) };
}

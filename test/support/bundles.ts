// The thread of the writer as one file with its bytecode, bundled once in a test process as the binary is: from some three hundred
// files of source it takes three times as long to start, and each server of a test starts one.

import { join } from "node:path";
import { WRITER_THREAD } from "../../src/config/source-files.ts";
import { freshFolder } from "./folders.ts";

let bundled: Promise<URL> | undefined;

export function bundledThread(): Promise<URL> {
  return (bundled ??= bundle());
}

async function bundle(): Promise<URL> {
  const outdir = freshFolder();
  await Bun.build({
    entrypoints: [WRITER_THREAD.pathname],
    outdir,
    target: "bun",
    // Bytecode beside a file is for CommonJS alone.
    format: "cjs",
    bytecode: true,
  });
  return new URL(`file://${join(outdir, "thread.js")}`);
}

// Compiles the LD_PRELOAD shim between the binary and the kernel, and returns the environment that loads it.

import { join } from "node:path";
import { freshFolder } from "../../support/folders.ts";

export interface ShimOptions {
  /** File to write the trace to. */
  trace?: string;
  /** KIND:FIRST:COUNT. */
  fault?: string;
  /** Calls fail, and the clock is wrong, only while this file is there. */
  gate?: string;
  /** After which change of a name, or sync, the process ends as by kill -9. */
  kill?: number;
  /** Hard links fail. */
  noLinks?: boolean;
  /** Added to the time of day. */
  clockSeconds?: number;
}

export interface Shim {
  /** What a process needs in its environment for the shim to watch `folder`. */
  environment(folder: string, options: ShimOptions): Record<string, string>;
}

export async function compileShim(): Promise<Shim> {
  const library = join(freshFolder(), "shim.so");
  const source = new URL("./shim.c", import.meta.url).pathname;
  const flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source];
  const gcc = Bun.spawn(["gcc", ...flags, "-ldl", "-lpthread"], {
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await gcc.exited) !== 0)
    throw new Error("gcc could not compile test/system/powercut/shim.c");
  return {
    environment: (folder, { trace, fault, gate, kill, noLinks, clockSeconds }) => ({
      LD_PRELOAD: library,
      SHIM_DIR: folder,
      ...(trace === undefined ? {} : { SHIM_TRACE: trace }),
      ...(fault === undefined ? {} : { SHIM_FAULT: fault }),
      ...(gate === undefined ? {} : { SHIM_GATE: gate }),
      ...(kill === undefined ? {} : { SHIM_KILL: String(kill) }),
      ...(noLinks ? { SHIM_NO_LINKS: "1" } : {}),
      ...(clockSeconds === undefined ? {} : { SHIM_CLOCK: String(clockSeconds) }),
    }),
  };
}

// Processes as the kernel shows them.

import { existsSync, readFileSync } from "node:fs";

/** That its main thread has started. */
export function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return readFileSync(file, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** `T`: stopped. Null once it has ended, whether or not its parent has noticed. */
export function stateOf(pid: number): string | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  const state = /\) (\S)/.exec(readFileSync(file, "utf8"))![1]!;
  return state === "Z" || state === "X" ? null : state;
}

// Processes as the kernel shows them.

import { readFileSync } from "node:fs";

/** Those that its main thread has started; none once it has ended. */
export function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`) ?? "";
  return text.trim().split(" ").filter(Boolean).map(Number);
}

/** `T`: stopped. Null once it has ended, whether or not its parent has noticed. */
export function stateOf(pid: number): string | null {
  const text = read(`/proc/${pid}/stat`);
  if (text === null) return null;
  const state = /\) (\S)/.exec(text)![1]!;
  return state === "Z" || state === "X" ? null : state;
}

/** Null: the process is gone, which may be after its file was opened (ESRCH). */
function read(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code!)) return null;
    throw error;
  }
}

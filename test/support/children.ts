// Processes as the kernel shows them.

import { existsSync, readdirSync, readFileSync } from "node:fs";

export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
      .trim()
      .split(" ")
      .filter(Boolean)
      .map(Number),
  );
}

/** `T`: stopped. Null once it has ended, whether or not its parent has noticed. */
export function stateOf(pid: number): string | null {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return null;
  const state = /\) (\S)/.exec(readFileSync(file, "utf8"))![1]!;
  return state === "Z" || state === "X" ? null : state;
}

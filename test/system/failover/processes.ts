// Processes: what they print, and their end.

import { readFileSync } from "node:fs";

/** A last line that a kill cut short is no answer. */
export async function readLines(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  take: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split("\n");
    rest = lines.pop()!;
    for (const line of lines) take(line);
  }
}

/** Ids of the processes that a process started. */
export function childrenOf(pid: number): number[] {
  const found = Bun.spawnSync(["ps", "-o", "pid=", "--ppid", String(pid)]).stdout.toString();
  return found
    .split("\n")
    .map(Number)
    .filter((each) => each > 0);
}

/** Kills them all at once, as a power cut would, and resolves once none of them runs. */
export async function killAll(pids: readonly number[]): Promise<void> {
  const signal = (pid: number, name: NodeJS.Signals) => {
    try {
      process.kill(pid, name);
    } catch (error) {
      if ((error as { code?: string }).code !== "ESRCH") throw error;
    }
  };
  // None of them sees another one die.
  for (const pid of pids) signal(pid, "SIGSTOP");
  for (const pid of pids) signal(pid, "SIGKILL");
  while (pids.some(isRunning)) await Bun.sleep(5);
}

/** Whether it is more than an entry that its parent has not collected. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

// Processes: what they print, and their end.

import { stateOf } from "../../support/children.ts";

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
  while (pids.some((pid) => stateOf(pid) !== null)) await Bun.sleep(5);
}

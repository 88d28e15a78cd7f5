// Servers under load, each a process of its own, and the journal of what they answered.

import { readFileSync } from "node:fs";
import type { Fate, Journal } from "./journal.ts";
import type { LoadLine, LoadOptions } from "./store-load.ts";

const LOAD = new URL("store-load.ts", import.meta.url).pathname;
const FATES: readonly string[] = ["acknowledged", "refused", "unknown"] satisfies Fate[];

export interface Server {
  pid: number;
  /** Lets it finish what it has begun. */
  stop(): Promise<void>;
  /** Between two instructions. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
}

/** What each server needs to know; `lives` counts the servers that were started, so that no name comes twice. */
export type Load = Omit<LoadOptions, "name" | "seed"> & { seed: number };

let lives = 0;

export function startServer(load: Load, journal: Journal): Server {
  const life = lives++;
  const options: LoadOptions = { ...load, name: `${load.seed}.${life}`, seed: load.seed + life };
  const child = Bun.spawn(["nice", process.execPath, LOAD, JSON.stringify(options)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const read = readLines(child.stdout, (line) => note(journal, JSON.parse(line) as LoadLine));
  const ended = async (expected: number | null) => {
    const code = await child.exited;
    await read;
    if (expected !== null && code !== expected) throw new Error(`a server ended with exit ${code}`);
  };
  return {
    pid: child.pid,
    async stop() {
      child.kill("SIGTERM");
      await ended(0);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended(null);
    },
    freeze: () => child.kill("SIGSTOP"),
    thaw: () => child.kill("SIGCONT"),
  };
}

function note(journal: Journal, line: LoadLine): void {
  if ("sent" in line) {
    for (const name of line.sent) journal.sent(name);
    return;
  }
  for (const [name, fate, orderId] of line.answers) {
    if (FATES.includes(fate)) journal.answered(name, fate as Fate, line.at, orderId);
    else journal.faults.push(`${name}: ${fate}`);
  }
}

/** A last line that a kill cut short is no answer. */
async function readLines(
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

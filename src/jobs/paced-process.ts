// Runs a command of this program in a process of its own that works a seventh of the time: short portions of work,
// each followed by a rest six times as long. Low priority is not enough, because a backup shares memory, caches and
// the disk with orders. Signals stop and continue the process, because its SQL statements (`VACUUM INTO`, the checks
// of `verify`) run for seconds and cannot pause themselves. docs/decisions/0011-backups-in-a-process-of-their-own.md

import { PROGRAM } from "../config/source-files.ts";
import { messageOf } from "../domain/values/error-table.ts";
import { sizeOf } from "../storage/file/files.ts";

/** Length of a portion of work. Longer ones slow orders down; in shorter ones caches are cold for much of the time. */
const PORTION_MS = 10;
/** A rest is this many times as long as the work before it. */
const REST_FACTOR = 6;
/** Limit for a rest: after a server was suspended for long, the process must not rest for minutes. */
const REST_LIMIT_MS = 6000;
/** Size below which the process is not paced: its work takes less than a second, mostly for starting. */
const SMALL_BYTES = 4 * 1024 * 1024;
/** Whether the process may rest. Only Linux ends a stopped process when the server is killed. */
const CAN_REST = process.platform === "linux";

export interface PaceClock {
  /** Milliseconds, monotonic. */
  now(): number;
  sleep(milliseconds: number): Promise<void>;
}

const systemClock: PaceClock = { now: () => performance.now(), sleep: (ms) => Bun.sleep(ms) };

export interface PacedOptions {
  /** The beginning of the process's command line; the default is this program's. */
  program?: readonly string[] | undefined;
  /** The database that the process works on. */
  file: string;
  environment: Record<string, string | undefined>;
  /** Returns whether the process may rest now: what it blocks must not grow without limit. */
  mayRest?: () => boolean;
  clock?: PaceClock | undefined;
}

export interface Ended {
  /** Null if a signal ended it. */
  code: number | null;
  signal: number | NodeJS.Signals | null;
  /** The text of stdout. */
  result: string;
  /** The text of stderr, or if it is empty after a failure, the signal or exit code. */
  messages: string;
}

export interface PacedProcess {
  ended: Promise<Ended>;
  /** Ends the process immediately, even while it rests. */
  kill(): void;
}

export function startPaced(
  command: readonly string[],
  { program = PROGRAM, file, environment, mayRest = () => true, clock = systemClock }: PacedOptions,
): PacedProcess {
  const child = Bun.spawn([...program, ...command], {
    stdout: "pipe",
    stderr: "pipe",
    // With this flag, Bun's runtime has the kernel kill the process when this one ends in any way (PR_SET_PDEATHSIG).
    // Otherwise a resting process would never be continued.
    env: { ...environment, BUN_FEATURE_FLAG_NO_ORPHANS: "1" },
    // The process sends one message (main.ts), after its runtime has set PR_SET_PDEATHSIG.
    ipc() {
      if (!CAN_REST || sizeOf(file) < SMALL_BYTES) return;
      void pace((signal) => child.kill(signal), { isRunning, mayRest, clock });
    },
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  const wait = async (): Promise<Ended> => {
    const printed = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    const [result, messages] = [printed[0].trim(), messageOf(printed[1])];
    const why = String(child.signalCode ?? `exit ${child.exitCode}`);
    return {
      code: child.exitCode,
      signal: child.signalCode,
      result,
      messages: messages || (child.exitCode === 0 ? "" : why),
    };
  };
  // SIGKILL, because a stopped process handles no other signal.
  return { ended: wait(), kill: () => child.kill("SIGKILL") };
}

export interface Paced {
  isRunning: () => boolean;
  mayRest: () => boolean;
  clock: PaceClock;
}

/** Paces a process until it has ended. `send` sends it a signal. */
export async function pace(
  send: (signal: "SIGSTOP" | "SIGCONT") => void,
  { isRunning, mayRest, clock }: Paced,
): Promise<void> {
  while (isRunning()) {
    const began = clock.now();
    await clock.sleep(PORTION_MS);
    if (!isRunning() || !mayRest()) continue;
    send("SIGSTOP");
    // Use the measured time: timers are late on a busy server.
    await clock.sleep(Math.min((clock.now() - began) * REST_FACTOR, REST_LIMIT_MS));
    send("SIGCONT");
  }
}

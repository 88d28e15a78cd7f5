// The processes and folders that a run creates: all are ended and removed, also after an error or Ctrl-C.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long a process may take to end after SIGTERM. */
const STOP_MILLISECONDS = 15_000;
/** How long a process may take to say that it is ready. */
const READY_MILLISECONDS = 120_000;

export interface Child {
  pid: number;
  /** What `ready` found in its output. */
  ready: string;
  stop(): Promise<void>;
}

export interface ChildOptions {
  env?: Record<string, string> | undefined;
  /** Its first group is what `ready` of the child is. */
  ready: RegExp;
  /** A file that takes its stderr. */
  log?: string;
}

const running = new Set<Bun.Subprocess>();
const folders = new Set<string>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    void stopEverything().then(() => process.exit(130));
  });
}

/** In memory where the system offers it. */
const MEMORY_FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** For logs: what collects them elsewhere shares no disk with the database. */
export function freshFolderInMemory(): string {
  return freshFolder(MEMORY_FOLDER);
}

/** A new folder, by default in the system's temporary one, removed when the run ends. */
export function freshFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "reseller-bench-"));
  folders.add(folder);
  return folder;
}

/** Registers a folder that was created elsewhere. */
export function removeAtEnd(folder: string): void {
  folders.add(folder);
}

export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  folders.delete(folder);
}

/** Starts a process and resolves once its standard output matches `ready`. */
export async function startChild(command: string[], options: ChildOptions): Promise<Child> {
  const child = Bun.spawn(command, {
    stdin: "ignore",
    stdout: "pipe",
    stderr: options.log ? Bun.file(options.log) : "inherit",
    env: { ...process.env, ...options.env },
  });
  running.add(child);
  void child.exited.then(() => running.delete(child));
  const found = await Promise.race([
    firstMatch(child.stdout, options.ready),
    Bun.sleep(READY_MILLISECONDS).then(() => null),
  ]);
  if (found === null) {
    await stop(child);
    const why = options.log ? await Bun.file(options.log).text() : "";
    throw new Error(`${command.join(" ")}: not ready\n${why}`);
  }
  return { pid: child.pid, ready: found, stop: () => stop(child) };
}

/** Runs a command to its end and returns its standard output; throws what it wrote to stderr when it fails. */
export async function runToEnd(command: string[], env: Record<string, string> = {}, input = "") {
  const { output } = await runMeasured(command, env, input);
  return output;
}

/** The same with the processor time that it took. */
export async function runMeasured(
  command: string[],
  env: Record<string, string> = {},
  input = "",
): Promise<{ output: string; microseconds: number }> {
  const child = Bun.spawn(command, {
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, ...env },
  });
  running.add(child);
  try {
    const [output, errors, code] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${command.join(" ")}: exit ${code}\n${output}${errors}`);
    return { output, microseconds: Number(child.resourceUsage()!.cpuTime.total) };
  } finally {
    running.delete(child);
  }
}

export async function stopEverything(): Promise<void> {
  await Promise.all([...running].map(stop));
}

async function stop(child: Bun.Subprocess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGTERM");
  const ended = await Promise.race([
    child.exited.then(() => true),
    Bun.sleep(STOP_MILLISECONDS).then(() => false),
  ]);
  if (!ended) {
    child.kill("SIGKILL");
    await child.exited;
  }
}

async function firstMatch(output: ReadableStream<Uint8Array>, pattern: RegExp) {
  const decoder = new TextDecoder();
  let printed = "";
  for await (const chunk of output) {
    printed += decoder.decode(chunk, { stream: true });
    const match = pattern.exec(printed);
    if (match) return match[1] ?? match[0];
  }
  return null;
}

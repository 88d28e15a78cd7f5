// Figures of a process and its descendants from /proc.

import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks a second in /proc: what Linux shows user programs on every platform. */
const TICKS = 100;

/** User and system time so far, of the processes and all their descendants that live. */
export function cpuSeconds(pids: number[]): number {
  return withDescendants(pids)
    .map((pid) => {
      const fields = statOf(pid);
      return (Number(fields[11]) + Number(fields[12])) / TICKS;
    })
    .reduce((sum, seconds) => sum + seconds, 0);
}

/** Processor time of each thread of a process so far, by name, those of one name together; `main` is its first. */
export function threadMicroseconds(pid: number): Record<string, number> {
  const times: Record<string, number> = {};
  for (const thread of threadsOf(pid)) {
    try {
      const folder = `/proc/${pid}/task/${thread}`;
      const name = Number(thread) === pid ? "main" : readFileSync(`${folder}/comm`, "utf8").trim();
      const nanoseconds = Number(readFileSync(`${folder}/schedstat`, "utf8").split(" ")[0]);
      times[name] = (times[name] ?? 0) + nanoseconds / 1000;
    } catch {
      // A thread that has ended meanwhile.
    }
  }
  return times;
}

/** None of a process that is gone. */
function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/**
 * Processor time so far of each part of the processes and their descendants that live: threads by name, of a program's first
 * one `main`; processes of PostgreSQL by their title, those that serve a connection together.
 */
export function partMicroseconds(pids: number[]): Record<string, number> {
  const parts: Record<string, number> = {};
  for (const pid of withDescendants(pids)) {
    const role = postgresRole(pid);
    for (const [thread, microseconds] of Object.entries(threadMicroseconds(pid))) {
      const part = role ?? thread;
      parts[part] = (parts[part] ?? 0) + microseconds;
    }
  }
  return parts;
}

/** Null for what is no process of PostgreSQL. */
function postgresRole(pid: number): string | null {
  let title: string;
  try {
    title = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return null;
  }
  if (/^\S*\/postgres /.test(title)) return "postmaster";
  const role = /^postgres: (.*)/.exec(title)?.[1]?.trim();
  if (role === undefined) return null;
  return POSTGRES_ROLES.find((each) => role.startsWith(each)) ?? "backends";
}

const POSTGRES_ROLES = [
  "autovacuum launcher",
  "autovacuum worker",
  "background writer",
  "checkpointer",
  "logical replication launcher",
  "walwriter",
];

/** How often each thread of the processes and their descendants has gone to sleep so far, by its id. */
export function voluntarySwitches(pids: number[]): Map<string, number> {
  const switches = new Map<string, number>();
  for (const pid of withDescendants(pids)) {
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const count = switchesOf(`/proc/${pid}/task/${thread}/status`);
      if (count !== null) switches.set(thread, count);
    }
  }
  return switches;
}

/** Null for a thread that is gone. */
function switchesOf(file: string): number | null {
  try {
    return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(readFileSync(file, "utf8"))?.[1]);
  } catch {
    return null;
  }
}

/** Resident memory of the processes and their descendants; what they share is counted once, at its owner's part. */
export function residentMegabytes(pids: number[]): number {
  return withDescendants(pids)
    .map((pid) => {
      const status = readFileSync(`/proc/${pid}/smaps_rollup`, "utf8");
      const field = pids.length === 1 && pids[0] === pid ? "Rss" : "Pss";
      return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
    })
    .reduce((sum, megabytes) => sum + megabytes, 0);
}

function withDescendants(pids: number[]): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const parent = Number(statOf(Number(name))[1]);
    parents.set(Number(name), parent);
  }
  const wanted = new Set(pids);
  for (let grown = true; grown;) {
    grown = false;
    for (const [pid, parent] of parents) {
      if (!wanted.has(parent) || wanted.has(pid)) continue;
      wanted.add(pid);
      grown = true;
    }
  }
  return [...wanted];
}

/** The fields of /proc/PID/stat after the command's name; none for a process that is gone. */
function statOf(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

// Figures of this process, under the names that Prometheus' own clients give them; from /proc 0 on systems without it.

import { readdirSync, readFileSync } from "node:fs";
import { Counter, type Registry } from "prom-client";
import { gauge } from "./read-gauge.ts";

interface ProcessFigures {
  openFiles: number;
  openFilesLimit: number;
}

export function addProcessFigures(registry: Registry): void {
  const figure = (name: string, help: string, read: () => number) =>
    gauge(registry, name, help, read);
  figure("process_resident_memory_bytes", "Resident memory.", () => process.memoryUsage.rss());
  figure("process_open_fds", "Open file descriptors.", () => readProcessFigures().openFiles);
  figure(
    "process_max_fds",
    "File descriptors it may open.",
    () => readProcessFigures().openFilesLimit,
  );
  figure("process_start_time_seconds", "When it started, in seconds since 1970.", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time used.",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
}

function readProcessFigures(): ProcessFigures {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    return {
      openFiles: readdirSync("/proc/self/fd").length,
      openFilesLimit: Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 0),
    };
  } catch {
    return { openFiles: 0, openFilesLimit: 0 };
  }
}

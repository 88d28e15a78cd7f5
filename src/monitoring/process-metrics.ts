// Figures of this process, named as in Prometheus' own clients. On systems without /proc, figures from it are 0.

import { readdirSync } from "node:fs";
import { Counter, type Registry } from "prom-client";
import { readOpenFilesLimit } from "./open-files.ts";
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
    "File descriptors that the process may open.",
    () => readProcessFigures().openFilesLimit,
  );
  figure("process_start_time_seconds", "Start of the process, in seconds since 1970.", () =>
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
    return { openFiles: readdirSync("/proc/self/fd").length, openFilesLimit: readOpenFilesLimit() };
  } catch {
    return { openFiles: 0, openFilesLimit: 0 };
  }
}

// Figures of this process from /proc; 0 on systems without it.

import { readdirSync, readFileSync } from "node:fs";

export interface ProcessFigures {
  openFiles: number;
  openFilesLimit: number;
}

export function readProcessFigures(): ProcessFigures {
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

// The command of this folder.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "report", load: async () => (await import("./reports.ts")).declareReports },
];

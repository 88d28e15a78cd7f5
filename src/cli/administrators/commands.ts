// Commands of this folder.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

/** Commands below `admin`. */
export const commands: readonly DeferredCommand[] = [
  { name: "audit", load: async () => (await import("./audit.ts")).declareAudit },
];

export const panelCommands: readonly DeferredCommand[] = [
  { name: "panel", load: async () => (await import("./administrators.ts")).declarePanel },
];

// Commands of this folder.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "backup", load: async () => (await import("./backup.ts")).declareBackup },
  { name: "restore", load: async () => (await import("./restore.ts")).declareRestore },
  { name: "restored", load: async () => (await import("./restored.ts")).declareRestored },
  { name: "move", load: async () => (await import("./move.ts")).declareMove },
  { name: "verify", load: async () => (await import("./verify.ts")).declareVerify },
];

// Commands of this folder, in the three parts of the program's help that list them.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const startCommands: readonly DeferredCommand[] = [
  { name: "serve", load: async () => (await import("./serve.ts")).declareServe },
  { name: "demo", load: async () => (await import("./demo.ts")).declareDemo },
  { name: "quickstart", load: async () => (await import("./quickstart.ts")).declareQuickstart },
];

export const commands: readonly DeferredCommand[] = [
  { name: "config", load: async () => (await import("./config.ts")).declareConfig },
];

export const checkCommands: readonly DeferredCommand[] = [
  { name: "doctor", load: async () => (await import("./doctor.ts")).declareDoctor },
  { name: "health", load: async () => (await import("./health.ts")).declareHealth },
];

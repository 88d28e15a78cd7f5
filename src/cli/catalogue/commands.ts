// Commands of this folder, each a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "service", load: async () => (await import("./services.ts")).declareServices },
  { name: "grant", load: async () => (await import("./grants.ts")).declareGrants },
];

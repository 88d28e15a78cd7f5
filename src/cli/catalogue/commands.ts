// Commands of this folder, each a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "service", load: async () => (await import("./services.ts")).declareServices },
  { name: "category", load: async () => (await import("./categories.ts")).declareCategories },
  { name: "grant", load: async () => (await import("./grants.ts")).declareGrants },
];

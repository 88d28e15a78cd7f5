// The command of this folder, a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "provider", load: async () => (await import("./providers.ts")).declareProviders },
];

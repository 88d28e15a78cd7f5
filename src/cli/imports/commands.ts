// Commands of this folder, a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "import", load: async () => (await import("./imports.ts")).declareImports },
];

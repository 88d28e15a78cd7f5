// Commands of this folder, each a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "user", load: async () => (await import("./users.ts")).declareUsers },
  { name: "key", load: async () => (await import("./keys.ts")).declareKeys },
];

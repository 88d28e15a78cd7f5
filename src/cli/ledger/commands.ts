// The command of this folder, a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  {
    name: "transaction",
    load: async () => (await import("./transactions.ts")).declareTransactions,
  },
];

// The commands of this folder, groups below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "payment", load: async () => (await import("./payments.ts")).declarePayments },
];

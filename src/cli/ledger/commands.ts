// The commands of this folder, groups below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "invoice", load: async () => (await import("./invoices.ts")).declareInvoices },
  {
    name: "transaction",
    load: async () => (await import("./transactions.ts")).declareTransactions,
  },
];

// Commands of this folder, each a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "order", load: async () => (await import("./orders.ts")).declareOrders },
  { name: "request", load: async () => (await import("./order-requests.ts")).declareOrderRequests },
];

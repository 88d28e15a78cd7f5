// Commands of this folder, each a group below `admin`.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "webhook", load: async () => (await import("./webhooks.ts")).declareWebhooks },
  { name: "alert", load: async () => (await import("./alerts.ts")).declareAlerts },
];

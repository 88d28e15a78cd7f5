// Commands of this folder.

import type { DeferredCommand } from "../kernel/deferred-command.ts";

export const commands: readonly DeferredCommand[] = [
  { name: "version", load: async () => (await import("./version.ts")).declareVersion },
  { name: "upgrade", load: async () => (await import("./upgrade.ts")).declareUpgrade },
  { name: "licenses", load: async () => (await import("./licenses.ts")).declareLicenses },
  {
    name: "completion",
    load: async () => (await import("./completion.ts")).declareCompletion,
    describesAll: true,
  },
  { name: "man", load: async () => (await import("./man-page.ts")).declareMan, describesAll: true },
];

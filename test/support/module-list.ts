// A preload (`bun --preload`) that writes which modules the process loaded, one path per line, into the file MODULE_LIST
// when the process ends.

import { writeFileSync } from "node:fs";

process.on("exit", () => {
  writeFileSync(process.env["MODULE_LIST"]!, Object.keys(require.cache).join("\n"));
});

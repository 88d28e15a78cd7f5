// Resolves the hash that the cuid2 library imports to sha3.ts.

import { join } from "node:path";
import type { BunPlugin } from "bun";

/** What the library imports. */
const REPLACED = /^@noble\/hashes\/sha3$/;
const IMPORTER = /[\\/]@paralleldrive[\\/]cuid2[\\/]/;

export interface NativeSha3 extends BunPlugin {
  /** Throws where the library imports its hash in another way: ids would be made at the old cost. */
  requireUse(): void;
}

export function nativeSha3(): NativeSha3 {
  let isUsed = false;
  return {
    name: "native-sha3",
    setup(build) {
      build.onResolve({ filter: REPLACED }, ({ importer }) => {
        if (!IMPORTER.test(importer)) return undefined;
        isUsed = true;
        return { path: join(import.meta.dir, "sha3.ts") };
      });
    },
    requireUse() {
      if (!isUsed) throw new Error("cuid2 does not import @noble/hashes/sha3: see deploy/sha3.ts");
    },
  };
}

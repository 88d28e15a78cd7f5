// Finds the data directory of an installed package. The package names it in a file beside the program, so that its
// operator need not repeat --data: `/usr/bin/reseller` reads `/usr/lib/reseller/data`, one line with a path.

import { readFileSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const FILE = "../lib/reseller/data";

/** Returns the data directory that the package names, or null. */
export function packagedData(): string | null {
  try {
    const path = readFileSync(join(dirname(process.execPath), FILE), "utf8").trim();
    return isAbsolute(path) && !path.includes("\n") ? path : null;
  } catch {
    return null;
  }
}

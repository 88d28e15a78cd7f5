// Folders of the tests' own.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A fresh, empty folder that does not outlive the tests. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reseller-test-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

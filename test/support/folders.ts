// Folders of the tests' own, which do not outlive them.

import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let parent: string | undefined;
/** Kept, for a pipe that is collected as garbage is closed. */
let guard: Bun.Subprocess<"pipe", "ignore", "ignore"> | undefined;

/** A fresh, empty folder. */
export function freshFolder(): string {
  parent ??= guardedFolder();
  return mkdtempSync(join(parent, "reseller-test-"));
}

/**
 * However this process ends, its end of the pipe closes, and the guard removes the folder. `bun test` calls no
 * listener of a process's end.
 */
function guardedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reseller-tests-"));
  // Some tests run the program as another user, who must reach what the test lets it read.
  chmodSync(folder, 0o711);
  guard = Bun.spawn(["setsid", "sh", "-c", 'read -r _; rm -rf "$0"', folder], {
    stdin: "pipe",
    stdout: "ignore",
    stderr: "ignore",
  });
  guard.unref();
  return folder;
}

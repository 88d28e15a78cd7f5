// Compiles the program into one file with the runtime in it, for this machine or for another.

import { join } from "node:path";
import { ENTRY_POINTS } from "./entry-points.ts";
import { nativeSha3 } from "./native-sha3.ts";

export const ROOT = join(import.meta.dir, "..");

/** `target`: null for this machine; its runtime comes from the npm registry. */
export async function compile(
  target: Bun.Build.CompileTarget | null,
  outfile: string,
): Promise<void> {
  const sha3 = nativeSha3();
  const result = await Bun.build({
    plugins: [sha3],
    entrypoints: ENTRY_POINTS.map((path) => join(ROOT, path)),
    root: join(ROOT, "src"),
    compile: {
      ...(target === null ? {} : { target }),
      outfile,
      // The configuration is flags, variables and what they name; nothing is read from the working directory.
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
    format: "esm",
    // Names stay, so that stack traces can be read.
    minify: { whitespace: true, syntax: true, identifiers: false },
    // Compiled ahead: the program starts in half the time.
    bytecode: true,
    sourcemap: "linked",
    define: {
      "process.env.NODE_ENV": JSON.stringify("production"),
      RESELLER_COMMIT: JSON.stringify(process.env["RESELLER_COMMIT"] || commit()),
    },
  });
  sha3.requireUse();
  for (const message of result.logs) console.error(message);
}

/** Of the work tree; "unknown" where there is none, as in a container's build. */
function commit(): string {
  const { success, stdout } = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], {
    cwd: ROOT,
    stderr: "ignore",
  });
  return success ? stdout.toString().trim() : "unknown";
}

// Compiles the program into one file with the runtime in it, for this machine or for another.

import { mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { ENTRY_POINTS } from "./entry-points.ts";
import { nativeSha3 } from "./native-sha3.ts";

/** Factor for the number of calls after which the JIT compiles a function. It takes a third off the time of a command. */
const JIT_POLICY_AT_START = 32;

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
      // Code that runs once at the start stays in the interpreter. The server sets the usual policy once it has started.
      jitPolicy: JIT_POLICY_AT_START,
    },
    format: "esm",
    // A command line loads only the files of its own command: 60 % of the processor time, 80 % of the memory.
    splitting: true,
    // Names stay, so that stack traces can be read.
    minify: { whitespace: true, syntax: true, identifiers: false },
    // Compiled ahead: the program starts in half the time.
    bytecode: true,
    sourcemap: "linked",
    define: {
      "process.env.NODE_ENV": JSON.stringify("production"),
      RELEASE_URL: JSON.stringify(process.env["RELEASE_NEWEST_URL"] ?? ""),
      RELEASE_KEY: JSON.stringify(process.env["RELEASE_KEY"] ?? ""),
      RESELLER_COMMIT: JSON.stringify(process.env["RESELLER_COMMIT"] || commit()),
    },
  });
  sha3.requireUse();
  moveMaps(result.outputs, `${outfile}.maps`);
  for (const message of result.logs) console.error(message);
}

/** Moves the source maps, which are also in the program, into a folder of their own: their names change from build to build. */
function moveMaps(outputs: readonly Bun.BuildArtifact[], folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const { path } of outputs)
    if (path.endsWith(".map")) renameSync(path, join(folder, basename(path)));
}

/** Of the work tree; "unknown" where there is none, as in a container's build. */
function commit(): string {
  const { success, stdout } = Bun.spawnSync(["git", "rev-parse", "--short=12", "HEAD"], {
    cwd: ROOT,
    stderr: "ignore",
  });
  return success ? stdout.toString().trim() : "unknown";
}

// The program and the writer's thread as one file each with its bytecode, bundled as the binary is: from some three hundred files of
// source a process takes five times as long to start, a thread three times. Kept by what is in the source, so that all
// processes of a run take the same ones. Three processes take the files of `bun run test`, slowest first: one more than
// the two cores, because some tests wait for a real timer.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, relative } from "node:path";
import { ENTRY_POINTS } from "../../deploy/entry-points.ts";
import { WRITER_THREAD } from "../../src/config/source-files.ts";
import type { Migration } from "../../src/db/port/database-state.ts";
import type { Engine } from "./databases/engine.ts";

const ROOT = join(import.meta.dir, "../..");
const SRC = join(ROOT, "src");
const KEPT = join(ROOT, "node_modules/.cache/reseller-tests");
/** After this long no run can be using them any more. */
const KEPT_MS = 24 * 3_600_000;

/** The entry file of the writer's thread. */
export async function bundledThread(): Promise<URL> {
  return new URL(`file://${await (thread ??= bundle("thread", [WRITER_THREAD.pathname]))}`);
}
let thread: Promise<string> | undefined;

/** The beginning of a command line that starts the program. */
export async function bundledProgram(): Promise<string[]> {
  program ??= bundle(
    "program",
    ENTRY_POINTS.map((path) => join(ROOT, path)),
  );
  return [process.execPath, await program];
}
let program: Promise<string> | undefined;

/** The same for a program with one more migration for each engine: test/support/databases/next-version.ts. */
export async function bundledNextProgram(added: Record<Engine, Migration>): Promise<string[]> {
  const paths = ENTRY_POINTS.map((path) => join(ROOT, path));
  nextProgram ??= bundle("next-program", paths, [withMigrations(added)]);
  return [process.execPath, await nextProgram];
}
let nextProgram: Promise<string> | undefined;

/** Adds a migration to the list of each engine. */
function withMigrations(added: Record<Engine, Migration>): Bun.BunPlugin {
  return {
    name: "with-migrations",
    setup(build) {
      build.onLoad({ filter: /\/src\/.*\/migrate\.ts$/ }, async ({ path }) => {
        const migration = added[path.includes("/postgres/") ? "postgres" : "sqlite"];
        const source = await Bun.file(path).text();
        const contents = source.replace(
          /(MIGRATIONS: readonly Migration\[\] = \[[^\]]*)\]/,
          (_, before) => `${before}${JSON.stringify(migration)}]`,
        );
        return { contents, loader: "ts" };
      });
    },
  };
}

/** The file that the first entry became. */
async function bundle(
  name: string,
  entries: readonly string[],
  plugins: readonly Bun.BunPlugin[] = [],
): Promise<string> {
  const folder = join(KEPT, `${name}-${await sourceHash()}`);
  const made = relative(SRC, entries[0]!).replace(/\.ts$/, ".js");
  const file = join(folder, made);
  if (existsSync(file)) return file;
  mkdirSync(KEPT, { recursive: true });
  removeOld();
  const outdir = mkdtempSync(join(KEPT, "new-"));
  await Bun.build({
    entrypoints: [...entries],
    root: SRC,
    outdir,
    target: "bun",
    // Bytecode beside a file is for CommonJS alone.
    format: "cjs",
    bytecode: true,
    plugins: [startsItself(folder), ...plugins],
  });
  try {
    renameSync(outdir, folder);
  } catch (error) {
    // Another process was faster.
    if (!existsSync(file)) throw error;
    rmSync(outdir, { recursive: true });
  }
  return file;
}

/** In CommonJS a module knows the path of its source alone: what the program starts is to be beside it, in that folder. */
function startsItself(folder: string): Bun.BunPlugin {
  const url = (path: string) => `new URL(${JSON.stringify(`file://${join(folder, path)}`)})`;
  const contents = `
    export const WRITER_THREAD = ${url("writer/thread.js")};
    export const COPY_THREAD = ${url("storage/backup/copy-thread.js")};
    export const PROGRAM = [process.execPath, ${JSON.stringify(join(folder, "main.js"))}];
  `;
  return {
    name: "starts-itself",
    setup(build) {
      build.onLoad({ filter: /\/src\/config\/source-files\.ts$/ }, () => ({
        contents,
        loader: "ts",
      }));
    },
  };
}

let hashed: Promise<string> | undefined;

function sourceHash(): Promise<string> {
  return (hashed ??= hashOfSource());
}

/** Returns a hash of all files that a bundle is made from. */
async function hashOfSource(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  const paths = [
    ...new Bun.Glob("{src,migrations}/**").scanSync({ cwd: ROOT, dot: true }),
  ].toSorted();
  for (const path of [
    ...paths,
    "bun.lock",
    "package.json",
    "tsconfig.json",
    relative(ROOT, import.meta.path),
    "test/support/databases/next-version.ts",
  ]) {
    hash.update(`${path}\0`);
    hash.update(await Bun.file(join(ROOT, path)).bytes());
  }
  return hash.update(Bun.revision).digest("hex").slice(0, 20);
}

function removeOld(): void {
  for (const name of readdirSync(KEPT)) {
    const path = join(KEPT, name);
    const { mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { mtimeMs: Infinity };
    if (Date.now() - mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

// `bun run test` makes them before its processes begin, which would make them at the same time.
if (import.meta.main) await Promise.all([bundledThread(), bundledProgram()]);

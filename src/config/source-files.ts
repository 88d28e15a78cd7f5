// The files that this program starts by URL: the entry files of its threads, and itself. The paths below are those of
// the source tree; in the compiled binary every module is bundled into one file below `src`, and each thread is an entry point of
// its own beside it (deploy/entry-points.ts).

/** Paths in Bun's file system of a compiled binary: `/$bunfs/` on Linux and macOS, `B:\~BUN\` on Windows. */
const IS_COMPILED = /\$bunfs|~BUN/.test(import.meta.url);
const SRC = new URL(IS_COMPILED ? "./" : "../", import.meta.url);

export const WRITER_THREAD = new URL("writer/thread.ts", SRC);
export const COPY_THREAD = new URL("storage/copy-thread.ts", SRC);

/** The beginning of a command line that starts this program again. */
export const PROGRAM: readonly string[] = IS_COMPILED
  ? [process.execPath]
  : [process.execPath, new URL("main.ts", SRC).pathname];

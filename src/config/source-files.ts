// The files that this program starts by URL: the entry files of its threads, and the program itself. The paths below
// are those of the source tree. In the compiled binary every module is bundled into one file below `src`, and each
// thread is a separate entry point beside it (deploy/entry-points.ts).

/** Matches paths in the file system of a compiled Bun binary: `/$bunfs/` on Linux and macOS, `B:\~BUN\` on Windows. */
const IS_COMPILED = /\$bunfs|~BUN/.test(import.meta.url);
const SRC = new URL(IS_COMPILED ? "./" : "../", import.meta.url);

export const WRITER_THREAD = new URL("writer/thread.ts", SRC);
export const COPY_THREAD = new URL("storage/backup/copy-thread.ts", SRC);

/** The first words of a command line that starts this program again. */
export const PROGRAM: readonly string[] = IS_COMPILED
  ? [process.execPath]
  : [process.execPath, new URL("main.ts", SRC).pathname];

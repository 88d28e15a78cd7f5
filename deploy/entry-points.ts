// The entry points of the binary: the program and its threads, which src/config/source-files.ts starts by these paths.

export const ENTRY_POINTS = [
  "src/main.ts",
  "src/writer/thread.ts",
  "src/storage/backup/copy-thread.ts",
];

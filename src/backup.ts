// Making a backup, from `backup` and from the server: where its thread is, in source and in the binary.

import { type Backup, type BackupEvents, backUp } from "./storage/copy.ts";

/** Named from this folder, where it is in the binary too. */
const COPY_THREAD = new URL("./storage/copy-thread.ts", import.meta.url);

export function makeBackup(path: string, target: string, events: BackupEvents): Promise<Backup> {
  return backUp(COPY_THREAD, path, target, events);
}

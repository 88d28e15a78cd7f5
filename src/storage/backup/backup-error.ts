// The error of backups, off-site copies and restores.

/** Thrown when a copy could not be made or cannot be used. The message is one sentence for the operator. */
export class BackupError extends Error {
  override name = "BackupError";
}

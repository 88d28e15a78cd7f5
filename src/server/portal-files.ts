// Reads files of the portal. A module of its own, because the portal is loaded only if it is on.

/** Thrown for a file of the portal that cannot be used. */
export class PortalFileError extends Error {
  override name = "PortalFileError";
}

/** Reads the file that a setting names. Throws PortalFileError, which names the setting and the file. */
export function readPortalFile<T>(flag: string, path: string, read: (path: string) => T): T {
  try {
    return read(path);
  } catch (error) {
    throw new PortalFileError(`--${flag} ${path}: ${(error as Error).message}`);
  }
}

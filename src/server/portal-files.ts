// The error for a file of the portal, apart from the portal, which is loaded only if it is on.

/** Thrown for a file of the portal that cannot be used. */
export class PortalFileError extends Error {
  override name = "PortalFileError";
}

// The error for a file of the portal. It has a module of its own, because the portal is loaded only if it is on.

/** Thrown for a file of the portal that cannot be used. */
export class PortalFileError extends Error {
  override name = "PortalFileError";
}

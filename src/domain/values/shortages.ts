// System errors for a new connection when this machine lacks resources.

/** Codes for a lack of file descriptors or local ports. Nothing was connected, so nothing was sent. */
export const SHORTAGE_CODES: readonly string[] = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

// System errors that mean that this machine lacks resources for a new connection.

/** Out of descriptors (of the process or the machine) or local ports. Nothing was connected, so nothing was sent. */
export const SHORTAGE_CODES: readonly string[] = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

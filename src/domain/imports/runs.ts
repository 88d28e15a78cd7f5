// The run of an import from another panel. docs/specification/imports.md#moving-in.

/** Time for which an import counts as running after it last said so. */
export const IMPORT_LEASE_MS = 30_000;
/** Time between two renewals. */
export const IMPORT_RENEWAL_MS = 5000;

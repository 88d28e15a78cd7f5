// Inspections ("View as"): an administrator sees the portal as members of a reseller with some role see it, and can
// change nothing there.

import { MINUTE_MS } from "../values/spans.ts";
import type { Role } from "../administrators/administrators.ts";

/** The least role of an administrator who may inspect: who answers customers reads all that they see anyway. */
export const INSPECTOR: Role = "support";
/** How long the link works, once. */
export const INSPECTION_LINK_MS = MINUTE_MS;
/** An inspection ends after this time. */
export const INSPECTION_MS = 30 * MINUTE_MS;
/** The same in words. */
export const INSPECTION_LINK_TIME = "a minute";
export const INSPECTION_TIME = `${INSPECTION_MS / MINUTE_MS} minutes`;

/** Returns when the inspection, or its link, ends. */
export function inspectionEnd({
  createdAt,
  openedAt,
}: {
  createdAt: number;
  openedAt: number | null;
}): number {
  return openedAt === null ? createdAt + INSPECTION_LINK_MS : openedAt + INSPECTION_MS;
}

/** Why an inspection ended, as the audit log says it. */
export type InspectionCause =
  "closed" | "replaced by another" | "time is up" | "signed out of the panel" | "portal is off";

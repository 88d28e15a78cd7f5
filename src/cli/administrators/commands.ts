// Commands of this folder.

import { declarePanel } from "./administrators.ts";
import { declareAudit } from "./audit.ts";

/** Below `admin`. */
export const commands = [declareAudit];

export const panelCommands = [declarePanel];

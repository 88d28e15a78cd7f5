// Commands of this folder.

import { declarePanel } from "./administrators.ts";
import { declareAudit } from "./audit.ts";

/** Commands below `admin`. */
export const commands = [declareAudit];

export const panelCommands = [declarePanel];

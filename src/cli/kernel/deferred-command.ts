// A command whose module is loaded only for command lines that name it: loading all of them takes longer than most
// commands run.

import type { Command } from "commander";

export interface DeferredCommand {
  /** Its word after the program's name, or after `admin`. */
  name: string;
  /** Loads the function that declares it. */
  load: () => Promise<(parent: Command) => void>;
  /** Set for a command that describes all others. */
  describesAll?: true;
}

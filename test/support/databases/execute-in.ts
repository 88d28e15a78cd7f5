// A command as one step of a transaction that a test holds open.

import type { Tx } from "../../../src/db/port/port.ts";
import { createCommandIds } from "../../../src/operations/batch/execute.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  runCommand,
} from "../../../src/operations/batch/commands.ts";
import { createContext } from "../../../src/operations/batch/context.ts";

export function executeIn<Name extends CommandName>(
  tx: Tx,
  name: Name,
  input: CommandInput<Name>,
  now: number,
): CommandOutput<Name> {
  return runCommand(
    tx,
    name,
    input,
    createContext(now, createCommandIds(name, input), crypto.randomUUID()),
  );
}

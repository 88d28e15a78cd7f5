// A command as one step of a transaction that a test holds open.

import type { Tx } from "../../src/db/port.ts";
import { createCommandIds } from "../../src/operations/command-ids.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  runCommand,
} from "../../src/operations/commands.ts";
import { contextOf } from "../../src/operations/context.ts";

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
    contextOf(now, createCommandIds(name, input), crypto.randomUUID()),
  );
}

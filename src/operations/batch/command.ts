// What a command is: the function that runs it, and what is known of it before it runs.

import type { Need, Tx } from "../../db/port/port.ts";
import type { Context } from "./context.ts";

export interface Command<Input, Output> extends Prepared<Input> {
  run: (tx: Tx, input: Input, context: Context) => Output;
}

interface Prepared<Input> {
  /**
   * Returns the maximum number of ids that the command takes. They are made before it runs and sent with it. So a
   * command that runs again uses the same ids, and no transaction stays open while ids are made.
   */
  ids: (input: Input) => number;
  /**
   * Returns what the command reads and which numbers it takes. PostgreSQL loads this for a whole batch at once. It is
   * for speed only: what is missing is loaded when the command asks for it.
   */
  needs: (input: Input) => Need[];
}

/** Describes a command. Without `ids` it creates nothing with an id. Without `needs` its rows are loaded as it runs. */
export function command<Input, Output>(
  run: Command<Input, Output>["run"],
  { ids = () => 0, needs = () => [] }: Partial<Prepared<Input>> = {},
): Command<Input, Output> {
  return { run, ids, needs };
}

/** Counts the ids of a command that creates one row with an id. */
export function one(): number {
  return 1;
}

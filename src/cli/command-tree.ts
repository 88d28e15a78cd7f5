// The commands as they are declared, for whatever lists them: shell completion, the manual page, `help`.

import type { Command, Option } from "commander";

export interface Listed {
  /** Its words below the program, such as `admin user create`; empty: the program itself. */
  words: string;
  command: Command;
}

/** Every command and every group, the program first. */
export function listCommands(command: Command, words: readonly string[] = []): Listed[] {
  const below = command.commands.flatMap((child) => listCommands(child, [...words, child.name()]));
  return [{ words: words.join(" "), command }, ...below];
}

/** Whether it does something by itself: it has no subcommands, or arguments besides, as `backup` has. */
export function isRunnable({ commands, registeredArguments }: Command): boolean {
  return commands.length === 0 || registeredArguments.length > 0;
}

/** Without those that are given by variable alone. */
export function visibleOptions({ options }: Command): Option[] {
  return options.filter(({ hidden }) => !hidden);
}

/** The command that `words` name, and the first word that names none; null: each names one. */
export function findCommand(
  program: Command,
  words: readonly string[],
): { command: Command; unknown: string | null } {
  let command = program;
  for (const word of words) {
    const child = command.commands.find((other) => other.name() === word);
    if (!child) return { command, unknown: word };
    command = child;
  }
  return { command, unknown: null };
}

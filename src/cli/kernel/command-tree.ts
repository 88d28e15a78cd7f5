// Lists the declared commands for shell completion, the manual page and `help`.

import type { Command, Option } from "commander";

export interface Listed {
  /** The command's words after the program's name, such as `admin user create`; empty for the program itself. */
  words: string;
  command: Command;
}

/** Returns every command and every group, the program first. */
export function listCommands(command: Command, words: readonly string[] = []): Listed[] {
  const below = command.commands.flatMap((child) => listCommands(child, [...words, child.name()]));
  return [{ words: words.join(" "), command }, ...below];
}

/**
 * Returns whether the command does something by itself: it has no subcommands, or also takes arguments, as `backup`
 * does.
 */
export function isRunnable({ commands, registeredArguments }: Command): boolean {
  return commands.length === 0 || registeredArguments.length > 0;
}

/** Returns the options without those that can only be given by variable. */
export function visibleOptions({ options }: Command): Option[] {
  return options.filter(({ hidden }) => !hidden);
}

/** Returns the command that `words` name, and the first word that is not a command, or null. */
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

// `man`: the manual page, made from the commands as they are declared. Completion: completion-scripts.ts.

import type { Command } from "commander";
import packageJson from "../../package.json" with { type: "json" };
import { type CommonOptions, declare } from "./command.ts";
import { isRunnable, listCommands, visibleOptions } from "./command-tree.ts";
import { print } from "./output.ts";

export function declareMan(program: Command): void {
  declare(
    program,
    "man",
    "print the manual page, with every command and flag",
    "reseller man > /usr/local/share/man/man1/reseller.1",
  ).action(({ json }: CommonOptions) => {
    print(json, { page: manPage(program) }, ({ page }) => page.trimEnd());
  });
}

/** reseller(1), in man's macros. `date`: of a release, in seconds since 1970. */
export function manPage(program: Command, date?: number): string {
  const day = date === undefined ? "" : new Date(date * 1000).toISOString().slice(0, 10);
  const runnable = listCommands(program).filter(({ command }) => isRunnable(command));
  const commands = runnable.flatMap(({ words, command }) => [
    ".SS",
    escaped(
      `reseller ${words} ${command.usage().replace("[options] ", "").replace("[options]", "")}`.trim(),
    ),
    escaped(`${command.description()}.`),
    ...visibleOptions(command).flatMap((option) => [
      ".TP",
      `.B ${escaped(option.flags)}`,
      escaped(`${option.description}${defaultOf(option.defaultValueDescription)}`),
    ]),
  ]);
  return [
    `.TH RESELLER 1 "${day}" "reseller ${packageJson.version}" "User Commands"`,
    ".SH NAME",
    "reseller \\- a self-hosted reseller ordering service",
    ".SH DESCRIPTION",
    "Takes orders for catalogue services over a JSON API and charges them to prepaid balances. Each option can be given",
    "by a variable too: \\-\\-rate\\-limit by RESELLER_RATE_LIMIT, or by the file that RESELLER_RATE_LIMIT_FILE names.",
    ".SH COMMANDS",
    ...commands,
    ".SH EXIT STATUS",
    "0 done, 1 refused or failed, 2 wrong usage, 141 done but nobody read the result.",
    "",
  ].join("\n");
}

function defaultOf(text: string | undefined): string {
  return text === undefined ? "" : ` (default: ${text})`;
}

/** Text in which man sees no request and no escape. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}

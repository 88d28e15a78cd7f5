// `man`: prints the manual page, which is generated from the declared commands. Completion: completion-scripts.ts.

import type { Command } from "commander";
import packageJson from "../../../package.json" with { type: "json" };
import { DEFAULT_ENV_FILE } from "../../config/settings.ts";
import { type CommonOptions, declare, withoutSettingsFile } from "../kernel/command.ts";
import { isRunnable, listCommands, visibleOptions } from "../kernel/command-tree.ts";
import { print } from "../output/output.ts";

export function declareMan(program: Command): void {
  withoutSettingsFile(
    declare(
      program,
      "man",
      "print the manual page, with every command and flag",
      "reseller man > /usr/local/share/man/man1/reseller.1",
    ),
  ).action(({ json }: CommonOptions) => {
    print(json, { page: manPage(program) }, ({ page }) => page.trimEnd());
  });
}

/** Returns reseller(1) in man's macros. `date`: release date in seconds since 1970. */
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
    "Takes orders for catalogue services over a JSON API and charges them to prepaid balances. Settings can",
    "also be given by variables: \\-\\-rate\\-limit by RESELLER_RATE_LIMIT, or by the file that RESELLER_RATE_LIMIT_FILE names.",
    `Variables may also be in the file of \\-\\-env\\-file, by default ${DEFAULT_ENV_FILE}.`,
    ".SH COMMANDS",
    ...commands,
    ".SH FILES",
    ".TP",
    `.B ${DEFAULT_ENV_FILE}`,
    "Settings of the service, one RESELLER_\\&...=value per line; the commands read them too.",
    ".SH EXIT STATUS",
    "0 done, 1 refused or failed, 2 wrong usage, 141 done but nobody read the result.",
    "",
  ].join("\n");
}

function defaultOf(text: string | undefined): string {
  return text === undefined ? "" : ` (default: ${text})`;
}

/** Escapes text so that man finds no request or escape in it. */
function escaped(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
}

// The manual page and the shell completion, made from the commands as they are declared.

import type { Command } from "commander";
import packageJson from "../package.json" with { type: "json" };
import { createProgram } from "../src/cli/program.ts";

interface Leaf {
  /** Its words, such as `admin user create`. */
  words: string;
  command: Command;
}

/** The commands that do something: those without subcommands, and `backup`. */
function leaves(command: Command, words: readonly string[] = []): Leaf[] {
  const below = command.commands.flatMap((child) => leaves(child, [...words, child.name()]));
  const isLeaf = command.commands.length === 0 || command.registeredArguments.length > 0;
  return isLeaf ? [{ words: words.join(" "), command }, ...below] : below;
}

const visible = (command: Command) => command.options.filter(({ hidden }) => !hidden);

/** reseller(1), in man's macros. `date`: in seconds since 1970. */
export function manPage(date: number): string {
  const day = new Date(date * 1000).toISOString().slice(0, 10);
  const commands = leaves(createProgram()).flatMap(({ words, command }) => [
    ".SS",
    escaped(
      `reseller ${words} ${command.usage().replace("[options] ", "").replace("[options]", "")}`.trim(),
    ),
    escaped(`${command.description()}.`),
    ...visible(command).flatMap((option) => [
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

/** For bash: the words of the commands, then the flags of the one that was typed. */
export function bashCompletion(): string {
  const program = createProgram();
  const cases: string[] = [];
  const add = (command: Command, words: readonly string[]) => {
    const children = command.commands.map((child) => child.name());
    const flags = visible(command).flatMap(({ long }) => (long ? [long] : []));
    cases.push(
      `    "${words.join(" ")}") words="${[...children, ...flags, "--help"].join(" ")}" ;;`,
    );
    for (const child of command.commands) add(child, [...words, child.name()]);
  };
  add(program, []);
  return `# Completion of reseller for bash, made by deploy/command-line.ts.
_reseller() {
  local typed="" word words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    case $word in -*) break ;; esac
    _reseller_words "$typed\${typed:+ }$word" && typed="$typed\${typed:+ }$word"
  done
  _reseller_words "$typed"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
# The words that may follow; false for what is no command.
_reseller_words() {
  case $1 in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
complete -o default -F _reseller reseller
`;
}

// Writes shell completion scripts from the declared commands: their words, flags, and the values of flags with a
// fixed set of values. Elsewhere the shell completes file names.

import type { Command, Option } from "commander";
import { type Listed, listCommands, visibleOptions } from "../kernel/command-tree.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** The allowed values of a flag of one command. `words`: the command's name, such as `admin user list`. */
interface Choice {
  words: string;
  flag: string;
  choices: readonly string[];
}

export function completionScript(shell: Shell, program: Command): string {
  const commands = listCommands(program);
  if (shell === "bash") return bashScript(commands);
  return shell === "zsh" ? zshScript(commands) : fishScript(commands);
}

function bashScript(commands: readonly Listed[]): string {
  const words = commands.map(({ words, command }) => {
    const after = [...wordsAfter(command), ...describedFlags(command)].map(([word]) => word);
    return `    "${words}") words="${after.join(" ")}" ;;`;
  });
  return `# Completion of reseller for bash: source it, or write it to /usr/share/bash-completion/completions/reseller.
_reseller() {
  local typed="" word words="" index current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]}
  # \`--status=P\` is three words to bash.
  if [[ $current == = ]]; then current=""; elif [[ $before == = ]]; then before=\${COMP_WORDS[COMP_CWORD - 2]}; fi
  for ((index = 1; index < COMP_CWORD; index++)); do
    word=\${COMP_WORDS[index]}
    _reseller_words "$typed\${typed:+ }$word" && typed="$typed\${typed:+ }$word"
  done
  _reseller_values "$typed" "$before" || _reseller_words "$typed"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
# Sets the values of a flag. Fails if the word is not a flag with a choice of values.
_reseller_values() {
  case "$1 $2" in
${choicesOf(commands)
  .map(
    ({ words, flag, choices }) =>
      `    "${`${words} ${flag}`}") words="${choices.join(" ")}"; return ;;`,
  )
  .join("\n")}
  esac
  case $2 in
    ${flagsWithValue(commands).join("|")}) words="" ;;
    *) return 1 ;;
  esac
}
# Sets the words that may follow. Fails if the words are not a command.
_reseller_words() {
  case $1 in
${words.join("\n")}
    *) return 1 ;;
  esac
}
complete -o default -F _reseller reseller
`;
}

function zshScript(commands: readonly Listed[]): string {
  const list = (items: readonly (readonly [string, string])[]) =>
    items.map(([name, text]) => quoted(`${name}:${text.replaceAll(":", "\\:")}`)).join(" ");
  const cases = commands.map(({ words, command }) => {
    return `    ${quoted(words)}) commands=(${list(wordsAfter(command))}); options=(${list(describedFlags(command))}) ;;`;
  });
  return `#compdef reseller
# Completion of reseller for zsh: write it to a file _reseller in a folder of $fpath, or source it after compinit.
_reseller() {
  local typed="" word
  local -a commands options
  for word in "\${(@)words[2,CURRENT-1]}"; do
    _reseller_words "$typed\${typed:+ }$word" && typed="$typed\${typed:+ }$word"
  done
  case "$typed $words[CURRENT-1]" in
${choicesOf(commands)
  .map(
    ({ words, flag, choices }) =>
      `    ${quoted(`${words} ${flag}`)}) compadd -- ${choices.join(" ")}; return ;;`,
  )
  .join("\n")}
  esac
  case $words[CURRENT-1] in
    ${flagsWithValue(commands).join("|")}) _files; return ;;
  esac
  _reseller_words "$typed"
  if [[ $words[CURRENT] == -* ]]; then _describe -o option options; return; fi
  if (( $#commands )); then _describe command commands; else _files; fi
}
# Offers what may follow. Fails if the words are not a command.
_reseller_words() {
  case $1 in
${cases.join("\n")}
    *) return 1 ;;
  esac
}
if [[ $funcstack[1] == _reseller ]]; then _reseller "$@"; else compdef _reseller reseller; fi
`;
}

function fishScript(commands: readonly Listed[]): string {
  const rules = commands.flatMap(({ words, command }) => {
    const at = `complete -c reseller -n ${quoted(`__reseller_at ${quoted(words)}`)}`;
    return [
      ...wordsAfter(command).map(([word, text]) => `${at} -f -a ${word} -d ${quoted(text)}`),
      ...visibleOptions(command).flatMap((option) => fishOption(at, option)),
      `${at} -l help -d ${quoted("show how it is used")}`,
    ];
  });
  return `# Completion of reseller for fish: write it to ~/.config/fish/completions/reseller.fish.
set -g __reseller_commands ${commands.map(({ words }) => quoted(words)).join(" ")}
function __reseller_at
    set -l typed ""
    for word in (commandline -opc)[2..-1]
        set -l longer (string trim -- "$typed $word")
        if contains -- "$longer" $__reseller_commands
            set typed $longer
        end
    end
    test "$typed" = "$argv[1]"
end
${rules.join("\n")}
`;
}

function fishOption(at: string, option: Option): string[] {
  const { long, argChoices, required, description } = option;
  if (!long) return [];
  const values = argChoices ? `-x -a ${quoted(argChoices.join(" "))} ` : required ? "-r " : "";
  return [`${at} -l ${long.slice(2)} ${values}-d ${quoted(description)}`];
}

/**
 * Returns the words that may follow a command besides flags, with descriptions: subcommands, or the allowed values of
 * an argument.
 */
function wordsAfter({ commands, registeredArguments }: Command): (readonly [string, string])[] {
  const values = registeredArguments.flatMap(({ argChoices = [], description }) =>
    argChoices.map((choice) => [choice, description] as const),
  );
  return [...commands.map((child) => [child.name(), child.description()] as const), ...values];
}

/** Returns the flags of a command with their descriptions, including `--help`, which commander adds by itself. */
function describedFlags(command: Command): (readonly [string, string])[] {
  const described = visibleOptions(command).flatMap(({ long, description }) =>
    long ? [[long, description] as const] : [],
  );
  return [...described, ["--help", "show how it is used"]];
}

function choicesOf(commands: readonly Listed[]): Choice[] {
  return commands.flatMap(({ words, command }) =>
    visibleOptions(command).flatMap(({ long, argChoices }) =>
      long && argChoices ? [{ words, flag: long, choices: argChoices }] : [],
    ),
  );
}

/** Returns the flags that take a value. A flag name that takes a value in one command takes one in all. */
function flagsWithValue(commands: readonly Listed[]): string[] {
  const options = commands.flatMap(({ command }) => visibleOptions(command));
  return [...new Set(options.flatMap(({ long, required }) => (long && required ? [long] : [])))];
}

/** Puts text in single quotes, in a form that all three shells accept. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}

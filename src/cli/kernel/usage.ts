// Shortens commander's messages about wrong usage: `--port must be a port from 0 to 65535, not "x"`.

/** Limit for the characters of a wrong value that a message repeats. */
const SHOWN_LENGTH = 60;

const ARGUMENT = /^error: command-argument value '(.*)' is invalid for argument '(.+?)'\. (.+)$/s;
const OPTION = /^error: option '(?:-\w, )?(--[\w-]+).*?' argument '(.*)' is invalid\. (.+)$/s;
const VARIABLE = /^error: option '.+?' value '(.*)' from env '(\w+)' is invalid\. (.+)$/s;

/** An unknown flag with a value, which may be a secret: `--key=…` instead of `--key-stdin`. */
const UNKNOWN = /^(error: unknown option '--[^=']+)=.*'/s;

/** Rewrites commander's message about a wrong value. Any other message is returned without the value of a flag. */
export function usageError(message: string): string {
  const text = message.trimEnd();
  const argument = ARGUMENT.exec(text);
  if (argument) return sentence(argument[2]!.toUpperCase(), argument[3]!, argument[1]!);
  const option = OPTION.exec(text);
  if (option) return sentence(option[1]!, option[3]!, option[2]!);
  const variable = VARIABLE.exec(text);
  if (variable) return sentence(variable[2]!, variable[3]!, variable[1]!);
  return `${text.replace(UNKNOWN, "$1'")}\n`;
}

function sentence(subject: string, problem: string, value: string): string {
  const must = problem.replace(/^Allowed choices are /, "must be one of ").replace(/\.$/, "");
  if (value.trim() === "") return `error: ${subject} ${must}\n`;
  const shown = value.length > SHOWN_LENGTH ? `${value.slice(0, SHOWN_LENGTH)}…` : value;
  return `error: ${subject} ${must}, not ${JSON.stringify(shown)}\n`;
}

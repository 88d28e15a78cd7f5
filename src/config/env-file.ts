// Parses environment files as systemd does for EnvironmentFile= in a unit (parse_env_file of its env-file.c), so that
// a command reads the same values as the server. A file that versions of systemd read differently is refused.

/** Thrown for a file that systemd would not read completely, or that its versions read differently. */
export class EnvFileError extends Error {
  override name = "EnvFileError";
}

const NEWLINE = "\n\r";
const WHITESPACE = " \t\n\r";
/** The characters that a backslash escapes between double quotes. Before any other character the backslash is kept. */
const ESCAPED_IN_QUOTES = '"\\`$';

type State =
  | "before key"
  | "key"
  | "before value"
  | "value"
  | "value escape"
  | "single quotes"
  | "double quotes"
  | "double quotes escape"
  | "comment"
  | "comment escape";

/** Returns the last assignment of each name, including names that no variable can have. */
export function parseEnvFile(text: string): Map<string, string> {
  const assignments = new Map<string, string>();
  let state: State = "before key";
  let [key, value] = ["", ""];
  /** Length of the value without trailing blanks, which count only if they were quoted. */
  let kept = 0;
  let line = 1;
  const add = (character: string, isKept = true) => {
    value += character;
    if (isKept) kept = value.length;
  };
  const assign = () => {
    assignments.set(key.replace(/[ \t]+$/, ""), value.slice(0, kept));
    [key, value, kept] = ["", "", 0];
  };
  for (const character of text) {
    const isNewline = NEWLINE.includes(character);
    const isBlank = WHITESPACE.includes(character);
    if (character === "\n") line++;
    switch (state) {
      case "before key":
        if ("#;".includes(character)) state = "comment";
        else if (!isBlank) [state, key] = ["key", character];
        break;
      case "key":
        if (isNewline) state = "before key";
        else if (character === "=") state = "before value";
        else key += character;
        break;
      case "before value":
      case "value":
        if (isNewline) {
          assign();
          state = "before key";
        } else if (character === "\\") {
          // Blanks before an escape are part of the value.
          kept = value.length;
          state = "value escape";
        } else if (state === "before value" && character === "'") state = "single quotes";
        else if (state === "before value" && character === '"') state = "double quotes";
        else if (state === "value" || !isBlank) {
          add(character, !isBlank);
          state = "value";
        }
        break;
      case "value escape":
        if (!isNewline) add(character);
        state = "value";
        break;
      case "single quotes":
        if (character === "'") state = "before value";
        else add(character);
        break;
      case "double quotes":
        if (character === '"') state = "before value";
        else if (character === "\\") state = "double quotes escape";
        else add(character);
        break;
      case "double quotes escape":
        if (ESCAPED_IN_QUOTES.includes(character)) add(character);
        else if (character !== "\n") add(`\\${character}`);
        state = "double quotes";
        break;
      case "comment":
        if (isNewline) state = "before key";
        else if (character === "\\") state = "comment escape";
        break;
      case "comment escape":
        // Up to systemd 253 the next line belongs to the comment; in later versions it does not.
        if (isNewline) {
          throw new EnvFileError(
            `line ${line - 1} is a comment that ends in a backslash: remove it`,
          );
        }
        state = "comment";
        break;
    }
  }
  // The last line may lack its end; systemd takes quotes as closed there.
  if (!["before key", "key", "comment", "comment escape"].includes(state)) assign();
  return assignments;
}

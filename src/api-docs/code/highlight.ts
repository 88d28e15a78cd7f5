// Splits code into tokens for colours. It knows only what the examples and samples contain.

export type Syntax = "shell" | "javascript" | "python" | "php" | "json" | "text";

/** Kinds of tokens: comment, string, number, keyword, name. Each is a class of the stylesheet. */
type Kind = "c" | "s" | "n" | "k" | "v";

export interface Token {
  kind: Kind | null;
  text: string;
}

const words = (text: string) => String.raw`\b(?:${text.replaceAll(" ", "|")})\b`;
const DOUBLE = String.raw`"(?:\\.|[^"\\])*"`;
const SINGLE = String.raw`'(?:\\.|[^'\\])*'`;
const NUMBER = String.raw`(?<n>(?<![\w.])\d[\d_]*(?:\.\d+)?\b)`;
const SLASHES = String.raw`(?<c>(?<![:\w])//.*|/\*[^]*?\*/)`;

/** The tokens of each syntax as alternatives; the name of a group is its kind. */
const PATTERNS: Record<Exclude<Syntax, "text">, string> = {
  shell: String.raw`(?<c>(?<=^|\s)#.*)|(?<s>'[^']*'|${DOUBLE})|(?<k>(?<=\s)--?[a-zA-Z][\w-]*|${words("curl export if then fi for in do done case esac while continue exit set")})|(?<v>\$\w+|\$\{[^}]*\})`,
  javascript: `${SLASHES}|(?<s>${DOUBLE}|${SINGLE}|\`[^\`]*\`)|(?<k>${words("import from const let function async await return if else for of in new try catch throw typeof while continue break true false null undefined export")})|${NUMBER}`,
  python: `(?<c>#.*)|(?<s>"""[^]*?"""|[bf]?${DOUBLE}|[bf]?${SINGLE})|(?<k>${words("import from as def class return if elif else for in while try except with not and or is raise pass None True False continue break global lambda")})|${NUMBER}`,
  php: String.raw`${SLASHES}|(?<s>${DOUBLE}|${SINGLE})|(?<k><\?php|${words("function return if else elseif foreach as for while array string int void echo exit null true false new try catch global static match continue break")})|(?<v>\$\w+)|${NUMBER}`,
  json: String.raw`(?<v>${DOUBLE}(?=\s*:))|(?<s>${DOUBLE})|(?<k>\b(?:true|false|null)\b)|(?<n>-?\b\d+(?:\.\d+)?\b)`,
};

/** Returns the tokens; their texts together are the code. */
export function tokensOf(code: string, syntax: Syntax): Token[] {
  if (syntax === "text") return [{ kind: null, text: code }];
  const tokens: Token[] = [];
  let end = 0;
  for (const match of code.matchAll(new RegExp(PATTERNS[syntax], "gm"))) {
    if (match.index > end) tokens.push({ kind: null, text: code.slice(end, match.index) });
    const [kind] = Object.entries(match.groups!).find(([, text]) => text !== undefined)!;
    tokens.push({ kind: kind as Kind, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < code.length) tokens.push({ kind: null, text: code.slice(end) });
  return tokens;
}

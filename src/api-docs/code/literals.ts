// JSON values written as literals of other languages.

/** How a language writes values. */
export interface Notation {
  list: readonly [open: string, close: string];
  object: readonly [open: string, close: string];
  /** Text between the braces of an object on one line. */
  padding: string;
  name: (name: string) => string;
  text: (text: string) => string;
  /** The words for true, false and null. */
  constants: Readonly<Record<string, string>>;
}

const SAME = { true: "true", false: "false", null: "null" };

export const JAVASCRIPT: Notation = {
  list: ["[", "]"],
  object: ["{", "}"],
  padding: " ",
  name: (name) => `${/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name)}: `,
  text: (text) => JSON.stringify(text),
  constants: SAME,
};

export const PYTHON: Notation = {
  list: ["[", "]"],
  object: ["{", "}"],
  padding: "",
  name: (name) => `${JSON.stringify(name)}: `,
  text: (text) => JSON.stringify(text),
  constants: { true: "True", false: "False", null: "None" },
};

export const PHP: Notation = {
  list: ["[", "]"],
  object: ["[", "]"],
  padding: "",
  name: (name) => `${phpText(name)} => `,
  text: phpText,
  constants: SAME,
};

/** Single quotes, unless a line break needs double quotes. */
function phpText(text: string): string {
  if (text.includes("\n")) return JSON.stringify(text).replaceAll("$", String.raw`\$`);
  return `'${text.replace(/[\\']/g, String.raw`\$&`)}'`;
}

/** Longest object or list on one line. */
const LINE_LIMIT = 44;
const INDENT = 4;

/** Returns a value as a literal. `indent`: the spaces before its first line. */
export function literal(value: unknown, notation: Notation, indent = 0): string {
  if (typeof value === "string") return notation.text(value);
  if (typeof value !== "object" || value === null) {
    const text = String(value);
    return notation.constants[text] ?? text;
  }
  const parts = (inner: number): string[] =>
    Array.isArray(value)
      ? value.map((each) => literal(each, notation, inner))
      : Object.entries(value).map(
          ([name, each]) => notation.name(name) + literal(each, notation, inner),
        );
  const isList = Array.isArray(value);
  const [open, close] = isList ? notation.list : notation.object;
  const padding = isList ? "" : notation.padding;
  const line = `${open}${padding}${parts(0).join(", ")}${padding}${close}`;
  if (line.length <= LINE_LIMIT) return line;
  const space = " ".repeat(indent + INDENT);
  const lines = parts(indent + INDENT).map((part) => `${space}${part},\n`);
  return `${open}\n${lines.join("")}${" ".repeat(indent)}${close}`;
}

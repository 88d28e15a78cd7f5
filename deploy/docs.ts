// `bun run docs`: writes the parts of the documentation that are made from the code: the table of the settings.

import { readFileSync, writeFileSync } from "node:fs";
import { variableOf } from "../src/config/flags.ts";
import { SETTINGS } from "../src/config/settings.ts";

const CONFIGURATION = new URL("../docs/configuration.md", import.meta.url);
const GENERATED = /(?<=<!-- settings: generated -->\n\n)[^]*?(?=\n\n<!-- \/settings -->)/;

/** The table between the marks of docs/configuration.md, aligned as `bun fmt` does. */
export function settingsTable(): string {
  const rows = Object.entries(SETTINGS).map(([flag, setting]) => {
    const { default: value, defaultText, help } = setting;
    const isUnset = value === null || (Array.isArray(value) && value.length === 0);
    const isText = isUnset || defaultText.includes(" ");
    return [`\`${variableOf(flag)}\``, isText ? defaultText : `\`${defaultText}\``, help];
  });
  const cells = [["variable", "default", "what it is"], ...rows];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(" | ")} |`;
  const rule = widths.map((width) => "-".repeat(width));
  return [line(cells[0]!), line(rule), ...cells.slice(1).map(line)].join("\n");
}

/** The table as the document has it; null when its marks are missing. */
export function documentedTable(): string | null {
  return GENERATED.exec(readFileSync(CONFIGURATION, "utf8"))?.[0] ?? null;
}

if (import.meta.main) {
  const text = readFileSync(CONFIGURATION, "utf8");
  if (!GENERATED.test(text)) throw new Error("docs/configuration.md has no marks for the table");
  writeFileSync(
    CONFIGURATION,
    text.replace(GENERATED, () => settingsTable()),
  );
}

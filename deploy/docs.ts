// `bun run docs`: writes the parts of the documentation that are made from the code: the list of the settings.

import { readFileSync, writeFileSync } from "node:fs";
import { variableOf } from "../src/config/flags.ts";
import { SETTINGS } from "../src/config/settings.ts";

const CONFIGURATION = new URL("../docs/configuration.md", import.meta.url);
const GENERATED = /(?<=<!-- settings: generated -->\n\n)[^]*?(?=\n\n<!-- \/settings -->)/;

/** Returns the list between the marks of docs/configuration.md: one line for each setting, with its default if it has one. */
export function settingsList(): string {
  return Object.entries(SETTINGS)
    .map(([flag, { default: value, defaultText, help }]) => {
      const isUnset = value === null || (Array.isArray(value) && value.length === 0);
      const isText = isUnset || defaultText.includes(" ");
      const shown = isText ? defaultText : `\`${defaultText}\``;
      return `- \`${variableOf(flag)}\`${shown === "none" ? "" : ` (${shown})`}: ${help}`;
    })
    .join("\n");
}

/** Returns the list as the document has it, or null if its marks are missing. */
export function documentedList(): string | null {
  return GENERATED.exec(readFileSync(CONFIGURATION, "utf8"))?.[0] ?? null;
}

if (import.meta.main) {
  const text = readFileSync(CONFIGURATION, "utf8");
  if (!GENERATED.test(text)) throw new Error("docs/configuration.md has no marks for the list");
  writeFileSync(
    CONFIGURATION,
    text.replace(GENERATED, () => settingsList()),
  );
}

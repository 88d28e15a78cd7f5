// `bun run docs`: writes the sample of a settings file, deploy/settings.example.env, from the settings.

import { readFileSync, writeFileSync } from "node:fs";
import { variableOf } from "../src/config/flags.ts";
import { SETTINGS } from "../src/config/settings.ts";

const SAMPLE = new URL("settings.example.env", import.meta.url);

const HEAD = `# The settings of reseller, each with its default. Every line is a comment: copy those that you change to
# /etc/reseller/reseller.env, without the #. docs/configuration.md explains this file and the other ways to set them.`;

/** Returns the sample: for each setting its help, and its variable with the default as a comment. */
export function settingsSample(): string {
  const entries = Object.entries(SETTINGS).map(([flag, { default: value, defaultText, help }]) => {
    const isUnset = value === null || (Array.isArray(value) && value.length === 0);
    const isValue = !isUnset && !defaultText.includes(" ");
    const inWords = isValue || defaultText === "none" ? "" : ` (default: ${defaultText})`;
    return `# ${help}${inWords}\n#${variableOf(flag)}=${isValue ? defaultText : ""}\n`;
  });
  return [`${HEAD}\n`, ...entries].join("\n");
}

/** Returns the sample as the file has it. */
export function writtenSample(): string {
  return readFileSync(SAMPLE, "utf8");
}

if (import.meta.main) writeFileSync(SAMPLE, settingsSample());

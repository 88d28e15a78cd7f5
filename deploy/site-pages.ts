// The documents that are pages of the site, in the order of its navigation.

import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { ROOT } from "./compile.ts";

/** `*`: all other documents of a folder, by name. */
const GROUPS: readonly (readonly [text: string, pages: readonly string[]])[] = [
  ["Start", ["README.md", "docs/demo.md", "deploy/README.md", "docs/moving-in.md"]],
  ["Operate", ["docs/operations.md", "docs/panel.md", "docs/portal.md", "docs/*"]],
  ["Specification", ["docs/specification/README.md", "docs/specification/*"]],
  ["Trust", ["SECURITY.md", "docs/how-we-know.md", "docs/threat-model.md", "bench/README.md"]],
  ["Contribute", ["CONTRIBUTING.md", "ARCHITECTURE.md", "docs/glossary.md", "CHANGELOG.md"]],
  ["Decisions", ["docs/decisions/README.md", "docs/decisions/*"]],
];

const named = GROUPS.flatMap(([, pages]) => pages.filter((page) => !page.endsWith("*")));

export function sitePages(): { text: string; pages: string[] }[] {
  return GROUPS.map(([text, pages]) => ({ text, pages: pages.flatMap(expanded) }));
}

function expanded(page: string): string[] {
  if (!page.endsWith("*")) return [page];
  const folder = dirname(page);
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`)
    .filter((path) => !named.includes(path))
    .toSorted();
}

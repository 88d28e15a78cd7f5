// `bun run site`: the documents as a static site with a search, into dist/site, by VitePress. Fails if a link of the site
// leads nowhere. SITE_BASE: the path that the site is served at; SITE_REPOSITORY: the address of files that are no page.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { build } from "vitepress";
import { ROOT } from "./compile.ts";
import { sitePages } from "./site-pages.ts";

const SOURCE = join(ROOT, "dist/site-source");
const SITE = join(ROOT, "dist/site");
const BASE = process.env["SITE_BASE"] ?? "/";
const REPOSITORY = process.env["SITE_REPOSITORY"];

const groups = sitePages();
const documents = new Set(groups.flatMap(({ pages }) => pages));

rmSync(SOURCE, { recursive: true, force: true });
for (const path of documents) {
  const target = join(SOURCE, fileOf(path));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, pageOf(path));
}
// Pictures are the only files besides pages that pages show.
cpSync(join(ROOT, "docs/panel"), join(SOURCE, "docs/panel"), { recursive: true });
mkdirSync(join(SOURCE, ".vitepress"));
writeFileSync(join(SOURCE, ".vitepress/config.mjs"), configuration());
await build(SOURCE, { outDir: SITE });
const broken = brokenLinks();
if (broken.length > 0) throw new Error(`links that lead nowhere:\n${broken.join("\n")}`);
console.log(`made: ${SITE}`);

/** Returns a document whose links to files that are no page lead to the repository, or are no links. */
function pageOf(path: string): string {
  return readFileSync(join(ROOT, path), "utf8").replace(
    /(?<!!)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
    (link, text: string, target: string) => {
      const [file = "", anchor] = target.split("#");
      if (/^[a-z]+:/.test(target) || file === "") return link;
      const named = posix.normalize(posix.join(posix.dirname(path), file));
      if (documents.has(named)) {
        return `[${text}](/${fileOf(named)}${anchor === undefined ? "" : `#${anchor}`})`;
      }
      return REPOSITORY === undefined ? text : `[${text}](${REPOSITORY}/${named})`;
    },
  );
}

function titleOf(path: string): string {
  const [, title = path] = /^# (.+)$/m.exec(readFileSync(join(ROOT, path), "utf8")) ?? [];
  return title.replaceAll("`", "");
}

/** The page of a document in the site's source. */
function fileOf(path: string): string {
  return path.replace(/README\.md$/, "index.md");
}

function addressOf(path: string): string {
  return `/${fileOf(path).replace(/(index)?\.md$/, "")}`;
}

function configuration(): string {
  const sidebar = groups.map(({ text, pages }) => ({
    text,
    collapsed: text !== "Start",
    items: pages.map((path) => ({ text: titleOf(path), link: addressOf(path) })),
  }));
  const config = {
    title: "reseller",
    description: "The back end of an SMM panel in one program",
    base: BASE,
    cleanUrls: true,
    themeConfig: { search: { provider: "local" }, sidebar, outline: [2, 3] },
  };
  // Headings are named as the repository names them, so that a link works in both.
  return `const config = ${JSON.stringify(config)};
config.markdown = {
  html: true,
  anchor: {
    slugify: (text) => text.trim().toLowerCase().replace(/[^\\p{L}\\p{N} _-]/gu, "").replaceAll(" ", "-"),
  },
};
export default config;
`;
}

/** Returns every link of the site that leads to no page, file or anchor. */
function brokenLinks(): string[] {
  const names = readdirSync(SITE, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(SITE, join(entry.parentPath, entry.name)));
  const files = new Set(names);
  const pages = names.filter((name) => name.endsWith(".html"));
  const texts = new Map(pages.map((name) => [name, readFileSync(join(SITE, name), "utf8")]));
  const anchors = new Map(
    [...texts].map(([name, text]) => [name, new Set(matches(text, /\bid="([^"]+)"/g))]),
  );
  const leadsNowhere = (name: string, target: string): boolean => {
    const { pathname, hash } = new URL(target, `http://site${BASE}${name}`);
    const path = decodeURIComponent(pathname).slice(BASE.length);
    const file = [path, `${path}.html`, `${path}index.html`].find((each) => files.has(each));
    const anchor = decodeURIComponent(hash.slice(1));
    return file === undefined || (anchor !== "" && anchors.get(file)?.has(anchor) === false);
  };
  return [...texts].flatMap(([name, text]) =>
    matches(text, /\b(?:href|src)="([^"]+)"/g)
      .filter((target) => !/^[a-z]+:/.test(target) && leadsNowhere(name, target))
      .map((target) => `${name}: ${target}`),
  );
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group]) => group!);
}

// The documents match the tree: files they name exist, anchors that code cites exist, generated tables are current.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { expect, test } from "bun:test";
import type { Command } from "commander";
import { settingsSample, writtenSample } from "../deploy/docs.ts";
import { sitePages } from "../deploy/site-pages.ts";
import packageJson from "../package.json" with { type: "json" };
import { createProgram } from "../src/cli/kernel/program.ts";
import { parseEnvFile } from "../src/config/env-file.ts";
import { variableOf } from "../src/config/flags.ts";
import { SETTINGS } from "../src/config/settings.ts";

const ROOT = join(import.meta.dir, "..");
const SPECIFICATION = "docs/specification";
const ARCHITECTURE_LIMIT = 140;
const README_LIMIT = 100;

/** Files below a folder, by their paths in the project. */
function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).flatMap((name) => {
    const path = `${folder}/${name}`;
    return statSync(join(ROOT, path)).isDirectory() ? filesBelow(path) : [path];
  });
}

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const DOCUMENTS = [
  "README.md",
  "ARCHITECTURE.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "deploy/README.md",
  "bench/README.md",
  ...filesBelow("docs").filter((path) => path.endsWith(".md")),
];
const CODE = ["src", "test", "migrations", "deploy", "bench"].flatMap(filesBelow);
const SRC_FOLDERS = readdirSync(join(ROOT, "src")).filter((name) => !name.includes("."));

/** `path: detail` of everything that `wrongOf` finds in a document. */
const offences = (paths: readonly string[], wrongOf: (path: string) => string[]): string[] =>
  paths.flatMap((path) => wrongOf(path).map((detail) => `${path}: ${detail}`));

const matches = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, group]) => group!);

/** What may stand behind # in a link to the document: headings as GitHub names them, and named anchors. */
function anchorsOf(path: string): Set<string> {
  const text = read(path).replace(/^```[^]*?^```/gm, "");
  const headings = matches(text, /^#+ +(.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set([...headings, ...matches(text, /<a id="([^"]+)">/g)]);
}

test("every file that a document names exists", () => {
  const places = ["src", "test", "docs", "deploy", "bench", "migrations", ".ci", ".github"];
  const named = new RegExp(
    String.raw`(?<![\w./:*-])((?:\./)?(?:${[...places, ...SRC_FOLDERS].join("|").replaceAll(".", "\\.")})/[\w./*{},-]*\w|[A-Z]{4,}\.md|Dockerfile|[\w-]+\.(?:toml|jsonc?|yaml|ts)\b)`,
    "g",
  );
  const everyFile = [...CODE, ...filesBelow("docs"), ...readdirSync(ROOT)];
  const exists = (name: string, document: string): boolean => {
    if (name.includes("*") || name.includes("{")) {
      const glob = new Bun.Glob(name);
      return everyFile.some((file) => glob.match(file) || glob.match(file.replace(/^src\//, "")));
    }
    return (
      [ROOT, join(ROOT, "src"), join(ROOT, dirname(document))].some((base) =>
        existsSync(join(base, name)),
      ) ||
      (!name.includes("/") && everyFile.some((file) => basename(file) === name))
    );
  };
  // Files of a running service, of the machine, and of those who build upon the API.
  const OTHERS = /^(key|openapi|bench|FILE)\.json$/;
  const wrong = offences(DOCUMENTS, (document) =>
    matches(read(document).replace(/https?:\/\/\S+/g, ""), named).filter(
      (name) => !OTHERS.test(name) && !exists(name, document),
    ),
  );
  expect(wrong).toEqual([]);
});

test("every link between documents leads somewhere, to its anchor too", () => {
  const wrong = offences(DOCUMENTS, (document) =>
    matches(read(document), /\]\(([^)\s]+)\)/g).filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path, anchor] = target.split("#") as [string, string?];
      const file = path === "" ? document : relative(ROOT, resolve(ROOT, dirname(document), path));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchorsOf(file).has(anchor);
    }),
  );
  expect(wrong).toEqual([]);
});

test("every document is a page of the site, once", () => {
  const pages = sitePages().flatMap(({ pages: ofGroup }) => ofGroup);
  expect(pages.toSorted()).toEqual(DOCUMENTS.toSorted());
});

test("every rule of the specification that the code cites exists, and is not cited by number", () => {
  const rules = new Set(
    filesBelow(SPECIFICATION).flatMap((path) =>
      [...anchorsOf(path)].map((anchor) => `${basename(path)}#${anchor}`),
    ),
  );
  const cited = CODE.filter((path) => /\.(ts|sql|js|c|sh)$/.test(path));
  const citations = cited.flatMap((path) =>
    matches(read(path), /specification\/([\w-]+\.md#[\w-]+)/g),
  );
  expect(citations.length).toBeGreaterThan(30);
  const wrong = offences(cited, (path) => [
    ...matches(read(path), /specification\/([\w-]+\.md#[\w-]+)/g).filter(
      (name) => !rules.has(name),
    ),
    // A number cites a document that the reader does not have.
    ...matches(read(path), /\b((?:[Cc]ontract|[Ss]pecification) \d)/g),
  ]);
  expect(wrong).toEqual([]);
});

test("each guarantee is cited by a test that tries to break it, and has its evidence in docs/how-we-know.md", () => {
  const guarantees = matches(read(`${SPECIFICATION}/README.md`), /<a id="(guarantee-[\w-]+)">/g);
  expect(guarantees.length).toBeGreaterThan(5);
  const tests = CODE.filter((path) => path.startsWith("test/")).map(read);
  const cited = new Set(tests.flatMap((text) => matches(text, /README\.md#(guarantee-[\w-]+)/g)));
  const shown = new Set(matches(read("docs/how-we-know.md"), /README\.md#(guarantee-[\w-]+)/g));
  expect([...cited].toSorted()).toEqual(guarantees.toSorted());
  expect([...shown].toSorted()).toEqual(guarantees.toSorted());
});

test("no document holds a rest of a merge", () => {
  const wrong = offences(DOCUMENTS, (document) =>
    matches(read(document), /^((?:<{7}|>{7}|(?:> ){5}).*)$/gm),
  );
  expect(wrong).toEqual([]);
});

test("each anchor of the specification is given once", () => {
  const ids = filesBelow(SPECIFICATION).flatMap((path) => matches(read(path), /<a id="([^"]+)">/g));
  expect(ids.length).toBeGreaterThan(50);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test("every script that a document runs is one of package.json", () => {
  const wrong = offences(DOCUMENTS, (document) =>
    matches(read(document), /\bbun(?:@[\d.]+)? run ([\w:]+)/g).filter(
      (name) => !(name in packageJson.scripts),
    ),
  );
  expect(wrong).toEqual([]);
});

test("every command line of the documents is one that the program has, flags included", () => {
  const lines = [
    "README.md",
    "docs/operations.md",
    "docs/configuration.md",
    "deploy/README.md",
  ].flatMap((document) =>
    matches(read(document), /^```sh\n([^]*?)^```/gm)
      .flatMap((block) => block.split("\n"))
      .flatMap((line) => matches(line, /(?:^|reseller |\$\(|; )\s*(?:reseller|r) ((?!"\$@").*)$/g))
      .map((words) => ({ document, words: words.replace(/\s+#.*$/, "") })),
  );
  expect(lines.length).toBeGreaterThan(40);
  const wrong = lines.flatMap(({ document, words }) => {
    const problem = problemOf(words);
    return problem === null ? [] : [`${document}: ${words}: ${problem}`];
  });
  expect(wrong).toEqual([]);
});

const PROGRAM = await createProgram();

function problemOf(line: string): string | null {
  const words = line.split(/[|<>]/)[0]!.trim().split(/\s+/);
  let command: Command = PROGRAM;
  for (const word of words) {
    const child = command.commands.find((entry) => entry.name() === word);
    if (!child) break;
    command = child;
  }
  if (command.commands.length > 0 && command.registeredArguments.length === 0)
    return `${command.name()} needs one of its commands`;
  const known = new Set(command.options.flatMap(({ long }) => (long ? [long] : [])));
  const unknown = words.filter((word) => word.startsWith("--") && !known.has(word.split("=")[0]!));
  return unknown.length > 0 ? `no flag ${unknown.join(", ")}` : null;
}

test("every log line in the operations guide is one that the program writes", () => {
  const text = read("docs/operations.md");
  const log = text.slice(text.indexOf("## Log"), text.indexOf("## Backups"));
  const messages = matches(log, /^\| `([^`]+)` /gm).map((message) => message.replace(/…$/, ""));
  expect(messages.length).toBeGreaterThan(5);
  const sources = CODE.filter((path) => path.startsWith("src/")).map(read);
  expect(
    messages.filter((message) => !sources.some((source) => source.includes(`"${message}`))),
  ).toEqual([]);
});

test("the sample of a settings file is the one that `bun run docs` writes, and sets nothing", () => {
  expect(writtenSample()).toBe(settingsSample());
  expect(parseEnvFile(settingsSample())).toEqual(new Map());
});

test("a noun has one file name in the folders of the rules, the rows, the operations and the interfaces", () => {
  const LAYERS = ["domain", "db", "operations", "http", "api-docs", "cli"];
  /** Without the endings that English gives a noun, and whatever the order of the words. */
  const rootOf = (path: string) =>
    basename(path, ".ts")
      .split("-")
      .map((word) => word.replace(/ies$/, "y").replace(/(?<=[^s])s$/, ""))
      .toSorted()
      .join("-");
  const spellings = new Map<string, Map<string, string>>();
  // The files of tables are named after the folders of nouns, such as `delivery`.
  for (const path of CODE.filter(
    (file) =>
      LAYERS.some((name) => file.startsWith(`src/${name}/`)) && !file.startsWith("src/db/tables/"),
  )) {
    const files = spellings.get(rootOf(path)) ?? new Map<string, string>();
    spellings.set(rootOf(path), files.set(basename(path), path));
  }
  expect(spellings.get("order")?.size).toBe(1);
  // One word for two things: a page of a list and of the documentation; the schema of the database and those of JSON;
  // a command of the command line and those of the writer.
  for (const word of ["page", "schema", "command"]) spellings.delete(word);
  const wrong = [...spellings.values()].filter((files) => files.size > 1);
  expect(wrong.map((files) => [...files.values()])).toEqual([]);
});

test("no file is named by a word that the glossary replaced", () => {
  const REPLACED =
    /^(answers?|follow(ing|er)?|forget(ting)?|fulfilment|hurry|looks?|placements?|reach|statements?|told|trouble|upkeep|used|uses|views?)$/;
  const wrong = CODE.filter((path) => path.startsWith("src/")).filter((path) =>
    basename(path)
      .split(/[-.]/)
      .some((word) => REPLACED.test(word)),
  );
  expect(wrong).toEqual([]);
});

test("every dependency has its reason in ARCHITECTURE.md", () => {
  const { dependencies, devDependencies } = packageJson;
  const text = read("ARCHITECTURE.md");
  const libraries = text.slice(text.indexOf("## Libraries"));
  const isNamed = (name: string) =>
    new RegExp(String.raw`(?<![\w/-])${name}(?![\w/-])`).test(libraries);
  const rows = Object.keys(dependencies).filter((name) => !libraries.includes(`| ${name} `));
  const unnamed = Object.keys(devDependencies).filter((name) => !isNamed(name));
  expect([...rows, ...unnamed]).toEqual([]);
});

test("the documents to read first are short", () => {
  const length = (path: string) => read(path).trimEnd().split("\n").length;
  expect(length("ARCHITECTURE.md")).toBeLessThanOrEqual(ARCHITECTURE_LIMIT);
  expect(length("README.md")).toBeLessThanOrEqual(README_LIMIT);
});

test("the compose file gives its servers settings that the program has, and names of their own", () => {
  const { services } = Bun.YAML.parse(read("deploy/compose.yaml")) as {
    services: Record<string, { environment?: Record<string, string> }>;
  };
  const servers = [services["one"]!, services["two"]!].map(({ environment }) => environment!);
  const known = new Set(Object.keys(SETTINGS).map(variableOf));
  const settings = servers.flatMap((environment) => Object.keys(environment));
  expect(settings.filter((name) => !known.has(name))).toEqual([]);
  expect(servers.map((environment) => environment["RESELLER_SERVER"])).toEqual(["one", "two"]);
});

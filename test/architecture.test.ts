// The structure of the code base, checked by reading its files: ARCHITECTURE.md, Folders of src.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, relative } from "node:path";
import { describe, expect, test } from "bun:test";

const SRC = new URL("../src", import.meta.url).pathname;
const LINE_LIMIT = 500;

/** What the files of a folder may import of ours. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  domain: [],
  db: ["domain"],
  "db/sqlite": ["db", "domain"],
  "db/postgres": ["db", "domain"],
  storage: ["db", "db/sqlite", "db/postgres", "domain"],
  offsite: ["storage", "db", "domain"],
  operations: ["db", "domain"],
  imports: ["operations", "domain"],
  writer: ["operations", "storage", "db", "db/sqlite", "domain"],
  providers: ["domain"],
  payments: ["scheduling", "providers", "writer", "operations", "db", "domain", "monitoring"],
  scheduling: ["domain", "monitoring"],
  delivery: ["scheduling", "providers", "writer", "operations", "db", "domain", "monitoring"],
  webhooks: ["scheduling", "writer", "operations", "db", "domain", "monitoring", "config"],
  mails: [
    "web",
    "portal",
    "scheduling",
    "writer",
    "operations",
    "db",
    "domain",
    "monitoring",
    "config",
  ],
  alerts: [
    "scheduling",
    "webhooks",
    "writer",
    "operations",
    "db",
    "domain",
    "monitoring",
    "config",
  ],
  reports: ["db", "domain"],
  monitoring: ["reports", "writer", "storage", "db", "domain"],
  config: ["domain", "monitoring"],
  http1: [],
  "api-docs": ["domain"],
  http: [
    "http1",
    "api-docs",
    "webhooks",
    "writer",
    "operations",
    "db",
    "domain",
    "monitoring",
    "config",
  ],
  web: ["http", "http1", "writer", "operations", "db", "domain", "monitoring", "config"],
  panel: [
    "web",
    "imports",
    "http",
    "http1",
    "webhooks",
    "providers",
    "payments",
    "writer",
    "operations",
    "db",
    "domain",
    "monitoring",
    "reports",
    "config",
  ],
  portal: [
    "web",
    "http",
    "http1",
    "webhooks",
    "payments",
    "writer",
    "operations",
    "db",
    "domain",
    "monitoring",
    "reports",
    "config",
  ],
  jobs: ["writer", "storage", "domain", "monitoring", "config"],
  server: [
    "panel",
    "portal",
    "web",
    "http",
    "http1",
    "scheduling",
    "delivery",
    "webhooks",
    "alerts",
    "mails",
    "reports",
    "providers",
    "payments",
    "jobs",
    "writer",
    "storage",
    "db",
    "db/sqlite",
    "db/postgres",
    "domain",
    "monitoring",
    "config",
  ],
  cli: [
    "server",
    "webhooks",
    "mails",
    "imports",
    "panel",
    "web",
    "providers",
    "payments",
    "reports",
    "offsite",
    "writer",
    "operations",
    "storage",
    "db",
    "db/sqlite",
    "db/postgres",
    "domain",
    "monitoring",
    "config",
  ],
  "main.ts": ["cli"],
};

/** Which folders may name a technology. Everything that is imported from outside is listed. */
const OWNERS: Record<string, readonly string[]> = {
  elysia: ["http", "web"],
  "@elysiajs/openapi": ["http"],
  "drizzle-orm": ["db"],
  // PostgreSQL's client.
  bun: ["db/postgres"],
  "bun:sqlite": ["db/sqlite", "storage"],
  "age-encryption": ["offsite"],
  uqr: ["panel", "portal"],
  preact: ["web", "panel", "portal", "api-docs", "mails"],
  "preact-render-to-string": ["web", "api-docs", "mails"],
  nodemailer: ["mails"],
  commander: ["cli", "config"],
  "csv-parse": ["imports"],
  "@fastify/busboy": ["panel"],
  "prom-client": ["monitoring"],
  limiter: ["http"],
  "ipaddr.js": ["config"],
  valibot: ["providers", "payments", "offsite", "imports"],
  stripe: ["payments"],
  "@paralleldrive/cuid2": ["db"],
};

interface Source {
  /** Below src. */
  path: string;
  /** Its folder, or its own name when it is in src itself. An engine's folder counts by itself. */
  place: string;
  text: string;
  imports: Import[];
}

interface Import {
  specifier: string;
  names: string;
  isType: boolean;
}

function readSources(folder = SRC): Source[] {
  return readdirSync(folder).flatMap((name) => {
    const file = join(folder, name);
    if (statSync(file).isDirectory()) return readSources(file);
    const path = relative(SRC, file);
    const text = withoutComments(readFileSync(file, "utf8"));
    return [{ path, place: placeIn(path), text, imports: importsOf(text) }];
  });
}

/** The engines are folders of their own: whoever imports one says so in the table above. */
const ENGINES = /^db\/(sqlite|postgres)(?=\/)/;

function placeIn(path: string): string {
  return ENGINES.exec(path)?.[0] ?? path.split("/")[0]!;
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "");
}

function importsOf(text: string): Import[] {
  const from = /^(?:import|export)\s+(type\s+)?([^;"']*?)\s*from\s*"([^"]+)"/gm;
  const bare = /^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"|\brequire\(\s*"([^"]+)"/gm;
  return [
    ...[...text.matchAll(from)].map(([, type, names, specifier]) => ({
      specifier: specifier!,
      names: names!,
      isType: type !== undefined,
    })),
    ...[...text.matchAll(bare)].map((match) => ({
      specifier: (match[1] ?? match[2] ?? match[3])!,
      names: "",
      isType: false,
    })),
  ];
}

/** The modules, without the files that are bundled as text (api-docs/assets). */
const sources = readSources().filter(({ path }) => /(?<!\.d)\.tsx?$/.test(path));

/** Where an import of ours leads: a folder, or a file of src itself; null when it is not below src. */
function placeOf(source: Source, { specifier }: Import): string | null {
  if (!specifier.startsWith(".")) return null;
  const target = relative(SRC, join(SRC, source.path, "..", specifier));
  return target.startsWith("..") ? null : placeIn(target);
}

/** Groups of files that import each other, whatever lies between; a file that imports itself is a group of one. */
function circlesIn(imported: Record<string, readonly string[]>): string[] {
  const reached = new Map(
    Object.keys(imported).map((from) => {
      const found = new Set<string>();
      const ahead = [from];
      for (let file = ahead.pop(); file !== undefined; file = ahead.pop()) {
        for (const next of imported[file]!) {
          if (found.has(next)) continue;
          found.add(next);
          ahead.push(next);
        }
      }
      return [from, found];
    }),
  );
  const circles = [...reached].flatMap(([file, found]) => {
    const circle = [...found].filter((other) => reached.get(other)!.has(file));
    return circle.length === 0 ? [] : [circle.toSorted().join(" ↔ ")];
  });
  return [...new Set(circles)];
}

/** `path: detail` of everything that breaks a rule. */
const offences = (rule: (source: Source) => string[]): string[] =>
  sources.flatMap((source) => rule(source).map((detail) => `${source.path}: ${detail}`));

const filesWith = (pattern: RegExp): string[] =>
  sources.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

describe("imports", () => {
  test("the reader of imports sees every form", () => {
    const text = `import { a } from "./a.ts";
import type { B } from "../b/b.ts";
import {
  type C,
  d,
} from "elysia";
export * from "./e.ts";
import "./f.ts";
const g = await import("./g.ts");
// import { no } from "./no.ts";`;
    const found = importsOf(withoutComments(text)).map(({ specifier }) => specifier);
    expect(found).toEqual(["./a.ts", "../b/b.ts", "elysia", "./e.ts", "./f.ts", "./g.ts"]);
    expect(sources.length).toBeGreaterThan(40);
  });

  test("go one way, `import type` included", () => {
    const wrong = offences((source) =>
      source.imports
        .filter((entry) => {
          const place = placeOf(source, entry);
          if (place === null || place === source.place) return false;
          return !MAY_IMPORT[source.place]?.includes(place);
        })
        .map(({ specifier }) => specifier),
    );
    expect(wrong).toEqual([]);
  });

  test("form no circle, `import type` included", () => {
    expect(
      circlesIn({ "a.ts": ["b.ts"], "b.ts": ["c.ts"], "c.ts": ["b.ts"], "d.ts": ["d.ts"] }),
    ).toEqual(["b.ts ↔ c.ts", "d.ts"]);
    const files = new Set(sources.map(({ path }) => path));
    const imported = sources.map(({ path, imports }) => [
      path,
      imports.map(({ specifier }) => join(path, "..", specifier)).filter((file) => files.has(file)),
    ]);
    expect(circlesIn(Object.fromEntries(imported))).toEqual([]);
  });

  test("of http/ take only types from operations/ and monitoring/, and only reads from db/", () => {
    const READS = /^(type .*|find\w*|list\w*|balanceOf|after|TransientError)$/;
    const wrong = offences((source) => {
      if (source.place !== "http") return [];
      return source.imports
        .filter((entry) => {
          const place = placeOf(source, entry);
          if (entry.isType) return false;
          if (["operations", "monitoring"].includes(place ?? "")) return true;
          const names = entry.names.replace(/[{}\n]/g, " ").split(",");
          return place === "db" && names.some((name) => name.trim() && !READS.test(name.trim()));
        })
        .map(({ specifier, names }) => `${names} ${specifier}`);
    });
    expect(wrong).toEqual([]);
  });

  test("of the pages lead to http/server/ only: never to the API's handlers or fields", () => {
    const wrong = offences(({ place, imports }) =>
      ["web", "panel", "portal"].includes(place)
        ? imports
            .map(({ specifier }) => specifier)
            .filter((name) => /\/http\/(?!server\/)/.test(name))
        : [],
    );
    expect(wrong).toEqual([]);
  });

  test("from outside are only of technologies that have an owner, and only in the owner's place", () => {
    const wrong = offences((source) =>
      source.imports
        .map(({ specifier }) => specifier)
        .filter((specifier) => {
          if (specifier.startsWith(".") || specifier.startsWith("node:")) return false;
          const owner = Object.keys(OWNERS).find(
            (name) => specifier === name || specifier.startsWith(`${name}/`),
          );
          return owner === undefined || !OWNERS[owner]!.includes(source.place);
        }),
    );
    expect(wrong).toEqual([]);
  });

  test("of domain/ lead to domain/ only, never to a library", () => {
    const wrong = offences((source) =>
      source.place === "domain"
        ? source.imports
            .filter((entry) => placeOf(source, entry) !== "domain")
            .map(({ specifier }) => specifier)
        : [],
    );
    expect(wrong).toEqual([]);
  });

  test("of Node's modules begin with `node:`", () => {
    const wrong = offences(({ imports }) =>
      imports.map(({ specifier }) => specifier).filter((name) => builtinModules.includes(name)),
    ).filter((offence) => !/: bun(:sqlite)?$/.test(offence));
    expect(wrong).toEqual([]);
  });
});

/** The documentation's examples name fetch and the environment in texts. */
const isNoExample = (path: string) => !/^api-docs\/code\/(forms|languages)\.ts$/.test(path);

describe("only its owner touches", () => {
  test("the network: fetch is called in providers/, by `health`, by `upgrade --check` and for Stripe; webhooks and alerts go out by webhooks/exchange.ts", () => {
    const callers = filesWith(/\bfetch\(/).filter((path) => !path.startsWith("providers/"));
    expect(callers.filter(isNoExample).toSorted()).toEqual([
      "cli/about/upgrade.ts",
      "cli/server/health.ts",
      "payments/stripe-client.ts",
    ]);
    expect(filesWith(/"node:tls"/)).toEqual(["http1/listen.ts", "webhooks/exchange.ts"]);
  });

  test("the S3 client: offsite/store.ts", () => {
    expect(filesWith(/S3Client/)).toEqual(["offsite/store.ts"]);
  });

  test("connections that others open: http1/", () => {
    const listeners = filesWith(/Bun\.(serve|listen)\b|"node:_http_common"|\bcreateServer\b/);
    expect(listeners).toEqual(["http1/listen.ts", "http1/parser.ts"]);
  });

  test("the environment: config/flags.ts", () => {
    const readers = filesWith(/process\.env|Bun\.env|import\.meta\.env|\.env\(/);
    expect(readers.filter(isNoExample)).toEqual(["config/flags.ts"]);
  });

  test("a balance: db/ledger/ledger.ts", () => {
    const writers = filesWith(/\.update\(\s*users\b|\bUPDATE\s+users\b/i);
    // db/users/users.ts writes the names alone, db/webhooks/webhooks.ts what the account's webhooks want.
    expect(writers.toSorted()).toEqual([
      "db/ledger/ledger.ts",
      "db/users/users.ts",
      "db/webhooks/webhooks.ts",
    ]);
    const [webhooks] = sources.filter(({ path }) => path === "db/webhooks/webhooks.ts");
    expect(webhooks!.text).not.toMatch(/\b(balanceMicros|depositedMicros)\b/);
    const [users] = sources.filter(({ path }) => path === "db/users/users.ts");
    expect(users!.text).toMatch(/\.insert\(users, \{[^]*\.update\(users/);
    expect(users!.text.slice(users!.text.indexOf("export function insertUser"))).not.toContain(
      "balanceMicros",
    );
  });

  test("a transfer: db/ledger/ledger.ts", () => {
    expect(filesWith(/\.insert\(\s*transfers\b|INSERT\s+INTO\s+transfers/i)).toEqual([
      "db/ledger/ledger.ts",
    ]);
  });

  test("services, grants and discounts: operations/catalogue/service-changes.ts, which informs resellers", () => {
    const WRITES =
      /\.(insert|update|delete)\(\s*(services|grants)\b|(INTO|UPDATE|FROM) (services|grants) SET/;
    expect(filesWith(WRITES)).toEqual(["db/catalogue/services.ts"]);
    const writers = /\b(insertService|updateService|putGrant|deleteGrant)\b/;
    const importers = sources.filter(({ imports }) =>
      imports.some(
        ({ specifier, names }) =>
          specifier.endsWith("/db/catalogue/services.ts") && writers.test(names),
      ),
    );
    expect(importers.map(({ path }) => path)).toEqual(["operations/catalogue/service-changes.ts"]);
    expect(filesWith(/updateUserFields\(tx, [^)]*discountPpm/)).toEqual([
      "operations/catalogue/service-changes.ts",
    ]);
  });

  test("a transaction: the engines, and storage/ where it opens a database", () => {
    const openers = filesWith(/"(BEGIN|COMMIT|ROLLBACK|SAVEPOINT)\b/);
    const ours = /^(db\/(sqlite|postgres)|storage)\//;
    expect(openers.filter((path) => !ours.test(path))).toEqual([]);
    expect(openers).toContain("db/sqlite/store.ts");
  });

  test("an optimisation: no handler names the snapshot, the response template or a cache's parts", () => {
    const [routes] = sources.filter(({ path }) => path === "http/server/routes.ts");
    const handlers = routes!.imports
      .filter(({ specifier, isType }) => !isType && /^\.\.\/api\/[a-z-]+\.ts$/.test(specifier))
      .map(({ specifier }) => specifier.replace("../", "http/"));
    expect(handlers).toContain("http/api/orders.ts");
    const WORDS = /snapshot|template|withText|createResponseCache|bodyOf|catalogue_?version/i;
    expect(filesWith(WORDS).filter((path) => handlers.includes(path))).toEqual([]);
    expect(
      filesWith(/\b(prepareInsert|selectList)\(/).filter((path) => !path.startsWith("db/")),
    ).toEqual([]);
  });

  test("the clock and random values: in domain/, operations/ and db/ only an engine reads them", () => {
    const CLOCK =
      /Date\.now|new Date\(\)|performance\.|Math\.random|randomBytes|randomUUID|getRandomValues|setTimeout/;
    const takers = filesWith(CLOCK).filter((path) =>
      /^(domain|operations|db(?!\/(sqlite|postgres)))\//.test(path),
    );
    expect(takers).toEqual(["db/port/ids.ts"]);
  });

  test("new ids: db/port/ids.ts makes them, for commands before they run, for the installation and a server's start", () => {
    const importers = (pattern: RegExp) =>
      sources
        .filter(({ imports }) => imports.some(({ specifier }) => pattern.test(specifier)))
        .map(({ path }) => path)
        .toSorted();
    expect(importers(/^@paralleldrive\/cuid2$/)).toEqual(["db/port/ids.ts"]);
    expect(importers(/\/ids\.ts$/)).toEqual([
      "operations/batch/execute.ts",
      "server/postgres-database.ts",
      "server/sqlite-database.ts",
      "storage/file/instance.ts",
    ]);
  });
});

describe("files", () => {
  test("lie in known folders, at most one folder below them", () => {
    for (const { path, place } of sources) {
      expect([path, path.replace(ENGINES, "db").split("/").length <= 3]).toEqual([path, true]);
      expect([path, Object.keys(MAY_IMPORT).includes(place)]).toEqual([path, true]);
    }
  });

  test("are named for what they are about: no index, no utils", () => {
    const names = sources.map(({ path }) => path.split("/").at(-1)!);
    expect(
      names.filter((name) => /^(index|utils?|helpers?|common|misc|shared)\./.test(name)),
    ).toEqual([]);
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*\.tsx?$/.test(name))).toEqual([]);
  });

  test(`have at most ${LINE_LIMIT} lines, but for the portal's texts in a language`, () => {
    const long = sources.filter(
      ({ path }) =>
        !/^portal\/texts\/[a-z]{2}(-[a-z]{2})?\.ts$/.test(path) &&
        readFileSync(join(SRC, path), "utf8").split("\n").length > LINE_LIMIT,
    );
    expect(long.map(({ path }) => path)).toEqual([]);
  });

  test("with JSX name its library: Bun reads no tsconfig.json where it is started in another folder", () => {
    const silent = sources.filter(
      ({ path }) =>
        path.endsWith(".tsx") &&
        !readFileSync(join(SRC, path), "utf8").includes("/** @jsxImportSource preact */"),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test("begin with a comment that says what they are", () => {
    const silent = sources.filter(
      ({ path }) => !/^(\/\/ |\/\*\* )/.test(readFileSync(join(SRC, path), "utf8")),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });
});

describe("tests", () => {
  const imported = new Map<string, string[]>();
  /** Files of ours; an import in a text that a test writes leads to none. */
  const importedBy = (file: string): string[] => {
    let files = imported.get(file);
    if (!files) {
      const paths = importsOf(readFileSync(file, "utf8"))
        .filter(({ specifier, isType }) => /^\..*\.tsx?$/.test(specifier) && !isType)
        .map(({ specifier }) => join(file, "..", specifier));
      imported.set(file, (files = paths.filter((path) => existsSync(path))));
    }
    return files;
  };
  /** The file and everything that it leads to. */
  function reach(file: string, seen = new Set<string>()): Set<string> {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const each of importedBy(file)) reach(each, seen);
    return seen;
  }

  test("that `check` runs need no binary, which a fresh clone does not have", () => {
    const folder = new URL(".", import.meta.url).pathname;
    const files = [...new Bun.Glob("**/*.test.ts").scanSync(folder)];
    expect(files.length).toBeGreaterThan(100);
    const binary = join(folder, "support/binary.ts");
    expect(files.filter((file) => reach(join(folder, file)).has(binary))).toEqual([]);
  });
});

// Which modules a command loads. Each one that it does not need makes its start slower and its memory larger.

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Command } from "commander";
import { describe, expect, test } from "bun:test";
import type { DeferredCommand } from "../../../../src/cli/kernel/deferred-command.ts";
import { ADMIN, commandNamed, createProgram, TOP } from "../../../../src/cli/kernel/program.ts";
import { freshSqliteDatabase } from "../../../support/databases/test-database.ts";
import { freshFolder } from "../../../support/folders.ts";

const ROOT = join(import.meta.dir, "../../../..");
const PRELOAD = join(ROOT, "test/support/module-list.ts");

interface Loaded {
  /** Below src. */
  ours: string[];
  packages: string[];
}

/** Runs the program from its source; `until` ends a server. */
async function loadedBy(argv: string[], until?: (stdout: string) => Promise<boolean>) {
  const list = join(freshFolder(), "modules");
  const child = Bun.spawn(
    [process.execPath, "--preload", PRELOAD, join(ROOT, "src/main.ts"), ...argv],
    { env: { ...process.env, MODULE_LIST: list }, stdout: "pipe", stderr: "pipe" },
  );
  const stderr = new Response(child.stderr).text();
  let stdout = "";
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += part;
    if (until && (await until(stdout))) child.kill("SIGTERM");
  }
  expect({ code: await child.exited, stderr: until ? "" : await stderr }).toEqual({
    code: 0,
    stderr: "",
  });
  return sorted(readFileSync(list, "utf8").split("\n"));
}

function sorted(modules: readonly string[]): Loaded {
  const packages = modules.flatMap(
    (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  const ours = modules.map((path) => relative(join(ROOT, "src"), path));
  return {
    ours: ours.filter((path) => !path.startsWith("..")).toSorted(),
    packages: [...new Set(packages)].toSorted(),
  };
}

/** What a command loads to declare itself and to read the database. */
const LAYERS = ["cli", "config", "db", "domain", "main.ts", "monitoring", "operations", "storage"];
const PACKAGES = ["commander", "drizzle-orm", "ipaddr.js"];
/** All that is loaded of PostgreSQL without a PostgreSQL database: its addresses and errors. */
const POSTGRES = ["address", "errors", "open-error"].map(
  (name) => `db/postgres/connection/${name}.ts`,
);

test("a command on a database loads no other command's modules, no server and no page", async () => {
  const { folder } = freshSqliteDatabase();
  const { ours, packages } = await loadedBy(["admin", "user", "list", "--data", folder]);
  expect([...new Set(ours.map((path) => path.split("/")[0]!))]).toEqual(LAYERS);
  expect(packages).toEqual(PACKAGES);
  expect(ours.filter((path) => path.startsWith("db/postgres/"))).toEqual(POSTGRES);
  expect(ours).toContain("cli/users/users.ts");
  expect(ours).not.toContain("cli/users/keys.ts");
  // It only reads.
  expect(ours).not.toContain("operations/batch/commands.ts");
});

test("a server on SQLite loads no page, no document, no metrics and no PostgreSQL that it was not asked for", async () => {
  const { folder } = freshSqliteDatabase();
  let asked = false;
  const { ours, packages } = await loadedBy(
    ["serve", "--data", folder, "--port", "0"],
    async (stdout) => {
      const url = /^listening on (\S+)$/m.exec(stdout)?.[1];
      if (url === undefined || asked) return false;
      asked = true;
      expect((await fetch(`${url}/api/v1/balance`)).status).toBe(401);
      return true;
    },
  );
  expect(asked).toBe(true);
  const below = (folder: string) => ours.filter((path) => path.startsWith(folder));
  expect(below("db/postgres/")).toEqual(POSTGRES);
  expect(below("imports/")).toEqual([]);
  expect(below("portal/")).toEqual([]);
  for (const part of ["code", "guide", "page"]) expect(below(`api-docs/${part}/`)).toEqual([]);
  expect(ours.filter((path) => path.endsWith(".tsx"))).toEqual([]);
  expect(ours).not.toContain("monitoring/metrics.ts");
  const heavy = [
    "@elysiajs/openapi",
    "age-encryption",
    "csv-parse",
    "preact",
    "preact-render-to-string",
    "prom-client",
    "uqr",
  ];
  expect(packages.filter((name) => heavy.includes(name))).toEqual([]);
  expect(packages).toContain("elysia");
});

describe("each command that is loaded by its name", () => {
  const all = [
    ...TOP.map((each) => ["", each] as const),
    ...ADMIN.map((each) => ["admin ", each] as const),
  ];

  test.each(all.map(([before, each]) => [`${before}${each.name}`, each] as const))(
    "%s declares that name, and is found by it",
    async (words, each: DeferredCommand) => {
      const parent = new Command(words.split(" ").at(-2) ?? "reseller");
      (await each.load())(parent);
      expect(parent.commands.map((command) => command.name())).toEqual([each.name]);
      const argv = words.split(" ");
      const expected = each.describesAll ? null : each;
      expect(commandNamed([...argv, "--json"])).toBe(expected);
      expect(commandNamed(["help", ...argv])).toBe(expected);
    },
  );

  test("is in the whole program, and no other is", async () => {
    const program = await createProgram();
    const names = ({ commands }: Command) => commands.map((command) => command.name());
    const admin = program.commands.find((command) => command.name() === "admin")!;
    expect(names(program).toSorted()).toEqual(["admin", ...TOP.map(({ name }) => name)].toSorted());
    expect(names(admin)).toEqual(ADMIN.map(({ name }) => name));
  });

  test.each(["-v", "-V", "--version"])("%s needs only the command version", (flag) => {
    expect(commandNamed([flag])?.name).toBe("version");
  });

  test.each([[[]], [["--help"]], [["admin"]], [["admin", "frobnicate"]], [["user", "list"]]])(
    "%j needs all of them",
    (argv: string[]) => {
      expect(commandNamed(argv)).toBeNull();
    },
  );
});

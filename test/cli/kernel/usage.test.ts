// Wrong usage is exit 2 and changes nothing; every command has help.

import { afterEach, describe, expect, test } from "bun:test";
import type { Command } from "commander";
import { createProgram } from "../../../src/cli/kernel/program.ts";
import { openShop, optionsOf, reseller } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";

const shop = openShop();
const number = String(shop.order(100));
const service = ["admin", "service", "create"];
const complete = ["--name", "N", "--price", "1", "--min", "1", "--max", "2"];

const WRONG: string[][] = [
  [],
  ["frobnicate"],
  ["--frobnicate"],
  ["admin"],
  ["admin", "user"],
  ["admin", "user", "make"],
  ["admin", "user", "create"],
  ["admin", "user", "create", ""],
  ["admin", "user", "create", "a b"],
  ["admin", "user", "create", "zoe", "--name", ""],
  ["admin", "user", "create", "zoe", "--name", "a\nb"],
  ["admin", "user", "create", "zoe", "--parent", "a b"],
  ["admin", "user", "create", "zoe", "extra"],
  ["admin", "user", "create", "zoe", "--frobnicate"],
  ...["-1", "x", ""].map((amount) => ["admin", "user", "credit", "alice", amount]),
  ["admin", "user", "debit", "alice", "0"],
  ["admin", "user", "credit", "alice"],
  ["admin", "user", "credit", "alice", "1", "--note", "x".repeat(501)],
  ["admin", "key", "create", "--type", "order"],
  ["admin", "key", "create", "--user", "alice"],
  ["admin", "key", "create", "--user", "alice", "--type", "god"],
  ["admin", "key", "create", "--user", "alice", "--type", "full"],
  ["admin", "key", "create", "--user", "alice", "--type", "recharge"],
  ["admin", "key", "create", "--user", "alice", "--type", "recharge", "--test"],
  ["admin", "key", "create", "--user", "alice", "--type", "full", "--reach", "none"],
  ["admin", "key", "create", "--user", "alice", "--type", "order", "--recharge-limit", "1"],
  ["admin", "key", "create", "--user", "alice", "--type", "order", "--recharge-daily", "1"],
  ["admin", "key", "create", "--user", "alice", "--type", "recharge", "--reach", "all", "--recharge-limit", "0"],
  ["admin", "key", "update", "tz4a98xxat96iws9zmbrgj3a", "--recharge-daily", "-1"],
  ["admin", "key", "create", "--user", "alice", "--type", "order", "--label", "x".repeat(101)],
  ["admin", "key", "deactivate"],
  [...service],
  [...service, ...complete.slice(2)],
  [...service, ...complete, "--price", "-1"],
  [...service, ...complete, "--min", "1.5"],
  [...service, ...complete, "--min", "3"],
  [...service, ...complete, "--max", "1000000001"],
  [...service, ...complete, "--per", "100"],
  [...service, ...complete, "--id", "a b"],
  [...service, ...complete, "--public"],
  ["admin", "service", "update", "followers"],
  ["admin", "service", "update", "followers", "--min", "5", "--max", "4"],
  ["admin", "service", "update", "followers", "--private", "--public"],
  ["admin", "service", "update", "followers", "--id", "other"],
  ["admin", "service", "grant", "followers"],
  ["admin", "service", "grant", "followers", "--user", "alice", "--price", "x"],
  ["admin", "service", "import"],
  ["admin", "service", "import", "catalogue.txt"],
  ["admin", "order", "list", "--status", "DONE"],
  ["admin", "order", "list", "--limit", "-1"],
  ["admin", "order", "progress", number],
  ["admin", "order", "progress", number, "--remains", "-1"],
  ["admin", "order", "progress", number, "--start-count", "1.5"],
  ["admin", "order", "progress", number, "--start-count", "9007199254740992"],
  ["admin", "order", "partial", number],
  ["admin", "order", "partial", number, "--remains", "x"],
  ["admin", "order", "complete", number, "--note", ""],
  ["admin", "order", "complete"],
  ["serve", "--port", "65536"],
  ["serve", "--port", "-1"],
  ["serve", "--port", "http"],
  ["serve", "--host", ""],
  ["serve", "--log-level", "loud"],
  ["health", "--url", "nonsense"],
  ["health", "--url", "file:///etc/passwd"],
  ["verify", "--frobnicate"],
  ["verify", "extra"],
  ["version", "extra"],
]; // prettier-ignore

describe("wrong usage: exit 2, nothing on stdout, the reason on stderr, nothing changed", () => {
  test.each(WRONG.map((argv) => [argv.join(" ").slice(0, 90), argv] as const))(
    "%s",
    async (_, argv) => {
      const before = shop.dump();
      const data = argv.length > 1 && argv[0] !== "--frobnicate" ? optionsOf(shop) : [];
      const { code, stdout, stderr } = await reseller(...argv, ...data);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(/^(error: |Usage: )/);
      expect(stderr).not.toContain("\n    at ");
      expect(shop.dump()).toBe(before);
    },
  );

  test("an empty --data is not the working directory", async () => {
    expect((await reseller("verify", "--data", "")).code).toBe(2);
  });

  test("a long wrong value is not repeated at length", async () => {
    const { stderr } = await shop.cli("admin", "user", "create", "x ".repeat(5000));
    expect(stderr.length).toBeLessThan(250);
  });
});

const program = await createProgram();

describe("help", () => {
  const leaves = [...leavesOf(program, [])];

  test("exists for every command of the specification", () => {
    const paths = leaves.map((path) => path.join(" "));
    expect(paths).toEqual(
      expect.arrayContaining([
        "serve", "verify", "health", "version",
        ...["create", "list", "show", "credit", "debit"].map((verb) => `admin user ${verb}`),
        ...["create", "list", "activate", "deactivate"].map((verb) => `admin key ${verb}`),
        ...["create", "update", "list", "activate", "deactivate", "grant", "revoke", "import"].map(
          (verb) => `admin service ${verb}`,
        ),
        ...["list", "show", "progress", "complete", "fail", "cancel", "refund", "partial"].map(
          (verb) => `admin order ${verb}`,
        ),
      ]),
    ); // prettier-ignore
  });

  test.each(leaves.map((path) => [path.join(" "), path] as const))(
    "%s --help: exit 0, on stdout, with --json, an example of the command and where its data is",
    async (words, path) => {
      const { code, stdout, stderr } = await reseller(...path, "--help");
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      if (words === "move") expect(stdout).toContain("--from <place>");
      // The demo must not touch the service's data.
      else if (words === "demo") expect(stdout).toMatch(/--data <DIR>(?![^]*RESELLER_DATA)/);
      else expect(stdout).toMatch(/--data <DIR>[^]*RESELLER_DATA/);
      expect(stdout).toContain("--json");
      expect(stdout).toMatch(new RegExp(`Example:\n {2}reseller ${words}\\b`));
    },
  );

  test("`help COMMAND` prints the same as `COMMAND --help`", async () => {
    const before = await reseller("help", "admin", "user", "create");
    const behind = await reseller("admin", "user", "create", "--help");
    expect(before).toEqual(behind);
  });
});

describe("settings: flag, then variable, then default", () => {
  const working = process.cwd();
  afterEach(() => {
    delete process.env["RESELLER_DATA"];
    delete process.env["RESELLER_DATABASE"];
    process.chdir(working);
  });

  test("the flag beats the variable", async () => {
    process.env["RESELLER_DATA"] = "/nowhere";
    expect((await shop.cli("verify")).stdout).toContain(shop.description);
  });

  test("the variable beats the default", async () => {
    for (const [name, value] of Object.entries(shop.location)) {
      process.env[`RESELLER_${name.toUpperCase()}`] = value;
    }
    expect((await reseller("verify")).stdout).toContain(shop.description);
  });

  test("the default is data, below the working directory, printed as an absolute path", async () => {
    const folder = freshFolder();
    process.chdir(folder);
    const { code, stderr } = await reseller("verify");
    expect(code).toBe(1);
    expect(stderr).toContain(`no database at ${folder}/data/reseller.db`);
  });

  test("a wrong variable is wrong usage and is named", async () => {
    process.env["RESELLER_DATA"] = "";
    const { code, stderr } = await reseller("verify");
    expect(code).toBe(2);
    expect(stderr).toContain("RESELLER_DATA");
  });
});

function* leavesOf(command: Command, path: string[]): Generator<string[]> {
  if (command.commands.length === 0) yield path;
  for (const child of command.commands) yield* leavesOf(child, [...path, child.name()]);
}

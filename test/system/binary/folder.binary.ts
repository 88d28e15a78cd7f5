// The binary reads nothing from its working directory, and names clearly what it cannot use.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import packageJson from "../../../package.json" with { type: "json" };
import { BINARY, binary, binaryJson, serving, stall, stop } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";

test(".env and bunfig.toml of the working directory have no influence", async () => {
  const folder = freshFolder();
  const touched = join(folder, "touched");
  writeFileSync(join(folder, ".env"), "RESELLER_DATA=elsewhere\nRESELLER_LOG_LEVEL=nonsense\n");
  writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./preload.js"]\n');
  writeFileSync(
    join(folder, "preload.js"),
    `require("node:fs").writeFileSync(${JSON.stringify(touched)}, "")`,
  );
  const server = await serving(folder, "serve");
  await stop(server);
  expect((await binary(folder, "verify")).code).toBe(0);
  expect(existsSync(touched)).toBe(false);
  expect(existsSync(join(folder, "data", "reseller.db"))).toBe(true);
  expect(existsSync(join(folder, "elsewhere"))).toBe(false);
});

test("version names version, commit, Bun and SQLite", async () => {
  expect(await binaryJson(freshFolder(), "version")).toEqual({
    version: packageJson.version,
    commit: expect.stringMatching(/^[0-9a-f]{12}$|^unknown$/),
    bun: "1.4.5",
    sqlite: expect.stringMatching(/^3\.\d+\.\d+$/),
  });
});

test("a data directory with spaces and letters of any script is served", async () => {
  const folder = join(freshFolder(), "mes données 数据");
  mkdirSync(folder);
  const server = await serving(folder, "serve", "--data", "a b/ü");
  expect((await binary(folder, "health", "--data", "a b/ü")).code).toBe(0);
  await stop(server);
});

describe("a failure to serve or print is one sentence, without a stack trace", () => {
  const SERVES: [what: string, argv: string[], told: string][] = [
    ["a data directory that is a file", ["serve", "--data", "file"], "file cannot be used"],
    ["an address of another machine", ["serve", "--host", "192.0.2.1"], "EADDRNOTAVAIL"],
    ["a host that is no name", ["serve", "--host", "a b"], "cannot listen on a b"],
    ["a database of another program", ["serve", "--data", "other"], "belongs to another program"],
    ["text for a database", ["verify", "--data", "text"], "is damaged or not a database"],
  ]; // prettier-ignore
  test.each(SERVES)("%s: exit 1", async (_, argv, told) => {
    const folder = freshFolder();
    writeFileSync(join(folder, "file"), "");
    mkdirSync(join(folder, "text"));
    writeFileSync(join(folder, "text", "reseller.db"), "text ".repeat(2000));
    mkdirSync(join(folder, "other"));
    const other = join(folder, "other", "reseller.db");
    await foreignDatabase(other);
    const before = readFileSync(other);
    const { code, stdout, stderr } = await binary(folder, ...argv, "--port", "0").then((ended) =>
      argv[0] === "serve" ? ended : binary(folder, ...argv),
    );
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).toContain(told);
    expect(stderr).toContain(folder);
    expect(readFileSync(other)).toEqual(before);
  });

  test.each(["admin service list --json", "admin service list"])(
    "a reader that goes away early (%s): no word, and the exit code of a program that SIGPIPE ends",
    (command) => {
      const { stdout, stderr } = shell(`${command} | head -c 1; echo " \${PIPESTATUS[0]}"`);
      expect([stdout, stderr]).toEqual([command.endsWith("json") ? "[ 141\n" : "N 141\n", ""]);
    },
  );

  test("a full disk under stdout: exit 1 and what was done", () => {
    const { exitCode, stderr } = shell("admin service list > /dev/full");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: the result cannot be printed \(ENOSPC\).*\n$/);
  });

  test("a closed stdout", () => {
    const { stderr } = shell("admin service list >&-");
    expect(stderr).not.toContain("    at ");
  });
});

async function foreignDatabase(path: string): Promise<void> {
  const { Database } = await import("bun:sqlite");
  const other = new Database(path);
  other.run("CREATE TABLE theirs (a)");
  other.close();
}

/** A command line on a database with a catalogue of 2,000 services, through a shell. */
function shell(line: string): { stdout: string; stderr: string; exitCode: number } {
  const folder = freshFolder();
  const rows = Array.from({ length: 2000 }, (_, row) => `${"x".repeat(100)} ${row},1,1,2`);
  writeFileSync(join(folder, "c.csv"), `name,price,min,max\n${rows.join("\n")}\n`);
  const reseller = new URL("../../../dist/reseller", import.meta.url).pathname;
  const script = `set -e
    ${reseller} serve --port 0 > out 2> log & server=$!
    until grep -qs listening out; do :; done
    ${reseller} admin service import c.csv > imported
    kill $server; wait $server
    ${reseller} ${line}`;
  const { stdout, stderr, exitCode } = Bun.spawnSync(["bash", "-c", script], { cwd: folder });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

test("every command tells users without access to run it as the service's user", async () => {
  const folder = freshFolder();
  const data = join(folder, "data");
  const { server } = await stall(folder);
  const program = join(folder, "reseller");
  copyFileSync(BINARY, program);
  chmodSync(program, 0o755);
  // To root permissions are nothing: it becomes another user.
  const isRoot = process.getuid!() === 0;
  chmodSync(folder, 0o755);
  if (!isRoot) chmodSync(data, 0);
  const other = "setpriv --reuid 65534 --regid 65534 --clear-groups".split(" ");
  for (const command of [
    "doctor",
    "verify",
    `verify --file ${data}/reseller.db`,
    "health",
    "report",
    "admin user list",
    "panel list",
    `restore ${data}/reseller.db --data ${folder}/other`,
    `backup ${folder}/copy.db`,
    "config check",
    "serve --port 0",
  ]) {
    const { exitCode, stdout, stderr } = Bun.spawnSync(
      [...(isRoot ? other : []), program, ...command.split(" ")],
      { cwd: folder, env: { RESELLER_DATA: data } },
    );
    const said = `${stdout.toString()}${stderr.toString()}`;
    expect([command, exitCode, said]).toEqual([
      command,
      1,
      expect.stringMatching(/EACCES|this user|service's user/),
    ]);
    expect([command, said]).toEqual([command, expect.not.stringContaining("this is a bug in")]);
  }
  if (!isRoot) chmodSync(data, 0o700);
  await stop(server);
});

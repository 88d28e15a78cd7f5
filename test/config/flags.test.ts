// Settings: a printed value parses again, and a file is read only when its setting is needed.

import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProgram } from "../../src/cli/kernel/program.ts";
import { variableOf } from "../../src/config/flags.ts";
import { type Setting, SETTINGS } from "../../src/config/settings.ts";
import { reseller } from "../support/worlds/shop.ts";
import { freshFolder } from "../support/folders.ts";

const rows = Object.entries<Setting<unknown>>(SETTINGS);

afterEach(() => {
  for (const [flag] of rows) {
    delete process.env[variableOf(flag)];
    delete process.env[`${variableOf(flag)}_FILE`];
  }
  process.env["RESELLER_ENV_FILE"] = "none";
});

function fileOf(content: string): string {
  const path = join(freshFolder(), "value");
  writeFileSync(path, content);
  return path;
}

async function shown(flag: string, ...argv: string[]): Promise<object | undefined> {
  const { stdout } = await reseller("config", "show", "--json", ...argv);
  return (JSON.parse(stdout) as { name: string }[]).find(({ name }) => name === flag);
}

test.each(rows)("the default of --%s, as it is printed, parses to the same value", (_, row) => {
  const printed = row.format(row.default);
  if (printed === "") expect(row.default ?? []).toEqual([]);
  else expect(row.parse(printed)).toEqual(row.default);
});

describe("the file that a variable names", () => {
  test("gives the value where neither flag nor variable does", async () => {
    const path = (process.env["RESELLER_PORT_FILE"] = fileOf("9000\n"));
    expect(await shown("port")).toMatchObject({ value: "9000", origin: `file ${path}` });
    process.env["RESELLER_PORT"] = "9001";
    expect(await shown("port")).toMatchObject({ value: "9001", origin: "variable RESELLER_PORT" });
    expect(await shown("port", "--port", "9002")).toMatchObject({ value: "9002", origin: "flag" });
  });

  test("is read when its setting is needed, not where a command line is declared", async () => {
    process.env["RESELLER_PORT_FILE"] = "/nowhere/port";
    const before = { ...process.env };
    await createProgram();
    expect(await reseller("version")).toMatchObject({ code: 0 });
    expect((await reseller("serve", "--help")).code).toBe(0);
    const { code, stderr } = await reseller("config", "show");
    expect({ code, stderr: stderr.slice(0, 46) }).toEqual({
      code: 2,
      stderr: "error: RESELLER_PORT_FILE: cannot use /nowhere",
    });
    expect({ ...process.env }).toEqual(before);
  });

  test("with a wrong value is wrong usage, and both value and variable are named", async () => {
    process.env["RESELLER_LOG_LEVEL_FILE"] = fileOf("loud");
    const { code, stdout, stderr } = await reseller("config", "show");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toStartWith("error: RESELLER_LOG_LEVEL must be one of debug, info");
    expect(stderr).toContain('not "loud"');
  });
});

describe("the address of the database", () => {
  const address = "postgres://anna:s3cr%2Ft@db.example,[::1]:5433/shop?sslmode=require";

  test.each([
    ["its flag", async () => shown("database", "--database", address)],
    [
      "its variable",
      () => {
        process.env["RESELLER_DATABASE"] = address;
        return shown("database");
      },
    ],
    [
      "a file",
      () => {
        process.env["RESELLER_DATABASE_FILE"] = fileOf(`${address}\n`);
        return shown("database");
      },
    ],
  ])("given by %s is shown without user and password", async (_, show) => {
    expect(await show()).toMatchObject({
      value: "postgres://db.example,[::1]:5433/shop?sslmode=require",
    });
  });

  test.each([
    "postgres://anna:s3cret/shop",
    "postgres://anna:s3cret@db",
    "anna:s3cret@db/shop",
    "postgres://anna:s3/cret@db/shop@",
    "postgres:// s3cret/shop",
  ])("that is invalid is not shown at all: %s", async (wrong) => {
    expect(await shown("database", "--database", wrong)).toMatchObject({
      value: "(not an address)",
    });
  });
});

describe("the panel on plain HTTP", () => {
  const conflict = async (...flags: string[]) => {
    const { stdout } = await reseller(
      "config",
      "check",
      "--json",
      "--data",
      freshFolder(),
      ...flags,
    );
    return stdout.includes("plain HTTP outside this machine");
  };
  const here = ["--panel-listen", "127.0.0.1:8081"];
  const beyond = ["--panel-listen", "0.0.0.0:8081"];
  test.each([
    [here, false],
    [[...here, "--panel-url", "http://localhost:9000"], false],
    [[...here, "--panel-url", "http://[::1]:9000"], false],
    [[...here, "--panel-url", "https://panel.example"], false],
    [[...here, "--panel-url", "http://panel.example"], true],
    [[...here, "--panel-url", "http://panel.example", "--panel-insecure"], false],
    [beyond, true],
    [[...beyond, "--panel-url", "http://localhost:9000"], true],
    [[...beyond, "--panel-url", "https://panel.example"], false],
    [[...beyond, "--panel-insecure", "on"], false],
    [[...beyond, "--panel-insecure", "off"], true],
  ])("%j is refused: %p", async (flags, isRefused) => {
    expect(await conflict(...flags)).toBe(isRefused);
  });
});

test("a server's name is short and without spaces", async () => {
  const { code, stderr } = await reseller("config", "show", "--server", "first one");
  expect(code).toBe(2);
  expect(stderr).toStartWith("error: --server must be 1 to 64 letters, digits");
});

describe("the file of --env-file", () => {
  const address = "postgres://anna:s3cret@db.example/shop";

  test("counts after flag, variable and the variable's file, and before the default", async () => {
    const portFile = fileOf("9003");
    const path = fileOf(`RESELLER_PORT=9000\nRESELLER_HOST_FILE=${fileOf("127.0.0.9")}\n`);
    const origin = `file ${path}`;
    const file = ["--env-file", path];
    expect(await shown("port", ...file)).toMatchObject({ value: "9000", origin });
    expect(await shown("host", ...file)).toMatchObject({ value: "127.0.0.9", origin });
    expect(await shown("brand", ...file)).toMatchObject({ origin: "default" });
    process.env["RESELLER_ENV_FILE"] = path;
    expect(await shown("port")).toMatchObject({ value: "9000", origin });
    process.env["RESELLER_PORT_FILE"] = portFile;
    expect(await shown("port")).toMatchObject({ value: "9003", origin: `file ${portFile}` });
    process.env["RESELLER_PORT"] = "9001";
    expect(await shown("port")).toMatchObject({ value: "9001" });
    expect(await shown("port", "--port", "9002")).toMatchObject({ value: "9002" });
    expect(await shown("env-file")).toMatchObject({ value: path });
  });

  test.each([["data"], ["database"]])(
    "does not choose the database when --%s does",
    async (flag) => {
      const path = fileOf(
        `RESELLER_DATA=/elsewhere\nRESELLER_DATABASE=${address}\nRESELLER_PORT=1`,
      );
      process.env["RESELLER_ENV_FILE"] = path;
      expect(await shown("data")).toMatchObject({ value: "/elsewhere" });
      expect(await shown("database")).toMatchObject({ value: "postgres://db.example/shop" });
      const named = flag === "data" ? "/here" : "postgres://other.example/shop";
      for (const other of ["data", "database"]) {
        const origin = other === flag ? "flag" : "default";
        expect(await shown(other, `--${flag}`, named)).toMatchObject({ origin });
      }
      expect(await shown("port", `--${flag}`, named)).toMatchObject({ value: "1" });
    },
  );

  test.each([
    ["a wrong value", "RESELLER_LOG_LEVEL=loud", /^error: RESELLER_LOG_LEVEL must be one of/],
    ["a folder that is not absolute", "RESELLER_DATA=./data", /RESELLER_DATA in .+ absolute path/],
    ["a line that systemd's versions read differently", "# a\\\nRESELLER_PORT=1", /line 1 is a/],
  ])("with %s is wrong usage", async (_, content, message) => {
    const { code, stderr } = await reseller("config", "show", "--env-file", fileOf(content));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test.each([["/nowhere/file"], ["/"]])("that is named must be readable: %s", async (path) => {
    const { code, stderr } = await reseller("config", "show", "--env-file", path);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--env-file ${path} cannot be`)]);
  });

  test("may hold other programs' variables; misspelled ones of this program are reported", async () => {
    const path = fileOf("TZ=UTC\nexport RESELLER_PORT=1\nRESELLER_PROT=1\n");
    const argv = ["config", "check", "--data", freshFolder(), "--port", "0", "--env-file", path];
    const { code, stderr } = await reseller(...argv);
    expect(code).toBe(1);
    expect(stderr).toContain("export RESELLER_PORT:");
    expect(stderr).toContain("RESELLER_PROT (did you mean RESELLER_PORT?)");
    expect(stderr).not.toContain("TZ");
  });

  test("is named on standard error when one of its values is used, unless --json is given", async () => {
    const path = fileOf("RESELLER_CONFIRM_ABOVE=5\n");
    const argv = ["admin", "user", "credit", "bob", "9", "--data", freshFolder()];
    const used = await reseller(...argv, "--env-file", path);
    expect(used.stderr).toStartWith(`settings from ${path}\n`);
    const json = await reseller(...argv, "--env-file", path, "--json");
    expect(JSON.parse(json.stderr)).toMatchObject({ status: "error" });
    const unused = await reseller(
      "admin",
      "user",
      "list",
      "--data",
      freshFolder(),
      "--env-file",
      path,
    );
    expect(unused.stderr).not.toContain("settings from");
  });
});

// Configuration over the compiled binary: where each value comes from, errors before the server starts.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { BINARY, binaryWith, serving, servingWith, stop } from "../../support/binary.ts";
import type { Body } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";
import { makeCertificate } from "../../support/http/certificates.ts";

type Environment = Record<string, string>;

async function show(environment: Environment, folder: string, ...flags: string[]) {
  const { code, stdout, stderr } = await binaryWith(
    environment,
    folder,
    "config",
    "show",
    "--json",
    ...flags,
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const rows: Body[] = JSON.parse(stdout);
  return new Map(rows.map(({ name, value, origin }) => [name, [value, origin]]));
}

test("a value comes from the flag, else the variable, else the file it names, else the default", async () => {
  const folder = freshFolder();
  const file = join(folder, "limit");
  writeFileSync(file, "50/m\n");
  const environment = {
    RESELLER_PORT: "9000",
    RESELLER_HOST: "127.0.0.2",
    RESELLER_RATE_LIMIT_FILE: file,
    RESELLER_DISK_FLOOR: "1GiB",
  };
  const settings = await show(environment, folder, "--port", "9001");
  expect(settings.get("port")).toEqual(["9001", "flag"]);
  expect(settings.get("host")).toEqual(["127.0.0.2", "variable RESELLER_HOST"]);
  expect(settings.get("rate-limit")).toEqual(["50/m", `file ${file}`]);
  expect(settings.get("disk-floor")).toEqual(["1GiB", "variable RESELLER_DISK_FLOOR"]);
  expect(settings.get("log-level")).toEqual(["info", "default"]);
  expect(settings.get("data")).toEqual(["./data", "default"]);
  const twice = { ...environment, RESELLER_RATE_LIMIT: "7/s" };
  const variable = (await show(twice, folder)).get("rate-limit");
  expect(variable).toEqual(["7/s", "variable RESELLER_RATE_LIMIT"]);
});

test("printed values parse to the same values", async () => {
  const folder = freshFolder();
  const given = {
    "trusted-proxy": "10.0.0.0/8,2001:db8::/32",
    "metrics-listen": "[::1]:9090",
    "log-reads": "12.5%",
    "rate-limit": "0",
    "disk-floor": "100KiB",
  };
  const flags = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const settings = await show({}, folder, ...flags);
  for (const [name, value] of Object.entries(given)) {
    expect([name, settings.get(name)]).toEqual([name, [value, "flag"]]);
  }
});

describe("is wrong usage:", () => {
  test.each([
    ["--rate-limit", "100"],
    ["--rate-limit", "100/d"],
    ["--disk-floor", "10"],
    ["--metrics-listen", "9090"],
    ["--metrics-listen", "127.0.0.1:99999"],
    ["--trusted-proxy", "10.0.0.1/8"],
    ["--log-reads", "101%"],
    ["--log-format", "xml"],
    ["--tls-cert", "only.pem"],
  ])("serve %s %s", async (flag, value) => {
    const { code, stdout } = await binaryWith({}, freshFolder(), "serve", flag, value);
    expect([code, stdout]).toEqual([2, ""]);
  });

  test("a missing file", async () => {
    const environment = { RESELLER_PORT_FILE: "/nowhere/port" };
    const { code, stderr } = await binaryWith(environment, freshFolder(), "serve");
    expect([
      code,
      stderr.startsWith("error: RESELLER_PORT_FILE: cannot use /nowhere/port"),
    ]).toEqual([2, true]);
  });
});

describe("the file of a setting", () => {
  /** `config check` through a shell. */
  const check = (script: string) => {
    const folder = freshFolder();
    const { exitCode, stdout, stderr } = Bun.spawnSync(["bash", "-c", script, "bash", BINARY], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "" },
    });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  };

  test.each([
    ["/dev/zero", "neither a file nor a pipe"],
    ["/dev/urandom", "neither a file nor a pipe"],
    ["/dev/null", "neither a file nor a pipe"],
    [".", "neither a file nor a pipe"],
    ["<(yes)", "longer than 65536 bytes"],
    ["<(printf '80\\n81\\n')", "more than one line"],
    ["<(sleep 30 2> /dev/null)", "did not close it in time"],
  ])("%s: exit 2 and why", (file, why) => {
    const { exitCode, stdout, stderr } = check(`RESELLER_PORT_FILE=${file} "$1" serve`);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^error: RESELLER_PORT_FILE: cannot use .*\n$/);
    expect(stderr).toContain(why);
  });

  test.each([
    ["a file", "echo 8099 > f; RESELLER_PORT_FILE=f"],
    ["a symbolic link, as secrets are mounted", "echo 8099 > f; ln -s f g; RESELLER_PORT_FILE=g"],
    ["a process substitution that takes a moment", "RESELLER_PORT_FILE=<(sleep 0.3; echo 8099)"],
    [
      "a FIFO whose writer comes later",
      "mkfifo f; (sleep 0.3; echo 8099 > f)& RESELLER_PORT_FILE=f",
    ],
    ["standard input", "echo 8099 | RESELLER_PORT_FILE=/dev/stdin"],
  ])("%s is read", (_, script) => {
    const { exitCode, stdout } = check(`${script} "$1" config show --json`);
    expect(exitCode).toBe(0);
    const port = JSON.parse(stdout).find(({ name }: { name: string }) => name === "port");
    expect(port).toMatchObject({ value: "8099", origin: expect.stringMatching(/^file /) });
  });

  test("a certificate and key in endless files fail with one sentence", () => {
    const { exitCode, stderr } = check('"$1" serve --tls-cert /dev/zero --tls-key /dev/zero');
    expect([exitCode, stderr]).toEqual([
      1,
      "error: the certificate /dev/zero cannot be read (it is neither a file nor a pipe)\n",
    ]);
  });

  test("a provider's key without end on standard input is refused", () => {
    const { exitCode, stderr } = check(
      '"$1" admin provider create acme --url https://acme.example/api --key-stdin < /dev/zero',
    );
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining("1 to 1024 visible")]);
  });
});

test("a file with a private key is not taken for the value of a setting, and nothing of it is shown", async () => {
  const file = join(freshFolder(), "key.pem");
  writeFileSync(file, "-----BEGIN PRIVATE KEY-----\nMIIEsecret\n-----END PRIVATE KEY-----\n");
  const environment = { RESELLER_TLS_KEY_FILE: file };
  for (const words of [["serve"], ["config", "show"], ["config", "check"]]) {
    const { code, stdout, stderr } = await binaryWith(environment, freshFolder(), ...words);
    expect([words, code, stdout]).toEqual([words, 2, ""]);
    expect(stderr).toContain("set RESELLER_TLS_KEY to its path");
    expect(stderr).not.toContain("MIIEsecret");
  }
});

describe("config check", () => {
  const check = (environment: Environment, ...flags: string[]) =>
    checkIn(freshFolder(), environment, ...flags);
  const checkIn = async (folder: string, environment: Environment, ...flags: string[]) => {
    const argv = ["config", "check", "--json", "--port", "0", ...flags];
    const { code, stdout } = await binaryWith(environment, folder, ...argv);
    const rows: Body[] = JSON.parse(stdout);
    const details = new Map(rows.map(({ check, detail }) => [check, detail]));
    return { code, details, states: new Map(rows.map(({ check, state }) => [check, state])) };
  };

  test("passes what serve could run with", async () => {
    const { code, states } = await check({});
    expect(code).toBe(0);
    expect([...states.values()]).toEqual(Array<string>(states.size).fill("ok"));
  });

  test("fails on a variable that no setting has, and on a folder that is a file", async () => {
    const typo = await check({ RESELLER_RATELIMIT: "1/s" });
    expect([typo.code, typo.states.get("variables")]).toEqual([1, "fail"]);
    const file = await check({}, "--data", "/etc/passwd");
    expect([file.code, file.states.get("data")]).toEqual([1, "fail"]);
    expect(typo.details.get("variables")).toContain(
      "RESELLER_RATELIMIT (did you mean RESELLER_RATE_LIMIT?)",
    );
    const shared = ["--port", "9090", "--metrics-listen", "127.0.0.1:9090"];
    expect((await check({}, ...shared)).states.get("addresses")).toBe("fail");
  });

  test("tries to listen: fails on an address that is taken, is not this machine's, or is another listener's", async () => {
    const taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const address = `127.0.0.1:${taken.port}`;
    const addresses = async (...flags: string[]) => {
      const { code, states, details } = await check({}, ...flags);
      return [code, states.get("addresses"), details.get("addresses")];
    };
    const inUse = (flag: string) => [
      1,
      "fail",
      `cannot listen on ${address} (EADDRINUSE): choose another address for ${flag}, or stop the program that uses it`,
    ];
    expect(await addresses("--port", String(taken.port))).toEqual(inUse("--host or --port"));
    expect(await addresses("--panel-listen", address)).toEqual(inUse("--panel-listen"));
    expect(await addresses("--metrics-listen", address)).toEqual(inUse("--metrics-listen"));
    taken.stop(true);
    expect(await addresses("--host", "192.0.2.1")).toEqual([
      1,
      "fail",
      expect.stringContaining("192.0.2.1:0"),
    ]);
    expect(
      await addresses("--panel-listen", "127.0.0.1:9", "--metrics-listen", "127.0.0.1:9"),
    ).toEqual([1, "fail", expect.stringContaining("two listeners")]);
    expect(await addresses("--panel-listen", "0", "--metrics-listen", "0")).toEqual([
      0,
      "ok",
      "127.0.0.1:0",
    ]);
  });

  test("accepts the address in use beside the server that runs there", async () => {
    const folder = freshFolder();
    const server = await serving(folder, "serve");
    const { port } = new URL(server.url);
    const { code, details } = await checkIn(folder, {}, "--port", port);
    expect([code, details.get("addresses")]).toEqual([
      0,
      `127.0.0.1:${port}: in use by the running server`,
    ]);
    expect((await check({}, "--port", port)).code).toBe(1);
    await stop(server);
  });

  test("fails on a key of another certificate, and warns of one that expires soon", async () => {
    const folder = freshFolder();
    const [one, other] = [makeCertificate(folder, "one"), makeCertificate(folder, "other", 3)];
    const tls = (cert: string, key: string) => check({}, "--tls-cert", cert, "--tls-key", key);
    expect((await tls(one.cert, one.key)).states.get("tls")).toBe("ok");
    expect((await tls(other.cert, other.key)).states.get("tls")).toBe("warn");
    const mixed = await tls(one.cert, other.key);
    expect([mixed.code, mixed.states.get("tls")]).toEqual([1, "fail"]);
    expect((await tls(one.key, one.cert)).code).toBe(1);
  });

  test("warns when everyone is trusted as a proxy", async () => {
    const { code, states } = await check({}, "--trusted-proxy", "0.0.0.0/0");
    expect([code, states.get("proxies")]).toEqual([0, "warn"]);
  });
});

test("serve warns of variables that no setting has, and names the nearest", async () => {
  const environment = {
    RESELLER_PROT: "9",
    RESELLER_DATA_DIRECTORY: "x",
    RESELLER_LOG_LEVEL: "info",
  };
  const server = await servingWith(environment, freshFolder(), "serve");
  await stop(server);
  const lines: Body[] = server
    .stderr()
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter(({ level }) => level === "warn")).toMatchObject([
    {
      name: "RESELLER_DATA_DIRECTORY",
      nearest: null,
      msg: expect.stringContaining("unknown RESELLER_ variable"),
    },
    { name: "RESELLER_PROT", nearest: "RESELLER_PORT" },
  ]);
});

test("a listener that is turned off is off, whether or not it has a default", async () => {
  const settings = await show(
    { RESELLER_METRICS_LISTEN: "0" },
    freshFolder(),
    "--panel-listen",
    "0",
  );
  expect(settings.get("panel-listen")).toEqual(["", "flag"]);
  expect(settings.get("metrics-listen")).toEqual(["", "variable RESELLER_METRICS_LISTEN"]);
});

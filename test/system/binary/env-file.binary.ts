// The service's own file of settings, /etc/reseller/reseller.env, as commands read it. Each command sees an /etc of its own:
// a mount namespace, in which this test may write there whatever the machine has.

import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { EnvFileError, parseEnvFile } from "../../../src/config/env-file.ts";
import { BINARY } from "../../support/binary.ts";
import { randomFrom } from "../../support/random/seeded.ts";
import type { Body } from "../../support/http/api.ts";
import { freshFolder } from "../../support/folders.ts";

const NOBODY = "65534";

interface Machine {
  /** Becomes /etc/reseller and /var/lib/reseller. */
  etc: string;
  data: string;
}

function freshMachine(settings: string, mode = 0o644): Machine {
  const folder = freshFolder();
  chmodSync(folder, 0o755);
  const [etc, data] = [join(folder, "etc"), join(folder, "data")];
  for (const made of [etc, data]) mkdirSync(made, { mode: 0o755 });
  writeFileSync(join(etc, "reseller.env"), settings);
  chmodSync(join(etc, "reseller.env"), mode);
  return { etc, data };
}

/** A command on that machine; `user` is a number. */
function on({ etc, data }: Machine, words: readonly string[], user = "0", variables = {}) {
  const script = `set -e
    mount -t tmpfs tmpfs /etc && mkdir /etc/reseller && mount --bind "$1" /etc/reseller
    mount -t tmpfs tmpfs /var/lib && mkdir /var/lib/reseller && mount --bind "$2" /var/lib/reseller
    program=$3 user=$4; shift 4
    cd / && exec setpriv --reuid "$user" --regid "$user" --clear-groups "$program" "$@"`;
  const { exitCode, stdout, stderr } = Bun.spawnSync(
    ["unshare", "-m", "sh", "-c", script, "sh", etc, data, BINARY, user, ...words],
    { env: { PATH: process.env["PATH"] ?? "", ...variables } },
  );
  return { code: exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
}

function shown(machine: Machine, variables = {}): Map<string, [string, string]> {
  const { stdout, stderr } = on(machine, ["config", "show", "--json"], "0", variables);
  expect(stderr).toBe("");
  const rows: Body[] = JSON.parse(stdout);
  return new Map(rows.map(({ name, value, origin }) => [name, [value, origin]]));
}

const FILE = "/etc/reseller/reseller.env";

test("commands have the settings of the service, its off-site copies and its database", () => {
  const copies = [
    "RESELLER_BACKUP_TO=s3://backups/reseller",
    "RESELLER_S3_ENDPOINT=http://127.0.0.1:9",
    "RESELLER_S3_ACCESS_KEY=a",
    "RESELLER_S3_SECRET_KEY=b",
  ];
  const machine = freshMachine(`${copies.join("\n")}\nRESELLER_PORT=8099\n`);
  const settings = shown(machine);
  expect(settings.get("port")).toEqual(["8099", `file ${FILE}`]);
  expect(settings.get("env-file")).toEqual([FILE, "default"]);
  // Where the unit keeps it, as the file names no other.
  expect(settings.get("data")).toEqual(["/var/lib/reseller", "default of the systemd unit"]);
  const listed = on(machine, ["backup", "list"]);
  expect(listed.stderr).toStartWith(`settings from ${FILE}\n`);
  expect(listed.stderr).not.toContain("off-site backups are not configured");
  expect(on(machine, ["admin", "user", "list"]).stderr).toContain("/var/lib/reseller/reseller.db");
});

test("the database of the file is used, unless the command names one", () => {
  const machine = freshMachine("RESELLER_DATABASE=postgres://u:s3cret@127.0.0.1:9/shop\n");
  const used = on(machine, ["admin", "user", "list"]);
  expect([used.code, used.stderr]).toEqual([
    1,
    expect.stringContaining("postgres://127.0.0.1:9/shop"),
  ]);
  const named = on(machine, ["admin", "user", "list", "--data", "/tmp/none"]);
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("/tmp/none/reseller.db")]);
  expect(named.stderr).toStartWith(`RESELLER_DATABASE in ${FILE} is ignored`);
  // As the unit starts the service, whose variables come from systemd.
  expect(shown(machine, { RESELLER_DATA: "/srv" }).get("database")).toEqual(["", "default"]);
  expect(used.stderr + named.stderr).not.toContain("s3cret");
});

test("a file that this user may not read is an error, unless the command names its database", () => {
  const machine = freshMachine("RESELLER_PORT=8099\n", 0o640);
  const refused = on(machine, ["admin", "user", "list"], NOBODY);
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toStartWith(
    `error: ${FILE} holds the service's database settings and cannot be read`,
  );
  const named = on(machine, ["admin", "user", "list", "--data", "/tmp/none"], NOBODY);
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("/tmp/none/reseller.db")]);
  expect(named.stderr).toStartWith(`${FILE} cannot be read (EACCES)`);
  chmodSync(machine.etc, 0o700);
  expect(on(machine, ["backup", "list"], NOBODY).code).toBe(2);
  for (const words of [["version"], ["licenses"], ["man"], ["completion", "bash"]]) {
    const { code, stderr } = on(machine, words, NOBODY);
    expect([words, code, stderr]).toEqual([words, 0, ""]);
  }
});

test("a file that cannot be read says why, also where the system gives no code", () => {
  const machine = freshMachine(`RESELLER_BRAND=${"x".repeat(2 * 1024 * 1024)}\n`);
  const tooLong = on(machine, ["admin", "user", "list"]);
  expect([tooLong.code, tooLong.stderr]).toEqual([2, expect.stringContaining("it is longer than")]);
  const folder = on(machine, ["admin", "user", "list", "--env-file", "/etc/reseller"]);
  expect([folder.code, folder.stderr]).toEqual([
    2,
    expect.stringContaining("cannot be read: it is neither a file nor a pipe"),
  ]);
});

test("without the file nothing changes, and RESELLER_ENV_FILE=none reads none", () => {
  const machine = freshMachine("RESELLER_PORT=8099\n");
  const none = shown(machine, { RESELLER_ENV_FILE: "none" });
  expect([none.get("port"), none.get("data")]).toEqual([
    ["8080", "default"],
    ["./data", "default"],
  ]);
  const empty = { ...machine, etc: machine.data };
  expect(shown(empty).get("env-file")).toEqual(["none", "default"]);
  expect(shown(empty).get("port")).toEqual(["8080", "default"]);
});

test("300 random files have the values that systemd itself reads from them", () => {
  const random = randomFrom(29);
  const parts = [
    "A=",
    "x",
    " ",
    "\t",
    "\n",
    "\r",
    "\\",
    "'",
    '"',
    "#",
    ";",
    "$",
    "`",
    "=",
    "é",
    "0",
  ];
  const file = join(freshFolder(), "file.env");
  let compared = 0;
  while (compared < 300) {
    const length = 2 + Math.floor(random() * 14);
    const text = `A=${Array.from({ length }, () => parts[Math.floor(random() * parts.length)]).join("")}`;
    const value = valueOf(text);
    // systemd's conditions compare text without line ends that does not begin with a blank or an operator.
    if (value === undefined || !/^[^\s=<>!$][^\n\r]*$/.test(value)) continue;
    writeFileSync(file, text);
    const escaped = value.replace(/[\\"]/g, "\\$&");
    const { exitCode } = Bun.spawnSync(
      ["systemd-analyze", "condition", `ConditionOSRelease="A=${escaped}"`],
      { env: { ...process.env, SYSTEMD_OS_RELEASE: file } },
    );
    expect([text, value, exitCode]).toEqual([text, value, 0]);
    compared++;
  }
});

/** Undefined where systemd's versions differ. */
function valueOf(text: string): string | undefined {
  try {
    return parseEnvFile(text).get("A");
  } catch (error) {
    if (!(error instanceof EnvFileError)) throw error;
    return undefined;
  }
}

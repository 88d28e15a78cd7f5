// The steps of deploy/README.md and of README.md are run in a clean folder; the unit is verified and rated by systemd.

import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { freshFolder } from "../../support/folders.ts";
import { freePort } from "../../support/ports.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BINARY = join(ROOT, "dist/reseller");
const UNITS = ["reseller.service", "reseller-demo.service"];
/** What systemd calls well guarded; 10 is an ordinary service. */
const EXPOSURE_LIMIT = 2;

/**
 * The commands of the machine, as far as the steps need them: whoever runs this is the service's user, and
 * `systemctl` starts the unit's program with the unit's settings.
 */
const STAND_INS = `
set -euo pipefail
sudo() {
  if [ "$1" = -E ]; then shift; fi
  if [ "$1" = -u ]; then shift 2; fi
  "$@"
}
useradd() { :; }
apt-get() { :; }
npx() { :; }
# There is no group reseller.
install() {
  local given=()
  while (($#)); do
    if [ "$1" = -g ]; then shift; else given+=("$1"); fi
    shift
  done
  command install "\${given[@]}"
}
systemctl() {
  case "$1 \${!#}" in
    "daemon-reload daemon-reload" | "reload caddy") return ;;
    "kill reseller")
      kill -USR1 "$(cat "$MACHINE/pid")"
      until ls "$MACHINE"/var/lib/reseller/backups/*.db >/dev/null 2>&1; do sleep 0.1; done
      return ;;
  esac
  if [ "$1" = stop ] || [ "$1" = restart ]; then
    kill "$(cat "$MACHINE/pid")"
    while kill -0 "$(cat "$MACHINE/pid")" 2>/dev/null; do sleep 0.05; done
  fi
  if [ "$1" != stop ]; then
    : >"$MACHINE/out"
    env $(cat "$MACHINE/etc/reseller/reseller.env") RESELLER_DATA="$MACHINE/var/lib/reseller" \\
      RESELLER_PORT="$PORT" reseller serve >"$MACHINE/out" 2>>"$MACHINE/log" &
    echo $! >"$MACHINE/pid"
    until grep -qs listening "$MACHINE/out"; do
      kill -0 "$(cat "$MACHINE/pid")" || return 1
      sleep 0.1
    done
  fi
}
trap 'kill "$(cat "$MACHINE/pid")" 2>/dev/null || true' EXIT
`;

/** The commands of a document, on this machine's own little tree. */
function steps(document: string, machine: string, port: number): string[] {
  const text = readFileSync(join(ROOT, document), "utf8");
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) =>
    block!
      .replace(/(?<=[\s"=])\/(var\/lib|etc|usr\/local\/bin|usr\/share\/doc)\//g, `${machine}/$1/`)
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
      .replace(/127\.0\.0\.1:(8081|9090)/g, "127.0.0.1:0"),
  );
}

interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs commands on an empty machine, in a folder that holds what was copied to it. */
async function onMachine(
  commands: (machine: string, port: number) => string,
): Promise<CommandResult> {
  const machine = freshFolder();
  for (const folder of ["etc/systemd/system", "etc/caddy", "usr/local/bin", "bin"]) {
    mkdirSync(join(machine, folder), { recursive: true });
  }
  mkdirSync(join(machine, "var/lib/reseller"), { recursive: true, mode: 0o700 });
  symlinkSync(join(machine, "usr/local/bin/reseller"), join(machine, "bin/reseller"));
  mkdirSync(join(machine, "here/dist"), { recursive: true });
  cpSync(BINARY, join(machine, "here/dist/reseller"));
  cpSync(join(ROOT, "deploy"), join(machine, "here/deploy"), { recursive: true });
  const port = freePort();
  const script = join(machine, "steps.sh");
  writeFileSync(script, STAND_INS + commands(machine, port));
  const run = Bun.spawn(["bash", script], {
    cwd: join(machine, "here"),
    env: {
      PATH: `${machine}/bin:${process.env["PATH"]}`,
      HOME: machine,
      MACHINE: machine,
      PORT: String(port),
      RESELLER_ENV_FILE: `${machine}/etc/reseller/reseller.env`,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  return { code: await run.exited, stdout, stderr };
}

test("install, first order, upgrade, move and restore, step by step as deploy/README.md has them", async () => {
  const { code, stdout, stderr } = await onMachine((machine, port) => {
    const blocks = steps("deploy/README.md", machine, port);
    expect(blocks.length).toBe(9);
    return blocks.join("\n");
  });
  expect([code, stderr.includes("error")]).toEqual([0, false]);
  // The order outlived the upgrade, the move and the restore.
  expect(stdout).toContain('"orderId":1');
  expect(stdout).toMatch(/key\.create/);
  // Panel and portal are on, at the addresses of the guide.
  expect(stdout).toMatch(/https:\/\/api\.example\.com\/portal\/set-up#/);
  expect(stdout.match(/is healthy/g)?.length).toBe(3);
});

test("from the build to the first order, as README.md has it", async () => {
  const { code, stdout, stderr } = await onMachine((machine, port) => {
    const [demo, ...rest] = steps("README.md", machine, port);
    expect(demo).toBe("npx -y bun@1.4.5 run demo\n");
    expect(rest.length).toBe(3);
    return rest.join("\n");
  });
  expect([code, stderr.includes("error")]).toEqual([0, false]);
  expect(stdout).not.toContain('"status":"error"');
  expect(stdout).toContain('"orderId":1');
  // The first key is for orders: it adds no money.
  expect(stdout).toContain('"type":"order"');
  expect(stdout).toContain("PARTIAL");
});

describe.each(UNITS)("the unit %s", (name) => {
  const file = join(ROOT, "deploy", name);

  test("is valid for systemd", () => {
    const installed = join(freshFolder(), name);
    writeFileSync(installed, readFileSync(file, "utf8").replace("/usr/local/bin/reseller", BINARY));
    const { exitCode, stderr } = Bun.spawnSync(["systemd-analyze", "verify", installed]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });

  test("leaves the service nothing that it does not need", () => {
    const { stdout } = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", file]);
    const exposure = /Overall exposure level for \S+: ([\d.]+)/.exec(String(stdout));
    expect(Number(exposure?.[1])).toBeLessThanOrEqual(EXPOSURE_LIMIT);
  });
});

// deploy/: every step of its README is run in a clean folder; the unit is verified and weighed by systemd.

import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { freshFolder } from "../../support/service.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const BINARY = join(ROOT, "dist/reseller");
const UNIT = join(ROOT, "deploy/reseller.service");
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
install() { command install "$@"; }
systemctl() {
  case "$1 \${!#}" in
    "daemon-reload daemon-reload" | "reload caddy") return ;;
    "kill reseller")
      kill -USR1 "$(cat "$MACHINE/pid")"
      for _ in $(seq 100); do ls "$MACHINE"/var/lib/reseller/backups/*.db >/dev/null 2>&1 && break; sleep 0.1; done
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
    for _ in $(seq 100); do grep -qs listening "$MACHINE/out" && return; sleep 0.1; done
    return 1
  fi
}
trap 'kill "$(cat "$MACHINE/pid")" 2>/dev/null || true' EXIT
`;

/** The README's commands, on this machine's own little tree. */
function steps(machine: string, port: number): string {
  const text = readFileSync(join(ROOT, "deploy/README.md"), "utf8");
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block]) => block!);
  expect(blocks.length).toBe(8);
  return blocks
    .join("\n")
    .replace(/(?<=[\s"=])\/(var\/lib|etc|usr\/local\/bin)\//g, `${machine}/$1/`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
    .replaceAll("127.0.0.1:9090", "127.0.0.1:0");
}

function freePort(): number {
  const probe = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const { port } = probe;
  probe.stop(true);
  return port;
}

test("install, first order, upgrade, move and restore, step by step as the README has them", async () => {
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
  writeFileSync(script, STAND_INS + steps(machine, port));
  const run = Bun.spawn(["bash", script], {
    cwd: join(machine, "here"),
    env: {
      PATH: `${machine}/bin:${process.env["PATH"]}`,
      HOME: machine,
      MACHINE: machine,
      PORT: String(port),
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  expect([await run.exited, stderr.includes("error")]).toEqual([0, false]);
  // The order outlived the upgrade, the move and the restore.
  expect(stdout).toContain('"orderId":1');
  expect(stdout).toMatch(/key\.create/);
  expect(stdout.match(/is healthy/g)?.length).toBe(3);
});

describe("the unit", () => {
  test("is one that systemd understands", () => {
    const folder = freshFolder();
    const unit = readFileSync(UNIT, "utf8").replace("/usr/local/bin/reseller", BINARY);
    writeFileSync(join(folder, "reseller.service"), unit);
    const { exitCode, stderr } = Bun.spawnSync([
      "systemd-analyze",
      "verify",
      join(folder, "reseller.service"),
    ]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  });

  test("leaves the service nothing that it does not need", () => {
    const { stdout } = Bun.spawnSync(["systemd-analyze", "security", "--offline=true", UNIT]);
    const exposure = /Overall exposure level for reseller\.service: ([\d.]+)/.exec(String(stdout));
    expect(Number(exposure?.[1])).toBeLessThanOrEqual(EXPOSURE_LIMIT);
  });
});

// Machines with Debian's own systemd, packages and first start: containers of systemd-nspawn, each with a file system over one
// shared base and a network namespace behind one switch. They reach each other and nothing else.

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const MIRROR = "http://deb.debian.org/debian";
/** What a machine has before anyone follows a document. */
const INCLUDED = "dbus,sudo,openssl,openssh-server,ca-certificates,curl,procps,xz-utils";

/** The file system that machines share. */
export interface Base {
  suite: "bookworm" | "trixie";
  /** The packages that a document installs: downloaded once, because the machines cannot reach a mirror. */
  downloaded: readonly string[];
}
/** TERM has the manager end the container; killed, it would leave it running. */
const CONTAINER =
  "setpriv --pdeathsig=TERM systemd-nspawn --boot --quiet --register=no --keep-unit --link-journal=no " +
  "--resolv-conf=off --timezone=off --settings=no --console=pipe";
const ENTER = "--mount --uts --ipc --net --pid --root --wd";
const ENVIRONMENT =
  "HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive";
const BOOT_LIMIT_MS = 120_000;

export interface Address {
  name: string;
  address: string;
}

/** Fails with what the command printed. */
export function run(...command: string[]): string {
  const { success, stdout, stderr } = Bun.spawnSync(command, { stdin: "ignore" });
  if (!success) throw new Error(`${command.join(" ")}: ${stderr.toString()}${stdout.toString()}`);
  return stdout.toString();
}

/** Makes the base unless it is there. It is kept, because it takes minutes to make. Returns its folder. */
export function prepareBase({ suite, downloaded }: Base): string {
  const content = [suite, INCLUDED, ...downloaded].join(" ");
  const name = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 12);
  const base = `/var/tmp/reseller-base-${suite}-${name}`;
  const ready = join(base, "ready");
  if (existsSync(ready)) return base;
  rmSync(base, { recursive: true, force: true });
  run("debootstrap", `--include=${INCLUDED}`, suite, base, MIRROR);
  const sources = [
    `deb ${MIRROR} ${suite} main`,
    `deb ${MIRROR} ${suite}-updates main`,
    `deb ${MIRROR}-security ${suite}-security main`,
  ];
  writeFileSync(join(base, "etc/apt/sources.list"), `${sources.join("\n")}\n`);
  // Its packages are not what a lost machine is tried with.
  writeFileSync(join(base, "etc/dpkg/dpkg.cfg.d/unsafe-io"), "force-unsafe-io\n");
  copyFileSync("/etc/resolv.conf", join(base, "etc/resolv.conf"));
  run("chroot", base, "apt-get", "update", "-qq");
  run("chroot", base, "apt-get", "install", "-y", "-qq", "--download-only", ...downloaded);
  writeFileSync(ready, content);
  return base;
}

export class Machines {
  readonly #folder = mkdtempSync("/var/tmp/reseller-guide-");
  readonly #switch = `guide-${process.pid}`;
  readonly #containers = new Map<string, { nspawn: Bun.Subprocess; init: number }>();

  constructor(
    readonly all: readonly Address[],
    /** The folder of their base. */
    private readonly base: string,
  ) {
    run("ip", "netns", "add", this.#switch);
    run("ip", "-n", this.#switch, "link", "add", "name", "switch", "type", "bridge");
    run("ip", "-n", this.#switch, "link", "set", "switch", "up");
    for (const { name, address } of all) this.#connect(name, address);
    const key = join(this.#folder, "key");
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key);
    for (const { name } of all) this.#fill(name, key);
  }

  /** As when its power button is pressed. */
  async start(name: string): Promise<void> {
    const nspawn = Bun.spawn(
      [
        ...CONTAINER.split(" "),
        `--machine=${this.#namespaceOf(name)}`,
        `--hostname=${name}`,
        `--network-namespace-path=/run/netns/${this.#namespaceOf(name)}`,
        `--directory=${this.rootOf(name)}`,
      ],
      {
        stdin: "ignore",
        stdout: Bun.file(join(this.#folder, `${name}.console`)),
        stderr: Bun.file(join(this.#folder, `${name}.nspawn`)),
      },
    );
    const init = await soon(`${name} has a first process`, () => initOf(nspawn.pid));
    this.#containers.set(name, { nspawn, init });
    await soon(`${name} has booted`, () => {
      const { stdout } = this.try(name, "systemctl is-system-running");
      return /^(running|degraded)$/.test(stdout.trim()) || null;
    });
  }

  /** As when its power is cut; its disk keeps what was written. */
  async kill(name: string): Promise<void> {
    const container = this.#containers.get(name);
    if (!container) return;
    this.#containers.delete(name);
    process.kill(container.init, "SIGKILL");
    await container.nspawn.exited;
  }

  /** As when its network cable is pulled, or put back. */
  cut(name: string, isCut = true): void {
    run("ip", "-n", this.#switch, "link", "set", name, isCut ? "down" : "up");
  }

  /** The command line with which a command runs there, as root. */
  commandOn(name: string, script: string): string[] {
    const container = this.#containers.get(name);
    if (!container) throw new Error(`${name} is not running`);
    const enter = `nsenter --target=${container.init} ${ENTER} env -i ${ENVIRONMENT} bash -c`;
    return [...enter.split(" "), `cd /root\n${script}`];
  }

  try(name: string, script: string) {
    const { exitCode, stdout, stderr } = Bun.spawnSync(this.commandOn(name, script), {
      stdin: "ignore",
    });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  }

  /** Fails where any of its commands fails. */
  run(name: string, script: string): string {
    const { exitCode, stdout, stderr } = this.try(name, `set -euo pipefail\n${script}`);
    if (exitCode !== 0)
      throw new Error(`${name}, exit ${exitCode}:\n${script}\n${stdout}${stderr}`);
    return stdout;
  }

  /** The same beside others. */
  async runBeside(name: string, script: string): Promise<void> {
    const child = Bun.spawn(this.commandOn(name, `set -euo pipefail\n${script}`), {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(`${name}, exit ${code}:\n${script}\n${stdout}${stderr}`);
  }

  /** The command line with which a program of this machine runs in the network of that one. */
  inNetworkOf(name: string, ...command: string[]): string[] {
    return ["nsenter", `--net=/run/netns/${this.#namespaceOf(name)}`, ...command];
  }

  copyTo(name: string, file: string): void {
    copyFileSync(file, join(this.rootOf(name), "root", basename(file)));
  }

  async remove(): Promise<void> {
    for (const { name } of this.all) {
      await this.kill(name);
      run("umount", this.rootOf(name));
      run("ip", "netns", "delete", this.#namespaceOf(name));
    }
    run("ip", "netns", "delete", this.#switch);
    rmSync(this.#folder, { recursive: true });
  }

  rootOf(name: string): string {
    return join(this.#folder, name, "root");
  }

  #namespaceOf(name: string): string {
    return `${this.#switch}-${name}`;
  }

  #connect(name: string, address: string): void {
    const own = this.#namespaceOf(name);
    run("ip", "netns", "add", own);
    // Made in the switch's namespace, so that nothing of this machine's own network is touched.
    const pair = ["type", "veth", "peer", "name", "host0", "netns", own];
    run("ip", "-n", this.#switch, "link", "add", "name", name, ...pair);
    run("ip", "-n", this.#switch, "link", "set", name, "master", "switch", "up");
    run("ip", "-n", own, "address", "add", `${address}/24`, "dev", "host0");
    run("ip", "-n", own, "link", "set", "lo", "up");
    run("ip", "-n", own, "link", "set", "host0", "up");
  }

  /** Root may go from each machine to each other by ssh. */
  #fill(name: string, key: string): void {
    const [upper, work, root] = ["upper", "work", "root"].map((each) =>
      join(this.#folder, name, each),
    );
    for (const folder of [upper!, work!, root!]) mkdirSync(folder, { recursive: true });
    const layers = `lowerdir=${this.base},upperdir=${upper},workdir=${work}`;
    run("mount", "-t", "overlay", "overlay", "-o", layers, root!);
    const ssh = join(root!, "root/.ssh");
    mkdirSync(ssh, { recursive: true, mode: 0o700 });
    copyFileSync(key, join(ssh, "id_ed25519"));
    copyFileSync(`${key}.pub`, join(ssh, "authorized_keys"));
    writeFileSync(join(ssh, "config"), "StrictHostKeyChecking accept-new\n");
    writeFileSync(join(root!, "etc/hostname"), `${name}\n`);
    writeFileSync(join(root!, "etc/hosts"), `127.0.0.1 localhost\n127.0.1.1 ${name}\n`);
  }
}

/** The first value that is not null, asked for again and again. */
export async function soon<T>(
  what: string,
  ask: () => T | null | Promise<T | null>,
  limitMs = BOOT_LIMIT_MS,
): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await ask();
    if (value !== null) return value;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await Bun.sleep(100);
  }
}

/** Null until there is one: before it the container's manager has another child for a moment. */
function initOf(parent: number): number | null {
  const script = `for child in $(cat /proc/${parent}/task/${parent}/children); do
    grep -qsP '^NSpid:\\s+\\d+\\s+1$' /proc/$child/status && echo $child
  done`;
  const { stdout } = Bun.spawnSync(["bash", "-c", script]);
  return Number(stdout.toString()) || null;
}

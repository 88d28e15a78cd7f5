// `bun run test:guide [--control etcd-data] [--keep]`: docs/postgres.md from the top, its commands as they stand there, on six
// machines with Debian's packages and their first start; then its drill, backups, and a restore to an earlier moment. Needs root,
// debootstrap, systemd-nspawn (package systemd-container), iproute2 and openssh-client.
// The control leaves etcd the data of its first start and must end as three clusters. `--keep`: machines stay until
// Enter is pressed. `--package FILE`: a package that is there already. `--parallel`: each block on all its machines at once.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../../deploy/compile.ts";
import { buildDeb } from "../../../deploy/deb/build.ts";
import { readBlocks } from "./blocks.ts";
import { certificatesInUse } from "./certificates.ts";
import { Cluster } from "./cluster.ts";
import { drill } from "./drill.ts";
import { type Base, Machines, prepareBase } from "../../support/machines.ts";
import { restoreEarlierMoment } from "./restore.ts";

const DATABASES = ["db1", "db2", "db3"];
const ADDRESSES = [
  ...DATABASES.map((name, index) => ({ name, address: `10.0.0.${index + 1}` })),
  { name: "app1", address: "10.0.0.11" },
  { name: "app2", address: "10.0.0.12" },
  { name: "backup1", address: "10.0.0.21" },
];
const NAMES = ADDRESSES.map(({ name }) => name);
const BASE: Base = {
  suite: "bookworm",
  downloaded: [
    "etcd-server",
    "etcd-client",
    "postgresql",
    "postgresql-client",
    "patroni",
    "python3-etcd",
    "pgbackrest",
    "ssl-cert",
  ],
};
const DATA_OF_FIRST_START = "rm -rf /var/lib/etcd/default\n";

const { values } = parseArgs({
  options: {
    control: { type: "string" },
    keep: { type: "boolean" },
    parallel: { type: "boolean" },
    package: { type: "string" },
  },
});
if (values.control !== undefined && values.control !== "etcd-data") {
  console.error("the only control: etcd-data");
  process.exit(2);
}
const isControl = values.control !== undefined;
const started = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${text}`);

const blocks = readBlocks(NAMES);
const done = new Set<number>();
const base = prepareBase(BASE);
const packages = mkdtempSync(join(tmpdir(), "reseller-guide-"));
const deb =
  values.package ??
  (await buildDeb(join(ROOT, "dist/reseller"), "amd64", packages, {
    date: Math.floor(Date.now() / 1000),
    maintainer: "reseller test <test@example.com>",
  }));
say("package built");
const machines = new Machines(ADDRESSES, base);
const cluster = new Cluster(machines, DATABASES);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => void machines.remove().then(() => process.exit(1)));
}

/** Runs the blocks of a section, each on its machines: one after the other as a person would, or all at once. */
async function follow(section: string, change = (script: string) => script): Promise<void> {
  for (const [index, block] of blocks.entries()) {
    if (block.section !== section) continue;
    const script = change(block.script);
    const runOn = (machine: string) => {
      say(`${section}: ${machine}: ${script.split("\n")[0]!}`);
      return machines.runBeside(machine, script);
    };
    if (values.parallel) await Promise.all(block.machines.map(runOn));
    else for (const machine of block.machines) await runOn(machine);
    done.add(index);
  }
}

try {
  // One after the other: managers of containers that start at once get into each other's way.
  for (const name of NAMES) await machines.start(name);
  for (const name of ["app1", "app2"]) machines.copyTo(name, deb);
  say("six machines run");
  await follow("Machines");
  await follow("Certificates and passwords");
  if (isControl) {
    await follow("1. etcd", (script) => script.replace(DATA_OF_FIRST_START, ""));
    cluster.checkEtcd();
  } else {
    await follow("1. etcd");
    cluster.checkEtcd();
    await follow("2. PostgreSQL with Patroni");
    say(`${await cluster.ready()} leads`);
    await follow("3. Database and roles");
    await follow("4. Servers");
    await drill(machines, cluster, ["10.0.0.11", "10.0.0.12"], say);
    await follow("Backups");
    await follow("Renewing certificates");
    await certificatesInUse(machines, DATABASES);
    await restoreEarlierMoment(cluster, (target) =>
      follow("Restoring an earlier moment", (script) =>
        script.replace("2026-01-31 12:00:00+00", target),
      ),
    );
    say("restored");
    const left = blocks.filter((_, index) => !done.has(index));
    if (left.length > 0) throw new Error(`not run: ${left.map(({ section }) => section).join()}`);
  }
  if (isControl) throw new Error("FAILED: the control was not caught");
  say("ok");
} catch (error) {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const isCaught = isControl && text.includes("etcd is not one cluster");
  say(isCaught ? `ok: the control was caught: ${text}` : `FAILED: ${text}`);
  process.exitCode = isCaught ? 0 : 1;
} finally {
  if (values.keep) prompt("Enter removes the machines");
  await machines.remove();
  rmSync(packages, { recursive: true });
}
process.exit();

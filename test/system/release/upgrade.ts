// `bun test/system/release/upgrade.ts [COMMIT]`: on a machine made new, the package of COMMIT serves orders, and the package
// in dist/release is installed over it under load. Every acknowledged order must be there once, and every client must have
// got an answer to each order by its Idempotency-Key. COMMIT: by default the last one before the newest migration.
// Needs root, `bun run release linux-x64` before it, debootstrap, systemd-nspawn, iproute2 and openssh-client.

import { copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../deploy/compile.ts";
import { Machines, prepareBase, run } from "../../support/machines.ts";

const MACHINE = "vps";
const CLIENTS = 8;
const BEFORE_MS = 10_000;
const AFTER_MS = 10_000;
const LOAD = join(import.meta.dir, "load.ts");
const RELEASE = join(ROOT, "dist/release");

const [given] = process.argv.slice(2);
const git = (...argv: string[]) => run("git", "-C", ROOT, ...argv).trim();
const commit = given ?? git("log", "-1", "--format=%H^", "--", "migrations");
const work = mkdtempSync(join(tmpdir(), "reseller-previous-"));
const machines = new Machines(
  [{ name: MACHINE, address: "10.0.0.1" }],
  prepareBase({ suite: "bookworm", downloaded: ["minisign"] }),
);
try {
  const previous = buildPrevious();
  await machines.start(MACHINE);
  await follow(previous);
} finally {
  await machines.remove();
  rmSync(work, { recursive: true });
}
process.exit();

function say(text: string): void {
  console.log(`${new Date().toISOString().slice(11, 23)}  ${text}`);
}

/** Builds the package of the commit. Returns its file. */
function buildPrevious(): string {
  const tree = join(work, "tree");
  git("worktree", "add", "--detach", tree, commit);
  try {
    const bun = (...argv: string[]) => {
      const { success, stderr } = Bun.spawnSync([process.execPath, ...argv], { cwd: tree });
      if (!success) throw new Error(stderr.toString());
    };
    bun("install", "--frozen-lockfile");
    bun("deploy/release.ts", "linux-x64");
    return packageIn(join(tree, "dist/release"), "previous.deb");
  } finally {
    git("worktree", "remove", "--force", tree);
  }
}

/** Copies the package of a folder, because a later build removes the folder. */
function packageIn(folder: string, name: string): string {
  const file = readdirSync(folder).find((each) => each.endsWith(".deb"));
  if (!file) throw new Error(`${folder} has no package: bun run release linux-x64`);
  copyFileSync(join(folder, file), join(work, name));
  return join(work, name);
}

async function follow(previous: string): Promise<void> {
  const on = (script: string) => machines.run(MACHINE, script);
  const r = (line: string) => on(`sudo -u reseller reseller ${line}`);
  machines.copyTo(MACHINE, previous);
  machines.copyTo(MACHINE, packageIn(RELEASE, "next.deb"));
  on(`dpkg -i previous.deb
    cp /usr/share/doc/reseller/examples/catalogue.example.csv /var/lib/reseller/catalogue.csv
    chown reseller: /var/lib/reseller/catalogue.csv
    echo RESELLER_RATE_LIMIT=0 >>/etc/reseller/reseller.env
    systemctl restart reseller
    until sudo -u reseller reseller health; do sleep 1; done`);
  const versionOf = () => JSON.parse(r("version --json")) as { commit: string };
  const before = versionOf().commit;
  r("admin user create alice");
  r("admin user credit alice 1000000 --yes");
  r("admin service import /var/lib/reseller/catalogue.csv");
  const { key } = JSON.parse(r("admin key create --user alice --type order --json")) as {
    key: string;
  };
  say(`${before} serves; ${CLIENTS} clients place orders`);

  const load = Bun.spawn(
    machines.inNetworkOf(
      MACHINE,
      process.execPath,
      LOAD,
      "http://127.0.0.1:8080",
      key,
      String(CLIENTS),
    ),
    { stdin: "pipe", stdout: "pipe", stderr: "inherit" },
  );
  const printed = new Response(load.stdout).text();
  await Bun.sleep(BEFORE_MS);
  const started = performance.now();
  await machines.runBeside(MACHINE, "dpkg -i next.deb");
  say(`dpkg -i took ${((performance.now() - started) / 1000).toFixed(1)} s`);
  await Bun.sleep(AFTER_MS);
  await load.stdin.end();
  if ((await load.exited) !== 0) throw new Error("a client got an answer that refuses its order");

  const after = versionOf().commit;
  if (after === before) throw new Error(`both packages are of ${after}`);
  const lines = (await printed)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  const { longestGapMs, retries } = lines.pop() as { longestGapMs: number; retries: number };
  const acknowledged = lines as { idempotencyKey: string; orderId: number }[];
  const numbers = new Set(acknowledged.map(({ orderId }) => orderId));
  const copies = on("ls /var/lib/reseller").match(/before-migration/g)?.length ?? 0;
  const stored = on(
    `sudo -u reseller reseller admin order list --limit 10000000 --json | grep -o '"orderId"' | wc -l`,
  );
  r("verify");
  say(`${after} serves; kept copies of the database before the upgrade: ${copies}`);
  say(
    `${acknowledged.length} orders acknowledged, ${numbers.size} different, ${stored.trim()} stored; ` +
      `${retries} calls repeated; longest time without an answer ${longestGapMs} ms`,
  );
  if (numbers.size !== acknowledged.length || numbers.size !== Number(stored)) {
    throw new Error("an acknowledged order is missing or there twice");
  }
  // The repeated keys of all orders give the same orders, and place none.
  const sample = acknowledged.filter((_, at) => at % 50 === 0);
  for (const { idempotencyKey, orderId } of sample) {
    const body = '{"service":"instagram-likes","link":"https://example.com/p","quantity":10}';
    const again = on(
      `curl -fsS -H "x-api-key: ${key}" -H 'content-type: application/json' -H 'idempotency-key: ${idempotencyKey}' ` +
        `http://127.0.0.1:8080/api/v1/orders -d '${body}'`,
    );
    if (!again.includes(`"orderId":${orderId},`)) throw new Error(`${idempotencyKey}: ${again}`);
  }
  say(`${sample.length} keys of before and after the upgrade give their orders again`);
}

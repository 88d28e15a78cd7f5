// `bun test/system/release/install.ts [bookworm|trixie]...`: installs dist/release on machines made new, as its documents
// say, from its files to the first order, the panel, the portal and the first backup off-site; then upgrades, removes and purges it.
// Needs root, `bun run release linux-x64` before it, lintian, debootstrap, systemd-nspawn, iproute2 and openssh-client. A release
// that is signed (RELEASE_KEY in install.sh) is verified there. No machine reaches another network.

import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../../deploy/compile.ts";
import { LINTIAN } from "../../support/lintian.ts";
import { type Base, Machines, prepareBase } from "../../support/machines.ts";
import { ACCESS_KEY, BUCKET } from "../../support/peers/s3.ts";

const SUITES: readonly Base["suite"][] = ["bookworm", "trixie"];
const MACHINE = "vps";
const RELEASE = join(ROOT, "dist/release");
const S3_SERVER = join(import.meta.dir, "../../support/peers/s3-server.ts");
const INVITE = "admin portal invite alice --email ann@alice.example";
const PORTAL_LINK = /http:\/\/127\.0\.0\.1:8080\/portal\/set-up#(\S+)/;
const LINK = /http:\/\/127\.0\.0\.1:8081\/setup#(\S+)/;

const given = process.argv.slice(2);
const chosen = given.length > 0 ? SUITES.filter((suite) => given.includes(suite)) : SUITES;
if (chosen.length < given.length) {
  console.error(`the systems: ${SUITES.join(", ")}`);
  process.exit(2);
}
if (!existsSync(join(RELEASE, "SHA256SUMS"))) {
  console.error("no release: bun run release linux-x64");
  process.exit(1);
}

const packages = readdirSync(RELEASE).filter((name) => name.endsWith(".deb"));
const findings = packages.map((name) => lintian(join(RELEASE, name))).join("");
if (findings !== "") throw new Error(`lintian: ${findings}`);

for (const suite of chosen) {
  const base = prepareBase({ suite, downloaded: ["minisign"] });
  const machines = new Machines([{ name: MACHINE, address: "10.0.0.1" }], base);
  const store = mkdtempSync(join(tmpdir(), "reseller-s3-"));
  try {
    await machines.start(MACHINE);
    cpSync(RELEASE, join(machines.rootOf(MACHINE), "root/release"), { recursive: true });
    await follow(suite, machines, store);
  } finally {
    await machines.remove();
    rmSync(store, { recursive: true });
  }
}
process.exit();

function lintian(file: string): string {
  return Bun.spawnSync([...LINTIAN, file]).stdout.toString();
}

async function follow(suite: string, machines: Machines, store: string): Promise<void> {
  const started = performance.now();
  const say = (text: string) =>
    console.log(
      `${suite} ${((performance.now() - started) / 1000).toFixed(1).padStart(6)} s  ${text}`,
    );
  const on = (script: string) => machines.run(MACHINE, script);
  const must = (isRight: boolean, what: string) => {
    if (!isRight) throw new Error(`${suite}: ${what}`);
    say(what);
  };

  on("apt-get install -y -qq minisign");
  const installed = on("RELEASE_URL=file:///root/release sh /root/release/install.sh");
  const token = LINK.exec(installed)?.[1];
  must(token !== undefined, "install.sh leaves a link to the panel's set-up");
  must(
    on("systemctl is-enabled reseller").trim() === "enabled",
    "the service starts with the machine",
  );
  must(on("curl -fsS http://127.0.0.1:8080/readyz").includes('"ok"'), "the service is ready");
  on(`curl -fsS -o /dev/null --data-urlencode token=${token} --data-urlencode password=correct-horse-battery \\
    -H 'Sec-Fetch-Site: same-origin' http://127.0.0.1:8081/setup`);
  must(on("sudo -u reseller reseller panel list").includes("owner"), "the panel has its owner");

  on(`cd /root
    r() { sudo -u reseller reseller "$@"; }
    r admin user create alice
    r admin user credit alice 25.50 --note "invoice 1"
    r admin service import /usr/share/doc/reseller/examples/catalogue.example.csv
    r admin key create --user alice --type order --json >key.json`);
  const ordered = on(`KEY=$(grep -o 'rk_[0-9A-Za-z]*' key.json)
    curl -fsS -H "x-api-key: $KEY" -H 'content-type: application/json' -H 'idempotency-key: order-1' \\
      http://127.0.0.1:8080/api/v1/orders \\
      -d '{"service":"instagram-followers","link":"https://example.com/me","quantity":1000}'`);
  must(ordered.includes('"status":"success"'), "the first order is placed");

  const early = machines.try(MACHINE, `sudo -u reseller reseller ${INVITE}`);
  must(early.stderr.includes("no portal runs here"), "an invitation says that no portal runs");
  on(`echo RESELLER_PORTAL=on >>/etc/reseller/reseller.env
    systemctl restart reseller
    until sudo -u reseller reseller health; do sleep 1; done
    echo "IBAN AT00" >/var/lib/reseller/bank.txt
    sudo -u reseller reseller admin payment method add manual bank --name Bank --instructions /var/lib/reseller/bank.txt`);
  const invited = on(`sudo -u reseller reseller ${INVITE}`);
  const first = PORTAL_LINK.exec(invited)?.[1];
  on(`curl -fsS -o /dev/null -c /root/cookies --data-urlencode token=${first} --data-urlencode password=correct-horse-battery \\
    -H 'Origin: http://127.0.0.1:8080' http://127.0.0.1:8080/portal/set-up`);
  must(
    on("curl -fsS -b /root/cookies http://127.0.0.1:8080/portal/add-funds").includes("Bank"),
    "the first customer signs in and sees how to pay",
  );

  const s3 = Bun.spawn(machines.inNetworkOf(MACHINE, process.execPath, S3_SERVER, store), {
    stdin: "ignore",
    stdout: "pipe",
  });
  try {
    const reader = s3.stdout.getReader();
    const port = new TextDecoder().decode((await reader.read()).value).split(" ")[0];
    on(`install -m 640 -g reseller /dev/null /etc/reseller/s3.key
      echo ${ACCESS_KEY} >/etc/reseller/s3.key
      cat >>/etc/reseller/reseller.env <<END
RESELLER_BACKUP_TO=s3://${BUCKET}/reseller
RESELLER_S3_ENDPOINT=http://127.0.0.1:${port}
RESELLER_S3_REGION=us-east-1
RESELLER_S3_ACCESS_KEY=${ACCESS_KEY}
RESELLER_S3_SECRET_KEY_FILE=/etc/reseller/s3.key
END
      systemctl restart reseller
      until sudo -u reseller reseller health; do sleep 1; done
      systemctl kill --kill-whom=main --signal=SIGUSR1 reseller
      until sudo -u reseller reseller backup list 2>/dev/null | grep -q reseller; do sleep 1; done`);
    say("the first backup is off-site");
  } finally {
    s3.kill();
    await s3.exited;
  }

  on("dpkg -i /root/release/reseller_*.deb");
  on("until sudo -u reseller reseller health; do sleep 1; done");
  must(
    on("sudo -u reseller reseller verify").includes("ok"),
    "an upgrade restarts the service, and verify is clean",
  );
  on("dpkg -r reseller");
  must(
    machines.try(MACHINE, "systemctl is-active reseller").exitCode !== 0,
    "a removal stops the service",
  );
  on("dpkg -P reseller");
  must(
    existsSync(join(machines.rootOf(MACHINE), "var/lib/reseller/reseller.db")),
    "a purge leaves the data",
  );

  // To write the settings first, as docs/postgres.md does.
  on("systemctl mask reseller && dpkg -i /root/release/reseller_*.deb");
  must(
    machines.try(MACHINE, "systemctl is-active reseller").exitCode !== 0,
    "where its unit is masked, the package installs and starts nothing",
  );
  on("systemctl unmask reseller && systemctl enable --now reseller");
  on("until sudo -u reseller reseller health; do sleep 1; done");
  say("unmasked, it starts on the data that the purge left");
}

// deploy/reseller.service applied for real: every feature of the binary behind the unit's seccomp filter, as another
// user, with its limits, on a file system that is read-only but for one folder.

import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, beforeAll, describe, expect, test } from "bun:test";
import { makeCertificate } from "../../support/http/certificates.ts";
import { startCluster } from "../../support/databases/postgres.ts";
import { runBinary } from "../../support/binary.ts";
import { callApi } from "../../support/http/api.ts";
import { PROVIDER_KEY, startUpstream } from "../../support/peers/upstream.ts";
import { until } from "../../support/until.ts";
import { killServers, operatorOf } from "../systemd/operator.ts";
import { confine, type Confined, SETTINGS_KNOWN, unitSettings, unitText } from "../systemd/unit.ts";

afterEach(killServers);

const ORDER = { service: "s", link: "x", quantity: 1 };
const backupsIn = (data: string) =>
  readdirSync(join(data, "backups")).filter((name) => name.endsWith(".db"));
const timesIn = (text: string, part: string) => text.split(part).length - 1;

/** The name on the certificate that a server shows. */
function subjectOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on("error", reject);
  return promise;
}

test("every setting of the unit is applied here, or one that only systemd can apply", () => {
  const unknown = unitSettings().filter(([name]) => !SETTINGS_KNOWN.includes(name));
  expect(unknown).toEqual([]);
});

test("systemd starts it after the network is up and the clock is corrected", () => {
  for (const name of ["After", "Wants"]) {
    const [line] = new RegExp(`^${name}=.*$`, "m").exec(unitText())!;
    expect(line).toBe(`${name}=network-online.target time-sync.target`);
  }
});

// Once as in the unit, and once killing the process: a refused call cannot go unnoticed by a fallback.
describe.each(["EPERM", "killed"] as const)("with other calls refused (%s),", (refused) => {
  let confined: Confined;
  beforeAll(() => {
    confined = confine(unitSettings(), refused);
  });

  test("orders are taken and sent to a provider that is found by its name; doctor, verify and health agree", async () => {
    const operator = operatorOf(confined, "orders");
    const upstream = await startUpstream();
    const server = await operator.serve("--metrics-listen", "127.0.0.1:0", "--place-wait", "10m");
    const key = await operator.fill();
    const url = upstream.url.replace("127.0.0.1", "localhost");
    await operator.run(`admin provider create north --url ${url} --key-stdin`, PROVIDER_KEY);
    expect(await operator.run("admin provider balance north")).toBeObject();
    expect((await callApi(server.url, "POST", "/orders", key, ORDER)).status).toBe(200);
    await operator.run("admin service update s --provider north --provider-service 1");
    const sent = await callApi(server.url, "POST", "/orders", key, ORDER);
    expect(sent.body.order.status).toBe("PROCESSING");
    expect(upstream.adds().length).toBe(1);
    expect(await operator.run("health")).toMatchObject({ healthy: true });
    expect(await operator.run("verify")).toMatchObject({ ok: true, orders: 2 });
    const { findings } = await operator.run("doctor");
    expect(findings.filter(({ state }: { state: string }) => state === "fail")).toEqual([]);
    const METRICS = /"metrics":"(http[^"]+)"/;
    await until(() => METRICS.test(server.log()));
    const metrics = METRICS.exec(server.log())![1]!;
    expect(await (await fetch(metrics)).text()).toContain("reseller_disk_free_bytes");
    expect(await server.stop()).toBe(0);
    await upstream.stop();
  });

  test("PostgreSQL behind its Unix socket on this machine is served, and commands reach it", async () => {
    // Where the unit's user may look.
    const sockets = mkdtempSync(join(tmpdir(), "reseller-sockets-"));
    chmodSync(sockets, 0o777);
    const postgres = await startCluster({ fsync: "off", unix_socket_directories: sockets });
    const host = `${encodeURIComponent(sockets)}:${postgres.port}`;
    const url = `postgres://postgres@${host}/${await postgres.createDatabase()}`;
    const operator = operatorOf(confined, "socket");
    const server = await operator.serve("--database", url);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const argv = ["admin", "user", "create", "alice", "--database", url];
    expect(await runBinary(argv, { binary: confined.program })).toMatchObject({ exitCode: 0 });
    expect(await server.stop()).toBe(0);
    postgres.stop("immediate");
    rmSync(sockets, { recursive: true });
  });

  test("backups are made at intervals, on SIGUSR1 and by hand, at a low priority, and can be restored", async () => {
    const operator = operatorOf(confined, "backups");
    const first = await operator.serve("--backup-every", "200ms", "--backup-keep", "2");
    const key = await operator.fill();
    expect((await callApi(first.url, "POST", "/orders", key, ORDER)).status).toBe(200);
    await until(() => timesIn(first.log(), "backup made") >= 3);
    expect(await first.stop()).toBe(0);
    expect(backupsIn(operator.data).length).toBe(2);
    const second = await operator.serve("--backup-every", "0");
    process.kill(second.pid, "SIGUSR1");
    await until(() => second.log().includes("backup made"));
    const file = join(confined.folder, "by-hand.db");
    expect(await operator.run(`backup ${file}`)).toMatchObject({ file, orders: 1 });
    expect(await second.stop()).toBe(0);
    expect(first.log() + second.log()).not.toMatch(/"level":"error"|priority/);
    const elsewhere = operatorOf(confined, "restored");
    expect(await elsewhere.run(`restore ${file}`)).toMatchObject({
      ok: true,
      after: { orders: 1 },
    });
    const third = await elsewhere.serve();
    expect((await callApi(third.url, "GET", "/orders/1", key)).status).toBe(200);
    expect(await third.stop()).toBe(0);
  });

  test("the certificate is read again on SIGHUP", async () => {
    const { folder, handOver } = confined;
    const [files, renewed] = ["first", "second"].map((name) => makeCertificate(folder, name));
    handOver();
    const flags = ["--tls-cert", files!.cert, "--tls-key", files!.key];
    const server = await operatorOf(confined, "tls").serve(...flags);
    expect(await subjectOf(server.url)).toBe("first");
    copyFileSync(renewed!.cert, files!.cert);
    copyFileSync(renewed!.key, files!.key);
    process.kill(server.pid, "SIGHUP");
    await until(() => server.log().includes("certificate reloaded"));
    expect(await subjectOf(server.url)).toBe("second");
    expect(await server.stop()).toBe(0);
  });
});

test("a backup whose priority cannot be lowered is made anyway, with one warning in the log", async () => {
  const confined = confine([...unitSettings(), ["SystemCallFilter", "~setpriority"]], "EPERM");
  const operator = operatorOf(confined, "data");
  const server = await operator.serve("--backup-every", "200ms");
  await until(() => timesIn(server.log(), "backup made") >= 3);
  expect(await server.stop()).toBe(0);
  expect(timesIn(server.log(), "priority could not be lowered")).toBe(1);
  expect(server.log()).not.toContain('"level":"error"');
});

test("what the unit forbids is forbidden here: calls, file modes, families of sockets, other folders", async () => {
  const { program, folder } = confine(unitSettings(), "EPERM");
  const script = join(folder, "probe.ts");
  await Bun.write(
    script,
    `import { chmodSync, chownSync, writeFileSync } from "node:fs";
     import { networkInterfaces } from "node:os";
     const refused = (work) => { try { work(); } catch (error) { return error.code ?? error.message; } };
     console.log(JSON.stringify({
       chown: refused(() => chownSync("${script}", 1, 1)),
       setuid: refused(() => chmodSync("${folder}", 0o4700)),
       outside: refused(() => writeFileSync("/tmp/outside", "")),
       netlink: refused(() => networkInterfaces()),
     }));`,
  );
  const environment = { BUN_BE_BUN: "1" };
  const { stdout, stderr } = await runBinary(["run", script], { binary: program, environment });
  const found = { chown: "EPERM", setuid: "EPERM", outside: "EROFS", netlink: expect.any(String) };
  expect([stderr, JSON.parse(stdout)]).toEqual(["", found]);
});

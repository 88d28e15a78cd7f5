// A folder of backups with more than one in it: other services, backups by hand, remains, names of an earlier
// version. A server changes only its own backups, and no failure prevents the next one.

import {
  cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync,
} from "node:fs"; // prettier-ignore
import { join } from "node:path";
import { afterEach, describe, expect, test } from "bun:test";
import {
  BINARY,
  type ServerProcess,
  binary,
  binaryJson,
  runBinary,
  startServerProcess,
} from "../../support/binary.ts";
import { stateOf } from "../../support/children.ts";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";
import { confine, unitSettings } from "../systemd/unit.ts";

const SERVERS: ServerProcess[] = [];
afterEach(async () => {
  for (const server of SERVERS.splice(0)) await server.kill();
});

async function serve(data: string, folder: string, ...flags: string[]): Promise<ServerProcess> {
  const options = ["--backup-dir", folder, "--backup-every", "100ms", "--backup-keep", "2"];
  const server = await startServerProcess({ data, arguments: [...options, ...flags] });
  SERVERS.push(server);
  return server;
}

const countIn = (server: ServerProcess, message: string) => server.log().split(message).length - 1;
/** Resolves once it has made this many more. */
async function made(server: ServerProcess, more: number): Promise<void> {
  const wanted = countIn(server, "backup made") + more;
  await until(() => countIn(server, "backup made") >= wanted);
}
async function metricsOf(server: ServerProcess): Promise<string> {
  const URL = /"metrics":"(http[^"]+)"/;
  await until(() => URL.test(server.log()));
  return URL.exec(server.log())![1]!;
}
const idOf = (data: string) => readFileSync(join(data, "instance.id"), "utf8").split("\n")[0]!;
const backupsOf = (data: string, folder: string) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(`-${idOf(data)}.db`))
    .sort();

/** A data directory with a database. */
function dataDirectory(): string {
  const { folder, connection } = freshDatabase();
  connection.sqlite.close();
  return folder;
}

/** The same with a database that takes a while to copy. */
function largeDataDirectory(): string {
  const database = freshDatabase();
  fillInBulk(database, 4000, 2000);
  database.connection.sqlite.close();
  return database.folder;
}

/** `backup`, stopped in the middle. */
async function startBackup(data: string, file: string) {
  for (;;) {
    const child = Bun.spawn([BINARY, "backup", file, "--data", data], { stderr: "pipe" });
    const copy = join(`${file}.partial`, "copy.db");
    await until(() => existsSync(copy) || stateOf(child.pid) === null);
    child.kill("SIGSTOP");
    await until(() => ["T", null].includes(stateOf(child.pid)));
    if (existsSync(copy) && !existsSync(file)) return child;
    // Whoever was to stop it was slower than the backup.
    child.kill("SIGCONT");
    expect(await child.exited).toBe(0);
    rmSync(file);
  }
}

describe("two `backup` commands to one file:", () => {
  test("one makes it, the other is refused at once", async () => {
    const data = largeDataDirectory();
    const file = join(freshFolder(), "copy.db");
    const first = await startBackup(data, file);
    const { exitCode, stderr } = await runBinary(["backup", file, "--data", data]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`is writing ${file}`)]);
    first.kill("SIGCONT");
    expect(await first.exited).toBe(0);
    expect(readdirSync(join(file, ".."))).toEqual(["copy.db"]);
  });

  test("started together, exactly one succeeds, and the others say why", async () => {
    const data = dataDirectory();
    for (let round = 0; round < 5; round++) {
      const file = join(freshFolder(), "copy.db");
      const one = () => runBinary(["backup", file, "--data", data]);
      const ended = await Promise.all([one(), one(), one(), one()]);
      expect(ended.filter(({ exitCode }) => exitCode === 0).length).toBe(1);
      for (const { exitCode, stderr } of ended) {
        if (exitCode !== 0) expect(stderr).toMatch(/^error: .*(is writing|already exists).*\n$/);
      }
      expect(readdirSync(join(file, ".."))).toEqual(["copy.db"]);
      await binaryJson(freshFolder(), "restore", file);
    }
  });

  test("one that was killed blocks no other", async () => {
    const data = largeDataDirectory();
    const file = join(freshFolder(), "copy.db");
    const killed = await startBackup(data, file);
    killed.kill("SIGKILL");
    await killed.exited;
    await binaryJson(data, "backup", file, "--data", data);
    expect(readdirSync(join(file, ".."))).toEqual(["copy.db"]);
  });

  test("where a file system has no links, nothing is overwritten either", async () => {
    const filter = ["SystemCallFilter", "~link linkat"] satisfies [string, string];
    const { program, folder, handOver } = confine([...unitSettings(), filter], "EPERM");
    const data = join(folder, "data");
    freshDatabase(data).connection.sqlite.close();
    handOver();
    const back = (file: string) =>
      runBinary(["backup", join(folder, file), "--data", data], { binary: program });
    const ended = await Promise.all([back("one.db"), back("one.db"), back("two.db")]);
    expect(ended.filter(({ exitCode }) => exitCode === 0).length).toBe(2);
    const again = await back("two.db");
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining("already")]);
    for (const file of ["one.db", "two.db"]) {
      await binaryJson(freshFolder(), "restore", join(folder, file));
    }
  });
});

describe("a server's backups", () => {
  test("leave a manual backup in the same folder unchanged", async () => {
    const data = dataDirectory();
    const folder = freshFolder();
    const file = join(folder, "reseller-before-upgrade.db");
    const byHand = await startBackup(largeDataDirectory(), file);
    const server = await serve(data, folder);
    await made(server, 3);
    // `systemctl kill` sends it to every process of the service.
    byHand.kill("SIGUSR1");
    byHand.kill("SIGCONT");
    expect([await byHand.exited, await byHand.stderr.text()]).toEqual([0, ""]);
    await made(server, 2);
    expect(await server.stop()).toBe(0);
    expect(backupsOf(data, folder).length).toBe(2);
    await binaryJson(freshFolder(), "restore", file);
  });

  test("of two services are kept apart, by doctor and metrics as well", async () => {
    const folder = freshFolder();
    const [one, other] = [dataDirectory(), dataDirectory()];
    const rare = await serve(
      other,
      folder,
      "--metrics-listen",
      "127.0.0.1:0",
      "--backup-every",
      "0",
    );
    const metricsUrl = await metricsOf(rare);
    const age = async () =>
      /^reseller_backup_age_seconds (.*)$/m.exec(await (await fetch(metricsUrl)).text())?.[1];
    const often = await serve(one, folder);
    await made(often, 2);
    expect(await age()).toBeUndefined();
    const doctor = () => binary(folder, "doctor", "--data", other, "--backup-dir", folder);
    expect((await doctor()).stdout).toContain(`no backup of this service in ${folder}`);
    process.kill(rare.pid, "SIGUSR1");
    await until(() => rare.log().includes("backup made"));
    const [only] = backupsOf(other, folder);
    await made(often, 4);
    expect(backupsOf(other, folder)).toEqual([only!]);
    expect(Number(await age())).toBeGreaterThanOrEqual(0);
    expect((await doctor()).stdout).toContain(only!);
    expect([await often.stop(), await rare.stop()]).toEqual([0, 0]);
    expect(backupsOf(one, folder).length).toBe(2);
  });

  test("are counted on after a restart and after the data directory was moved", async () => {
    const folder = freshFolder();
    const data = join(freshFolder(), "data");
    const moved = join(freshFolder(), "moved");
    for (const place of [data, data, moved]) {
      if (place === moved) renameSync(data, moved);
      const server = await serve(place, folder);
      await made(server, 3);
      expect(await server.stop()).toBe(0);
      expect(backupsOf(place, folder).length).toBe(2);
      expect(readdirSync(folder).length).toBe(2);
    }
  });

  test("of a copied data directory, and of a database restored elsewhere, are another service's", async () => {
    const folder = freshFolder();
    const data = dataDirectory();
    const first = await serve(data, folder);
    await made(first, 2);
    expect(await first.stop()).toBe(0);
    const kept = backupsOf(data, folder);
    const copied = join(freshFolder(), "copied");
    cpSync(data, copied, { recursive: true });
    const restored = freshFolder();
    await binaryJson(restored, "restore", join(folder, kept[0]!), "--data", restored);
    for (const other of [copied, restored]) {
      const server = await serve(other, folder);
      await made(server, 4);
      expect(await server.stop()).toBe(0);
      expect(backupsOf(other, folder).length).toBe(2);
      expect(backupsOf(data, folder)).toEqual(kept);
    }
  });

  test("that were killed are removed by the next, and a file with their name stays whole", async () => {
    const data = dataDirectory();
    const folder = freshFolder();
    const server = await serve(data, folder);
    await made(server, 1);
    await until(() => readdirSync(folder).some((name) => name.endsWith(".partial")));
    await server.kill();
    const [whole] = backupsOf(data, folder);
    const remains = `reseller-2026-01-01T00-00-00-000Z-${idOf(data)}.db.partial`;
    for (const name of [remains, `${whole}.partial`]) {
      mkdirSync(join(folder, name), { recursive: true });
    }
    writeFileSync(join(folder, remains, "copy.db"), "half");
    // Killed between being named and the end, and kept by somebody under another name besides.
    const names = [join(folder, `${whole}.partial`, "copy.db"), join(folder, "snapshot.db")];
    for (const name of names) linkSync(join(folder, whole!), name);
    const next = await serve(data, folder);
    await made(next, 3);
    expect(await next.stop()).toBe(0);
    expect(existsSync(join(folder, remains))).toBe(false);
    expect(backupsOf(data, folder)).not.toContain(whole!);
    await binaryJson(freshFolder(), "restore", join(folder, "snapshot.db"));
    const left = readdirSync(folder).filter((name) => name.endsWith(".partial"));
    expect(left.length).toBeLessThanOrEqual(1);
  });

  test("named by a clock that ran ahead are no newer than today's", async () => {
    const data = dataDirectory();
    const folder = freshFolder();
    const first = await serve(data, folder);
    await made(first, 1);
    expect(await first.stop()).toBe(0);
    const [name] = backupsOf(data, folder);
    const ahead = ["2098", "2099"].map((year) =>
      name!.replace("2026", year).replace(/-\d{4}-/, `-${year}-`),
    );
    for (const to of ahead) cpSync(join(folder, name!), join(folder, to));
    const { stdout } = await binary(folder, "doctor", "--data", data, "--backup-dir", folder);
    expect(stdout).toContain(name!);
    const second = await serve(data, folder);
    await made(second, 3);
    expect(await second.stop()).toBe(0);
    const left = backupsOf(data, folder);
    expect(left.filter((file) => ahead.includes(file))).toEqual([]);
    expect(left.length).toBe(2);
  });

  test("are tried again whatever failed, and each failure is logged", async () => {
    const data = dataDirectory();
    const folder = join(freshFolder(), "backups");
    writeFileSync(folder, "in the way");
    const server = await serve(data, folder, "--metrics-listen", "127.0.0.1:0");
    await until(() => countIn(server, "backup not made") >= 3);
    expect((await fetch(await metricsOf(server))).status).toBe(200);
    const { code, stdout } = await binary(data, "doctor", "--data", data, "--backup-dir", folder);
    expect([code, stdout]).toEqual([1, expect.stringContaining("cannot be read")]);
    rmSync(folder);
    await made(server, 1);
    // Its folder of remains cannot be made: that backup stays, the others go.
    const [stuck] = backupsOf(data, folder);
    writeFileSync(join(folder, `${stuck}.partial`), "in the way");
    await until(() => countIn(server, "old backups not removed") >= 2);
    await made(server, 3);
    expect(await server.stop()).toBe(0);
    expect(backupsOf(data, folder).length).toBe(3);
    expect(backupsOf(data, folder)).toContain(stuck!);
  });
});

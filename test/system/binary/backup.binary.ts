// Backups of a server under load: whole, verified, never over another file; and their restore elsewhere.

import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  BINARY,
  type ServerProcess,
  binary,
  binaryJson,
  startServerProcess,
} from "../../support/binary.ts";
import { fillInBulk } from "../../support/databases/bulk.ts";
import { childrenOf, stateOf } from "../../support/children.ts";
import { randomFrom } from "../../support/random/seeded.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { prepareLoad, problemsOf, sendLoad } from "../../support/random/wishes.ts";
import { until } from "../../support/until.ts";

/** Orders of a database whose backups rest: some 10 MB. */
const LARGE = 20_000;

const SERVERS: ServerProcess[] = [];
afterEach(async () => {
  for (const server of SERVERS.splice(0)) await server.kill();
});

interface Loaded {
  folder: string;
  key: string;
  server: ServerProcess;
}

/** `orders`: of another reseller, there from the beginning. */
async function serverWith(orders: number, ...flags: string[]): Promise<Loaded> {
  const folder = freshFolder();
  const database = freshDatabase(folder);
  const key = prepareLoad(database);
  if (orders > 0) fillInBulk(database, orders);
  database.connection.sqlite.close();
  const server = await startServerProcess({ data: folder, arguments: flags });
  SERVERS.push(server);
  return { folder, key, server };
}

function loadedServer(...flags: string[]): Promise<Loaded> {
  return serverWith(0, ...flags);
}

function load({ server, key }: Loaded, first: number, more: (sent: number) => boolean) {
  return sendLoad(server.url, key, { first, connections: 8, random: randomFrom(first), more });
}

describe("a backup", () => {
  test("taken under load and restored elsewhere has every order acknowledged before it began", async () => {
    const loaded = await loadedServer();
    const before = await load(loaded, 0, (sent) => sent < 300);
    let copying = true;
    const during = load(loaded, 300, () => copying);
    const file = join(freshFolder(), "copy.db");
    const made = await binaryJson(loaded.folder, "backup", file, "--data", loaded.folder);
    copying = false;
    const meanwhile = await during;
    expect(meanwhile.filter(({ answer }) => answer?.status !== 200)).toEqual([]);
    expect(made).toMatchObject({ file, database: join(loaded.folder, "reseller.db"), users: 1 });
    expect(made.bytes).toBe(statSync(file).size);
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const elsewhere = freshFolder();
    const restored = await binaryJson(elsewhere, "restore", file, "--data", elsewhere);
    expect(restored).toMatchObject({ ok: true, keptAside: null, before: null });
    expect(restored.after.orders).toBe(made.orders);
    expect(await problemsOf(elsewhere, before)).toEqual([]);
    const server = await startServerProcess({ data: elsewhere });
    expect(await server.stop()).toBe(0);
  });

  test("overwrites nothing, and leaves nothing behind when it fails", async () => {
    const { folder } = await loadedServer();
    const place = freshFolder();
    const file = join(place, "there");
    writeFileSync(file, "precious");
    const { code, stderr } = await binary(folder, "backup", file, "--data", folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("was not overwritten")]);
    expect(await Bun.file(file).text()).toBe("precious");
    const missing = await binary(folder, "backup", join(place, "no/such/place"), "--data", folder);
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining("not found: create it"),
    ]);
    expect(readdirSync(place)).toEqual(["there"]);
  });

  test("is made by SIGUSR1, at intervals, and the newest are kept", async () => {
    const flags = ["--backup-every", "300ms", "--backup-keep", "2"];
    const { folder, server } = await loadedServer(...flags);
    const backups = join(folder, "backups");
    const made = () => server.log().split("backup made").length - 1;
    await until(() => made() >= 4);
    // A new one is there before the oldest is removed.
    const kept = () => readdirSync(backups).filter((name) => name.endsWith(".db")).length;
    await until(() => kept() === 2);
    expect(statSync(backups).mode & 0o777).toBe(0o700);
    expect(await server.stop()).toBe(0);

    const asked = await startServerProcess({ data: folder, arguments: ["--backup-every", "0"] });
    SERVERS.push(asked);
    process.kill(asked.pid, "SIGUSR1");
    await until(() => asked.log().includes("backup made"));
    const [newest] = readdirSync(backups)
      .filter((name) => name.endsWith(".db"))
      .sort()
      .reverse();
    await until(() => asked.log().includes(newest!));
    expect(await asked.stop()).toBe(0);
    const { code, stdout } = await binary(folder, "doctor", "--data", folder);
    expect([code, stdout]).toEqual([0, expect.stringContaining(newest!)]);
  });

  test("is begun again if the signal that asked for it ends its process, as systemctl kill does", async () => {
    const { folder, server } = await loadedServer("--backup-every", "0");
    const before = childrenOf(server.pid);
    const begun = () => childrenOf(server.pid).filter((pid) => !before.includes(pid));
    process.kill(server.pid, "SIGUSR1");
    await until(() => begun().length > 0);
    process.kill(begun()[0]!, "SIGUSR1");
    await until(() => server.log().includes("backup made"));
    expect(server.log()).not.toContain("backup not made");
    expect(readdirSync(join(folder, "backups"))).toHaveLength(1);
    expect(await server.stop()).toBe(0);
  });

  test("of the server itself rests repeatedly under load, and is complete", async () => {
    const loaded = await serverWith(LARGE, "--backup-every", "0");
    const before = await load(loaded, 0, (sent) => sent < 300);
    let copying = true;
    const during = load(loaded, 300, () => copying);
    process.kill(loaded.server.pid, "SIGUSR1");
    const rests = () => childrenOf(loaded.server.pid).some((pid) => stateOf(pid) === "T");
    for (let times = 0; times < 3; times += 1) {
      await until(rests);
      await until(() => !rests());
    }
    await until(() => loaded.server.log().includes("backup made"));
    copying = false;
    const meanwhile = await during;
    expect(meanwhile.filter(({ answer }) => answer?.status !== 200)).toEqual([]);
    expect(await loaded.server.stop()).toBe(0);
    const backups = join(loaded.folder, "backups");
    const [name] = readdirSync(backups);
    const elsewhere = freshFolder();
    const file = join(backups, name!);
    const restored = await binaryJson(elsewhere, "restore", file, "--data", elsewhere);
    expect(restored).toMatchObject({ ok: true });
    expect(await problemsOf(elsewhere, before)).toEqual([]);
  });

  test("that rests as its server is killed ends with it", async () => {
    const { server } = await serverWith(LARGE, "--backup-every", "0");
    process.kill(server.pid, "SIGUSR1");
    await until(() => childrenOf(server.pid).some((pid) => stateOf(pid) === "T"));
    const [child] = childrenOf(server.pid);
    // Now the server does not continue it any more.
    process.kill(server.pid, "SIGSTOP");
    process.kill(child!, "SIGSTOP");
    await until(() => stateOf(child!) === "T");
    await server.kill();
    await until(() => stateOf(child!) === null);
  });
});

describe("restore", () => {
  test("is refused while a server runs", async () => {
    const { folder } = await loadedServer();
    const file = join(freshFolder(), "copy.db");
    await binaryJson(folder, "backup", file, "--data", folder);
    const { code, stderr } = await binary(folder, "restore", file, "--data", folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("stop it first")]);
  });

  test("keeps the previous database, and prints the totals before and after", async () => {
    const loaded = await loadedServer();
    const early = await load(loaded, 0, (sent) => sent < 40);
    const file = join(freshFolder(), "copy.db");
    await binaryJson(loaded.folder, "backup", file, "--data", loaded.folder);
    const late = await load(loaded, 40, (sent) => sent < 40);
    await loaded.server.kill();
    const restored = await binaryJson(loaded.folder, "restore", file, "--data", loaded.folder);
    expect(restored.before.orders).toBe(48);
    expect(restored.after.orders).toBe(24);
    expect(await problemsOf(loaded.folder, early)).toEqual([]);
    const aside = freshFolder();
    await binaryJson(aside, "restore", restored.keptAside, "--data", aside);
    expect(await problemsOf(aside, [...early, ...late])).toEqual([]);
  });

  test("changes nothing for a file that is damaged, foreign, empty or missing", async () => {
    const loaded = await loadedServer();
    const wishes = await load(loaded, 0, (sent) => sent < 40);
    const place = freshFolder();
    const file = join(place, "copy.db");
    await binaryJson(loaded.folder, "backup", file, "--data", loaded.folder);
    expect(await loaded.server.stop()).toBe(0);
    const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
    bytes.fill(0x5a, bytes.length - 3 * 4096, bytes.length - 4096);
    const unfit = {
      damaged: bytes,
      foreign: "CREATE TABLE, said the text",
      empty: "",
    };
    for (const [name, content] of Object.entries(unfit)) writeFileSync(join(place, name), content);
    for (const name of [...Object.keys(unfit), "nowhere"]) {
      const { code, stderr } = await binary(
        place,
        "restore",
        join(place, name),
        "--data",
        loaded.folder,
      );
      expect([name, code, stderr]).toEqual([name, 1, expect.stringContaining(join(place, name))]);
    }
    const left = readdirSync(loaded.folder).sort();
    expect(left.filter((name) => name.includes("restor"))).toEqual([]);
    expect(await problemsOf(loaded.folder, wishes)).toEqual([]);
  });
});

test("a data directory that became read-only can be looked at and backed up", async () => {
  const data = freshFolder();
  const database = freshDatabase(data);
  prepareLoad(database);
  const target = join(freshFolder(), "last.db");
  // The database is in use, so its log and the log's index are there. As the kernel remounts a file system whose disk fails.
  const commands = `mount --bind "$2" "$2" && mount -o remount,bind,ro "$2" || exit 99
    "$1" doctor --data "$2"; echo "doctor $?"
    "$1" backup "$3" --data "$2" || exit 98`;
  const child = Bun.spawnSync(["unshare", "-rm", "sh", "-c", commands, "sh", BINARY, data, target]);
  const [stdout, stderr] = [child.stdout.toString(), child.stderr.toString()];
  expect([child.exitCode, stdout, stderr]).toEqual([
    0,
    expect.stringMatching(/cannot be written[^]*doctor 1\n[^]*last\.db: .* verified/),
    expect.stringContaining("warning: writes made during the backup were not checkpointed"),
  ]);
  expect(stderr).not.toContain("this is a bug in reseller");
  database.connection.sqlite.close();
  expect((await binary(data, "restore", target, "--data", freshFolder())).code).toBe(0);
});

test("an existing folder with the name of an unfinished backup loses nothing", async () => {
  const folder = freshFolder();
  freshDatabase(folder).connection.sqlite.close();
  const target = join(folder, "mine.db");
  mkdirSync(`${target}.partial`);
  writeFileSync(join(`${target}.partial`, "notes.txt"), "precious");
  expect((await binary(folder, "backup", target, "--data", folder)).code).toBe(0);
  expect(readdirSync(`${target}.partial`)).toEqual(["notes.txt"]);
});

test("doctor reports a missing folder, and one that others can read", async () => {
  const folder = join(freshFolder(), "data");
  const { code, stdout } = await binary(freshFolder(), "doctor", "--data", folder);
  expect([code, stdout]).toEqual([0, expect.stringContaining("does not exist")]);
  expect(existsSync(folder)).toBe(false);
  mkdirSync(folder, { mode: 0o755 });
  freshDatabase(folder).connection.sqlite.close();
  await Bun.$`chmod 644 ${join(folder, "reseller.db")}`;
  const { findings } = await binaryJson(folder, "doctor", "--data", folder);
  const stateOf = (check: string) =>
    (findings as { check: string; state: string }[]).find((finding) => finding.check === check)
      ?.state;
  expect(stateOf("permissions")).toBe("warn");
  expect(stateOf("integrity")).toBe("ok");
  expect(stateOf("last backup")).toBe("warn");
});

// A restore takes rows back in time, but never reuses numbers that were given out since, nor reactivates keys that were
// ended since. It refuses a file that is not a backup.

import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"; // prettier-ignore
import { join } from "node:path";
import {
  type ServerProcess,
  binary,
  binaryJson,
  serving,
  startServerProcess,
  stop,
} from "../../support/binary.ts";
import { damageTables } from "../../support/databases/damage.ts";
import { type Body, callApi } from "../../support/http/api.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { until } from "../../support/until.ts";

const MARGIN = 1_000_000;
const SERVERS: ServerProcess[] = [];
afterEach(async () => {
  for (const server of SERVERS.splice(0)) await server.kill();
});

interface Shop {
  folder: string;
  /** The key that alice orders with. */
  key: { text: string; id: string };
  file: string;
}
type ShopOfTwo = Shop & { second: { text: string; id: string } };

/** A copy, because an order and a backup take half a second. */
async function shopWithBackup(): Promise<ShopOfTwo> {
  const { folder, file, ...keys } = await (shop ??= makeShop());
  const copies = { folder: freshFolder(), file: join(freshFolder(), "copy.db") };
  cpSync(folder, copies.folder, { recursive: true });
  copyFileSync(file, copies.file);
  return { ...copies, ...keys };
}
let shop: Promise<ShopOfTwo> | undefined;

/** alice with three orders and a second key, bob, services `followers` and `secret`; and a backup of it all. */
async function makeShop(): Promise<ShopOfTwo> {
  const folder = freshFolder();
  const database = freshDatabase(folder);
  database.user("alice", "100");
  database.user("bob", "1");
  database.service({ id: "followers" });
  database.service({ id: "secret", name: "Secret", private: true });
  database.run("createProvider", {
    name: "acme",
    protocol: "smm-api",
    url: "https://acme.test",
    key: "first-key",
  });
  database.run("grantService", { id: "secret", username: "bob", priceMicros: null });
  const key = database.key("alice", "full");
  const second = database.key("bob", "order");
  database.connection.sqlite.close();
  await ordering(folder, key.text, 3);
  const file = join(freshFolder(), "copy.db");
  await binaryJson(folder, "backup", file, "--data", folder);
  return { folder, key, second, file };
}

/** Serves a folder while `count` orders are placed; returns the numbers that the caller was told. */
async function ordering(folder: string, key: string, count: number) {
  const server = await startServerProcess({ data: folder });
  SERVERS.push(server);
  const order = { service: "followers", link: "https://example.com/me", quantity: 10 };
  const orders: number[] = [];
  for (let placed = 0; placed < count; placed++) {
    const { body } = await callApi(server.url, "POST", "/orders", key, order);
    orders.push(body.order.orderId);
  }
  const { body } = await callApi(server.url, "GET", "/transactions", key);
  const transactions: number[] = body.transactions.map(({ seq }: Body) => seq);
  expect(await server.stop()).toBe(0);
  return { orders, lastTransaction: Math.max(...transactions) };
}

async function restored(folder: string, file: string, ...flags: string[]): Promise<Body> {
  return binaryJson(folder, "restore", file, "--data", folder, ...flags);
}

const idsOf = (keys: Body) => keys.map(({ id }: Body) => id);
const audited = async (folder: string) =>
  (await binaryJson(folder, "admin", "audit", "list", "--data", folder)) as { seq: number }[];

describe("numbers that were given out", () => {
  test("are never given out again where the replaced database is at hand, however often it is restored", async () => {
    const { folder, key, file } = await shopWithBackup();
    await binaryJson(folder, ..."admin user credit alice 5 --data".split(" "), folder);
    let given = await ordering(folder, key.text, 4);
    expect(given.orders).toEqual([4, 5, 6, 7]);
    for (let time = 0; time < 2; time++) {
      const [newest] = await audited(folder);
      const { next, unknownBecause, after } = await restored(folder, file);
      expect([unknownBecause, after.orders]).toEqual([null, 3]);
      expect(next).toEqual({
        orderId: given.orders.at(-1)! + 1,
        transaction: given.lastTransaction + 1,
        audit: newest!.seq + 1,
        // The shop has two.
        service: 3,
      });
      await binaryJson(folder, ..."admin user credit alice 5 --data".split(" "), folder);
      expect((await audited(folder))[0]!.seq).toBe(next.audit);
      given = await ordering(folder, key.text, 2);
      expect(given.orders).toEqual([next.orderId, next.orderId + 1]);
      // The credit, then the two orders.
      expect(given.lastTransaction).toBe(next.transaction + 2);
      expect((await binary(folder, "verify", "--data", folder)).code).toBe(0);
    }
  });

  test("are skipped by a margin where they are unknown: no database, or a new one", async () => {
    const { key, file } = await shopWithBackup();
    for (const isNew of [false, true]) {
      const elsewhere = freshFolder();
      if (isNew) freshDatabase(elsewhere).connection.sqlite.close();
      const { next, unknownBecause } = await restored(elsewhere, file);
      expect(unknownBecause).toContain(
        isNew ? "does not continue from this backup" : "no database",
      );
      expect(next.orderId).toBe(3 + MARGIN + 1);
      const given = await ordering(elsewhere, key.text, 2);
      expect(given.orders).toEqual([next.orderId, next.orderId + 1]);
      expect(given.lastTransaction).toBe(next.transaction + 1);
      const { stdout } = await binary(elsewhere, "restore", file, "--data", elsewhere);
      expect(stdout).toContain(
        `the next order is number ${next.orderId + 2}, the next transaction`,
      );
    }
  });

  test("are skipped by a margin above those that can be read from a damaged database", async () => {
    const { folder, key, file } = await shopWithBackup();
    await ordering(folder, key.text, 4);
    damageTables(join(folder, "reseller.db"), ["order_events"]);
    const { next, unknownBecause, keys, keptAside } = await restored(folder, file);
    expect(unknownBecause).toContain("damaged");
    expect(next.orderId).toBe(7 + MARGIN + 1);
    expect(keys.revived.length).toBe(2);
    expect(existsSync(keptAside)).toBe(true);
  });

  test("are also read from the database of a newer version, which can only be left by a restore", async () => {
    const { folder, key, file } = await shopWithBackup();
    await ordering(folder, key.text, 2);
    const sqlite = new Database(join(folder, "reseller.db"));
    sqlite.run("INSERT INTO migrations VALUES (99, '0099_future', 'x', 1)");
    sqlite.close();
    const { next, unknownBecause, before } = await restored(folder, file);
    expect([next.orderId, unknownBecause, before.orders]).toEqual([6, null, 5]);
  });

  test("go on where --order-numbers-from says, unless that is among those given out", async () => {
    const { folder, key, file } = await shopWithBackup();
    await ordering(folder, key.text, 1);
    // Any reader of the database makes and removes the files beside it.
    const files = () =>
      readdirSync(folder)
        .filter((name) => !/-(wal|shm)$/.test(name))
        .sort();
    const before = files();
    const flags = ["--data", folder, "--order-numbers-from"];
    const refused = await binary(folder, "restore", file, ...flags, "4");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining("up to 4 were issued"),
    ]);
    expect(files()).toEqual(before);
    expect((await binary(folder, "restore", file, ...flags, "0")).code).toBe(2);
    const { next } = await restored(folder, file, "--order-numbers-from", "70000");
    expect([next.orderId, (await ordering(folder, key.text, 1)).orders]).toEqual([
      70_000,
      [70_000],
    ]);
  });
});

describe("keys", () => {
  test("that were deactivated since stay so, and those made since are named", async () => {
    const { folder, key, second, file } = await shopWithBackup();
    await binaryJson(folder, "admin", "key", "deactivate", second.id, "--data", folder);
    const made = await binaryJson(
      folder,
      ..."admin key create --user bob --type order --label fresh --data".split(" "),
      folder,
    );
    const { keys } = await restored(folder, file);
    expect(idsOf(keys.ended)).toEqual([second.id]);
    expect(keys.revived).toEqual([]);
    expect(keys.lost).toMatchObject([{ id: made.id, username: "bob", label: "fresh" }]);
    const server = await startServerProcess({ data: folder });
    SERVERS.push(server);
    const status = async (text: string) =>
      (await callApi(server.url, "GET", "/balance", text)).status;
    expect([await status(second.text), await status(key.text)]).toEqual([403, 200]);
    const [entry] = (await audited(folder)) as Body[];
    expect(entry).toMatchObject({ action: "key.deactivate", subject: second.id });
    // A second time they were deactivated by the first.
    expect(await server.stop()).toBe(0);
    expect((await restored(folder, file)).keys).toMatchObject({
      ended: [{ id: second.id }],
      revived: [],
      lost: [],
    });
  });

  test.each([
    ["are ended where their grace is over", "0", "ended"],
    ["have no end again where it is not: they are named", "1d", "revived"],
  ])("that were rotated since %s", async (_, grace, kind) => {
    const { folder, key, file } = await shopWithBackup();
    const flags = ["--grace", grace, "--data", folder];
    const rotated = await binaryJson(folder, "admin", "key", "rotate", key.id, ...flags);
    const { keys } = await restored(folder, file);
    const expected = { ended: [], revived: [], [kind]: [key.id], lost: [rotated.id] };
    expect({
      ended: idsOf(keys.ended),
      revived: idsOf(keys.revived),
      lost: idsOf(keys.lost),
    }).toEqual(expected);
  });

  test.each([
    ["before its time by the clock, which was put back", 86_400_000],
    ["after its time by the clock, which may be put back", 1],
  ])("that the service ended since stay so, %s", async (_, lifetime) => {
    const { folder, second } = await shopWithBackup();
    const change = (sql: string) => {
      const sqlite = new Database(join(folder, "reseller.db"));
      sqlite.query(sql).run(second.id);
      sqlite.close();
    };
    change(`UPDATE keys SET expires_at = created_at + ${lifetime} WHERE id = ?`);
    const file = join(freshFolder(), "copy.db");
    await binaryJson(folder, "backup", file, "--data", folder);
    change("UPDATE keys SET ended = 1 WHERE id = ?");
    const { keys } = await restored(folder, file);
    expect([idsOf(keys.ended), keys.revived, keys.lost]).toEqual([[second.id], [], []]);
    // As if the clock were before its end.
    change(`UPDATE keys SET expires_at = ${Date.now() + 86_400_000} WHERE id = ?`);
    const server = await startServerProcess({ data: folder });
    SERVERS.push(server);
    const { status } = await callApi(server.url, "GET", "/balance", second.text);
    expect(status).toBe(403);
  });

  test("are listed one by one where it is unknown which were ended", async () => {
    const { folder, key, second, file } = await shopWithBackup();
    const elsewhere = freshFolder();
    const { keys } = await restored(elsewhere, file);
    expect(idsOf(keys.revived).sort()).toEqual([key.id, second.id].sort());
    const { stdout } = await binary(freshFolder(), "restore", file);
    for (const { id } of [key, second]) expect(stdout).toContain(id);
    expect(stdout).toContain("admin key deactivate");
    expect(stdout).not.toContain(key.text);
    expect((await binary(folder, "verify", "--data", folder)).code).toBe(0);
  });
});

test("settings that were changed since the backup are named, without a secret", async () => {
  const { folder, file } = await shopWithBackup();
  const cli = (line: string) => binaryJson(folder, ...line.split(" "), "--data", folder);
  await cli("admin service update followers --price 2.5");
  await cli("admin service deactivate followers");
  await cli("admin service revoke secret --user bob");
  await cli("admin user create carol");
  const sqlite = new Database(join(folder, "reseller.db"));
  sqlite.run("UPDATE providers SET key = 'later-key'");
  sqlite.close();
  const { changes } = await restored(folder, file);
  expect(changes).toEqual([
    { subject: "user carol", since: "made", now: "gone" },
    { subject: "provider acme", since: "another key", now: "the backup's key" },
    { subject: "service followers", since: "price 2.5, active no", now: "price 2.32, active yes" },
    { subject: "grant of secret to bob", since: "removed", now: "there again" },
  ]);
  expect((await restored(folder, file)).changes).toEqual([]);
});

describe("a database whose triggers were removed or added", () => {
  async function tampered(): Promise<Shop> {
    const shop = await shopWithBackup();
    const sqlite = new Database(join(shop.folder, "reseller.db"));
    sqlite.run("DROP TRIGGER transfers_append_only_delete");
    sqlite.run("CREATE TRIGGER gift AFTER INSERT ON transfers BEGIN SELECT 1; END");
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite.close();
    return shop;
  }
  const NAMED = [
    /trigger transfers_append_only_delete\b.*is missing/,
    /trigger gift\b.*is not part of the migrations/,
  ];

  test("fails verify and doctor, and its backup is marked as not verified", async () => {
    const { folder } = await tampered();
    for (const command of ["verify", "doctor"]) {
      const { code, stdout } = await binary(folder, command, "--data", folder);
      expect([command, code]).toEqual([command, 1]);
      for (const named of NAMED) expect(stdout).toMatch(named);
    }
    const place = freshFolder();
    const { code, stderr } = await binary(folder, "backup", join(place, "b.db"), "--data", folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining("trigger gift")]);
    expect(readdirSync(place)).toEqual(["b.unverified.db"]);
  });

  test("is not restored", async () => {
    const { folder, file } = await tampered();
    const bad = join(freshFolder(), "bad.db");
    copyFileSync(join(folder, "reseller.db"), bad);
    await restored(folder, file);
    const before = readdirSync(folder).sort();
    const { code, stderr } = await binary(folder, "restore", bad, "--data", folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining(bad)]);
    for (const named of NAMED) expect(stderr).toMatch(named);
    expect(readdirSync(folder).sort()).toEqual(before);
    expect((await binary(folder, "verify", "--data", folder)).code).toBe(0);
  });
});

test("a data directory that is a file is refused by restore, and named by doctor", async () => {
  const { folder, file } = await shopWithBackup();
  const data = join(folder, "file");
  writeFileSync(data, "precious");
  const refused = await binary(folder, "restore", file, "--data", data);
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: the data directory \S+ cannot be used.+\n$/),
  ]);
  const { code, stdout, stderr } = await binary(folder, "doctor", "--data", data);
  expect([code, stdout]).toEqual([1, expect.stringContaining(`${data} is not a folder`)]);
  expect(stderr).toMatch(/^error: 1 checks failed .+\n$/);
  expect(readFileSync(data, "utf8")).toBe("precious");
});

test("a backup whose write-ahead log is not a file is refused at once", async () => {
  const { folder, file } = await shopWithBackup();
  Bun.spawnSync(["mkfifo", `${file}-wal`]);
  const { code, stderr } = await binary(folder, "restore", file, "--data", folder);
  expect([code, stderr]).toEqual([1, expect.stringContaining(`${file}-wal is not a regular file`)]);
});

describe("a path that is not a regular file is refused at once and named:", () => {
  const fifo = (path: string) => Bun.spawnSync(["mkfifo", path]);
  test.each<[what: string, make: (path: string) => void, says: string]>([
    ["a FIFO", fifo, "is not a regular file"],
    ["a folder", (path) => mkdirSync(path), "is a folder"],
    ["a device", (path) => Bun.spawnSync(["ln", "-s", "/dev/zero", path]), "is not a regular file"],
  ])("%s", async (_, make, says) => {
    const { folder, file } = await shopWithBackup();
    const odd = join(freshFolder(), "odd");
    make(odd);
    const { code, stderr } = await binary(folder, "restore", odd, "--data", folder);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${odd} ${says}`)]);
    expect((await binary(folder, "verify", "--data", folder)).code).toBe(0);

    const data = freshFolder();
    make(join(data, "reseller.db"));
    for (const argv of [["restore", file], ["verify"], ["serve", "--port", "0"], ["doctor"]]) {
      const ended = await binary(data, ...argv, "--data", data);
      expect([argv, ended.code]).toEqual([argv, 1]);
      expect(ended.stdout + ended.stderr).toContain(`${join(data, "reseller.db")} ${says}`);
    }
  });
});

test("an existing data directory with mode 0755 is closed from the first start on", async () => {
  const parent = freshFolder();
  for (const [index, content] of [[], ["backups/"], ["notes.txt", "backups/"]].entries()) {
    const data = join(parent, `data${index}`);
    mkdirSync(data);
    for (const name of content) {
      if (name.endsWith("/")) mkdirSync(join(data, name));
      else writeFileSync(join(data, name), "");
    }
    chmodSync(data, 0o755);
    const server = await serving(parent, "serve", "--data", data);
    const files = readdirSync(data).filter((name) => !content.join().includes(name));
    const modes = [data, ...files.map((name) => join(data, name))].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect(modes).toEqual([0o700, ...files.map(() => 0o600)]);
    await stop(server);
  }
});

test("a data directory in memory: serve and doctor warn that a reboot loses it", async () => {
  const data = mkdtempSync("/dev/shm/reseller-test-");
  try {
    const server = await startServerProcess({ data });
    SERVERS.push(server);
    await until(() => server.log().includes("everything is lost on reboot"));
    expect(await server.stop()).toBe(0);
    const { findings } = await binaryJson(data, "doctor", "--data", data);
    expect(findings.find(({ check }: Body) => check === "file system")).toMatchObject({
      state: "warn",
      found: "tmpfs",
      advice: expect.stringContaining("reboot"),
    });
  } finally {
    rmSync(data, { recursive: true });
  }
});

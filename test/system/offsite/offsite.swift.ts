// `bun run test:offsite`: off-site copies by the binary in a store that others wrote, OpenStack Swift.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { basename, join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { nextBackup } from "../../../src/storage/backup/backup-folder.ts";
import { claimInstanceId } from "../../../src/storage/file/instance.ts";
import { binaryWith, type Ended } from "../../support/binary.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { ACCESS_KEY, type Proxy, REGION, SECRET_KEY, startSwift, type Swift } from "./swift.ts";

const MEBIBYTE = 1024 * 1024;
/** Compressed it has three parts of 8 MiB. */
const LARGE_BYTES = 30 * MEBIBYTE;
const BUCKETS = ["backups", "back.ups-2", "0.x"];
const HOUR = 3_600_000;

let swift: Swift;
let small: TestDatabase;
let large: TestDatabase;
let identity: string;
let recipient: string;
let backups = 0;
let prefixes = 0;

beforeAll(async () => {
  swift = await startSwift();
  for (const bucket of BUCKETS) await swift.createBucket(bucket);
  small = freshDatabase();
  large = freshDatabase();
  for (const database of [small, large]) database.user("anna", "100");
  const name = randomBytes((LARGE_BYTES / 4) * 3).toString("base64");
  large.connection.sqlite.run("UPDATE users SET name = ?", [name]);
  const text = await generateIdentity();
  recipient = await identityToRecipient(text);
  identity = join(freshFolder(), "backup.key");
  writeFileSync(identity, `${text}\n`);
}, 600_000);
afterAll(async () => {
  for (const database of [small, large]) database.close();
  await swift.stop();
});

/** A backup as the server makes them, each an hour newer than the one before. */
function backup({ folder, connection }: TestDatabase): string {
  const at = Date.now() - 1000 * HOUR + backups++ * HOUR;
  const file = nextBackup(join(folder, "backups"), claimInstanceId(folder), at);
  copyDatabase(connection.path, file);
  return file;
}

const freshRemote = () => `s3://backups/test/${prefixes++}`;

/** Runs the binary with the right keys, unless other settings are given. No command ever shows the secret. */
async function run(argv: string[], settings: Record<string, string> = {}): Promise<Ended> {
  const environment = {
    RESELLER_S3_ENDPOINT: swift.proxy.endpoint,
    RESELLER_S3_REGION: REGION,
    RESELLER_S3_ACCESS_KEY: ACCESS_KEY,
    RESELLER_S3_SECRET_KEY: SECRET_KEY,
    ...settings,
  };
  const ended = await binaryWith(environment, freshFolder(), ...argv);
  for (const secret of [environment.RESELLER_S3_SECRET_KEY, "AWS4-HMAC", "Signature="]) {
    expect(ended.stdout + ended.stderr).not.toContain(secret);
  }
  return ended;
}

async function json(...argv: string[]) {
  const { code, stdout, stderr } = await run([...argv, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

const at = (remote: string, { folder }: TestDatabase) => ["--backup-to", remote, "--data", folder];

async function listed(remote: string): Promise<string[]> {
  const { copies } = await json("backup", "list", ...at(remote, small));
  return copies.map(({ name }: { name: string }) => name);
}

/** Check, fetch and restore of the newest copy must give this file. */
async function expectCopy(remote: string, database: TestDatabase, file: string, flags: string[]) {
  const place = at(remote, database);
  expect(await json("backup", "check", ...flags, ...place)).toMatchObject({ ok: true, users: 1 });
  const target = join(freshFolder(), "fetched.db");
  await json("backup", "fetch", target, ...flags, ...place);
  expect(readFileSync(target).equals(readFileSync(file))).toBeTrue();
  const data = join(freshFolder(), "data");
  expect(await json("restore", remote, ...flags, "--data", data)).toMatchObject({ ok: true });
  expect(await json("verify", "--data", data)).toMatchObject({ users: 1 });
}

/** What check, fetch and restore say; they must leave nothing behind. */
async function refusals(remote: string, settings: Record<string, string> = {}): Promise<string[]> {
  const [folder, data] = [freshFolder(), join(freshFolder(), "data")];
  const place = at(remote, small);
  const said: string[] = [];
  for (const argv of [
    ["backup", "check", ...place],
    ["backup", "fetch", join(folder, "fetched.db"), ...place],
    ["restore", remote, "--data", data],
  ]) {
    const { code, stdout, stderr } = await run(argv, settings);
    expect([code, stdout]).toEqual([1, ""]);
    said.push(stderr);
  }
  expect(readdirSync(folder)).toEqual([]);
  expect(existsSync(join(data, "reseller.db"))).toBeFalse();
  return said;
}

describe.each(["one part", "several parts"])("a copy in %s", (size) => {
  test.each(["plain", "encrypted"])(
    "that is %s is fetched back as the same backup",
    async (kind) => {
      const database = size === "one part" ? small : large;
      const file = backup(database);
      const remote = freshRemote();
      const isEncrypted = kind === "encrypted";
      const to = isEncrypted ? ["--backup-recipient", recipient] : [];
      const sent = await json("backup", "send", file, ...to, ...at(remote, database));
      expect(sent).toMatchObject({ uploaded: true, verified: true });
      const parts = (await swift.objectsIn("backups+segments")).filter((name) =>
        name.startsWith(remote.slice("s3://backups/".length) + "/"),
      );
      if (size === "one part") expect(parts).toEqual([]);
      else expect(parts.length).toBe(Math.ceil(sent.bytes / (8 * MEBIBYTE)));
      const again = await json("backup", "send", file, ...to, ...at(remote, database));
      expect(again).toMatchObject({ uploaded: false });
      expect(await listed(remote)).toEqual([basename(file)]);
      await expectCopy(remote, database, file, isEncrypted ? ["--identity", identity] : []);
    },
  );
});

const PREFIXES = ["", "/a+b=c/@x,y", "/a.b/..c/.d", "/-_", "/!*'()", "/A/b/C"];
test.each(BUCKETS.flatMap((bucket) => PREFIXES.map((prefix) => `s3://${bucket}${prefix}`)))(
  "%s is a folder of its own",
  async (remote) => {
    const file = backup(small);
    await json("backup", "send", file, ...at(remote, small));
    expect(await listed(remote)).toEqual([basename(file)]);
    await expectCopy(remote, small, file, []);
  },
);

test.each([
  "s3://backups/a b",
  "s3://backups/ü",
  "s3://bücher/x",
  "s3://a+b/x",
  "s3://backups/a%2Fb",
])("%s is wrong usage", async (remote) => {
  const { code, stderr } = await run(["backup", "list", "--backup-to", remote]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--backup-to must be")]);
});

test("old copies are removed with all their parts, however many pages a listing has", async () => {
  const remote = freshRemote();
  const place = at(remote, small);
  const first = backup(large);
  await json("backup", "send", first, ...at(remote, large));
  const files: string[] = [];
  for (let count = 0; count < 5; count++) {
    files.unshift(backup(small));
    await json("backup", "send", files[0]!, ...place);
  }
  expect(await listed(remote)).toEqual([...files, first].map((file) => basename(file)));
  const next = backup(large);
  const keep = ["--backup-keep-remote", "1"];
  await json("backup", "send", next, ...keep, ...at(remote, large));
  const kept = (name: string) => name.includes(remote.slice("s3://backups/".length) + "/");
  const parts = (await swift.objectsIn("backups+segments")).filter(kept);
  expect(parts.filter((name) => !name.includes(basename(next)))).toEqual([]);
  const last = backup(small);
  expect(await json("backup", "send", last, ...keep, ...place)).toMatchObject({ removed: 5 });
  expect(await listed(remote)).toEqual([basename(last), basename(next)]);
  expect((await swift.objectsIn("backups")).filter(kept).length).toBe(4);
});

test("a copy that is replaced, cut off or removed in the store is refused", async () => {
  const remote = freshRemote();
  const sent = await json("backup", "send", backup(small), ...at(remote, small));
  const client = new Bun.S3Client({
    bucket: "backups",
    region: REGION,
    endpoint: swift.proxy.endpoint,
    accessKeyId: ACCESS_KEY,
    secretAccessKey: SECRET_KEY,
  });
  const object = client.file(sent.url.slice("s3://backups/".length));
  const whole = Buffer.from(await object.arrayBuffer());
  const changed = Buffer.from(whole);
  changed[changed.length >> 1]! ^= 1;
  for (const bytes of [changed, whole.subarray(0, -5), Buffer.concat([whole, whole])]) {
    await object.write(bytes);
    for (const said of await refusals(remote)) expect(said).toContain("is damaged");
  }
  await object.delete();
  for (const said of await refusals(remote)) expect(said).toContain("no copy");
});

test("a copy whose parts are damaged on the disk of the store is refused", async () => {
  const remote = freshRemote();
  const before = new Set(largeFiles());
  await json("backup", "send", backup(large), ...at(remote, large));
  const files = largeFiles().filter((file) => !before.has(file));
  expect(files.length).toBe(3);
  const bytes = readFileSync(files[1]!);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(files[1]!, bytes);
  for (const said of await refusals(remote)) expect(said).toContain(remote);
});

/** The files of parts on the disk of the store. */
function largeFiles(): string[] {
  const folder = join(swift.devices, "d1/objects");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((file) => file.endsWith(".data") && statSync(file).size > MEBIBYTE);
}

describe("nothing is sent and the cause is named", () => {
  test.each([
    ["another secret", { RESELLER_S3_SECRET_KEY: "another-secret" }, "RESELLER_S3_SECRET_KEY"],
    ["an unknown key", { RESELLER_S3_ACCESS_KEY: "shop:nobody" }, "RESELLER_S3_ACCESS_KEY"],
    ["another region", { RESELLER_S3_REGION: "eu-west-1" }, "--s3-region"],
    ["a bucket that does not exist", { RESELLER_BACKUP_TO: "s3://none/x" }, "no such bucket"],
    [
      "a port at which nobody listens",
      { RESELLER_S3_ENDPOINT: "http://127.0.0.1:9" },
      "--s3-endpoint",
    ],
  ] as [string, Record<string, string>, string][])("with %s", async (_, wrong, advice) => {
    const remote = freshRemote();
    const settings = { RESELLER_BACKUP_TO: remote, ...wrong };
    await expectFailures(settings, advice);
    expect(await listed(remote)).toEqual([]);
  });

  test.each([
    ["before", -20 * 60],
    ["after", 20 * 60],
  ])("when the clock of the store is 20 minutes %s ours", async (_, seconds) => {
    const remote = freshRemote();
    const proxy = await swift.startProxy(seconds);
    await expectFailures(
      { RESELLER_BACKUP_TO: remote, RESELLER_S3_ENDPOINT: proxy.endpoint },
      "set the clock",
    );
    await proxy.kill();
    expect(await listed(remote)).toEqual([]);
  });

  async function expectFailures(settings: Record<string, string>, advice: string) {
    const data = ["--data", small.folder];
    for (const argv of [["send", backup(small)], ["list"], ["check"]]) {
      const { code, stdout, stderr } = await run(["backup", ...argv, ...data], settings);
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(advice)]);
      expect(stderr.trim().split("\n")).toHaveLength(1);
    }
  }
});

test("a store that goes down in the middle of a part leaves no copy, and the next attempt is one", async () => {
  const remote = freshRemote();
  const file = backup(large);
  const failing = await failingAfter(await swift.startProxy(), 12 * MEBIBYTE);
  const send = ["backup", "send", file, ...at(remote, large)];
  const { code, stdout, stderr } = await run(send, { RESELLER_S3_ENDPOINT: failing });
  expect([code, stdout, stderr]).toEqual([1, "", expect.stringContaining(`${remote}/`)]);
  expect(stderr).toContain("--s3-endpoint");
  expect(await listed(remote)).toEqual([]);
  expect(await json(...send)).toMatchObject({ uploaded: true });
  await expectCopy(remote, large, file, []);
});

/** The address of a server that is killed after it was sent so many bytes; from then on nobody listens there. */
async function failingAfter(proxy: Proxy, bytes: number): Promise<string> {
  let left = bytes;
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const store = connect(proxy.port, "127.0.0.1");
    for (const socket of [client, store]) {
      sockets.add(socket);
      // The other end of a connection that is cut off.
      socket.on("error", () => socket.destroy());
    }
    store.pipe(client);
    client.pipe(store);
    client.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left > 0 || !server.listening) return;
      server.close();
      void proxy.kill();
      for (const socket of sockets) socket.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

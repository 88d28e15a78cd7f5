// The command line of off-site backups, and restore from there.

import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { copyDatabase } from "../../src/storage/backup/copy.ts";
import { nextBackup } from "../../src/storage/backup/backup-folder.ts";
import { claimInstanceId } from "../../src/storage/file/instance.ts";
import { reseller } from "../support/worlds/shop.ts";
import { type S3, startS3 } from "../support/peers/s3.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { freshFolder } from "../support/folders.ts";

let s3: S3;
let remote: string[];
let database: TestDatabase;
let prefixes = 0;
const saved = { ...process.env };

beforeAll(async () => {
  s3 = await startS3();
  database = freshDatabase();
  database.user("anna", "100");
});
afterAll(async () => {
  database.connection.sqlite.close();
  await s3.stop();
});
function folder(): void {
  const { RESELLER_BACKUP_TO: _, ...keys } = s3.environment;
  Object.assign(process.env, keys);
  remote = ["--backup-to", `s3://backups/commands/${prefixes++}`];
}
afterEach(() => {
  for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
  s3.fail(null);
});

/** A backup of the server, as it makes them. */
function backup(): string {
  const { folder: data, connection } = database;
  const file = nextBackup(join(data, "backups"), claimInstanceId(data), Date.now());
  copyDatabase(connection.path, file);
  return file;
}

const run = (...argv: string[]) =>
  reseller("backup", ...argv, ...remote, "--data", database.folder);

test("send, list, check and fetch say what they did, as text and as JSON", async () => {
  folder();
  expect((await run("list")).stdout).toContain("no copy in s3://backups/commands/");
  expect(await run("check")).toMatchObject({ code: 1, stderr: expect.stringContaining("no copy") });
  const file = backup();
  const sent = await run("send", "--json");
  expect(sent).toMatchObject({ code: 0, stderr: "" });
  expect(sent.json).toMatchObject({ file, uploaded: true, removed: 0 });
  expect((await run("send")).stdout).toContain("already exists");
  const listed = await run("list", "--json");
  expect(listed.json).toMatchObject({
    copies: [{ name: basename(file), encrypted: false, bytes: sent.json.bytes }],
    incomplete: [],
  });
  expect((await run("list")).stdout).toContain(basename(file));
  const checked = await run("check", "--json");
  expect(checked.json).toMatchObject({
    ok: true,
    url: sent.json.url,
    users: 1,
    orders: 0,
    problems: [],
  });
  expect((await run("check", basename(file))).stdout).toContain(
    "all checksums and balances are correct",
  );
  const target = join(freshFolder(), "fetched.db");
  expect((await run("fetch", target)).code).toBe(0);
  expect(readFileSync(target)).toEqual(readFileSync(file));
  expect(await run("fetch", target)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("was not overwritten"),
  });
});

test("check and fetch of a copy that was changed in the store fail, and leave nothing behind", async () => {
  folder();
  backup();
  const { json: sent } = await run("send", "--json");
  const object = join(s3.directory, `${sent.url.replace("s3://", "")}._S3rver_object`);
  const bytes = readFileSync(object);
  bytes[bytes.length >> 1]! ^= 1;
  writeFileSync(object, bytes);
  const target = join(freshFolder(), "fetched.db");
  for (const argv of [["check"], ["fetch", target]]) {
    expect(await run(...argv)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("is damaged"),
    });
  }
  const elsewhere = join(freshFolder(), "data");
  const restored = await reseller("restore", remote[1]!, "--data", elsewhere);
  expect(restored).toMatchObject({ code: 1, stderr: expect.stringContaining("is damaged") });
  expect(readdirSync(dirname(target))).toEqual([]);
  expect(existsSync(join(elsewhere, "reseller.db"))).toBeFalse();
});

test("a backup that does not verify is sent and kept beside the verified ones, under a name, a manifest and a listing that say so", async () => {
  folder();
  const good = backup();
  await run("send", good);
  const file = backup();
  const wrong = freshDatabase();
  wrong.user("anna", "100");
  wrong.connection.sqlite.run("DROP TRIGGER transfers_append_only_update");
  wrong.connection.sqlite.run("UPDATE transfers SET amount_micros = amount_micros + 1");
  wrong.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  wrong.connection.sqlite.close();
  copyFileSync(join(wrong.folder, "reseller.db"), file);
  // However few are kept, the last verified one is among them.
  const sent = await run("send", file, "--backup-keep-remote", "1", "--json");
  expect(sent).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("failed verification"),
    json: { uploaded: true, verified: false, removed: 0 },
  });
  expect(sent.json.url).toContain(".unverified.db.zst");
  expect((await run("send", file, "--json")).json).toMatchObject({ uploaded: false });
  const name = basename(file).replace(".db", ".unverified.db");
  const listed = [
    { name, verified: false },
    { name: basename(good), verified: true },
  ];
  expect((await run("list", "--json")).json.copies).toMatchObject(listed);
  expect(await run("check", name)).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("statements add up"),
  });
  const elsewhere = join(freshFolder(), "data");
  const restore = (...flags: string[]) =>
    reseller("restore", `${remote[1]}/${name}`, "--data", elsewhere, ...flags);
  const refused = await restore();
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--unverified") });
  expect(existsSync(join(elsewhere, "reseller.db"))).toBeFalse();
  expect((await restore("--unverified")).code).toBe(0);
  // The next verified one makes room.
  const next = backup();
  await run("send", next, "--backup-keep-remote", "1");
  expect((await run("list", "--json")).json.copies).toMatchObject([{ name: basename(next) }]);
  for (const each of [good, file, next]) rmSync(each);
});

test("restore takes the newest copy, or the one that is named, into a data directory that is gone", async () => {
  folder();
  const first = backup();
  await run("send", first);
  database.user("bert", "7");
  await run("send", backup());
  const elsewhere = join(freshFolder(), "data");
  const [, address] = remote;
  const restored = await reseller("restore", address!, "--data", elsewhere, "--json");
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  expect(restored.json).toMatchObject({ ok: true, after: { users: 2 }, keptAside: null });
  expect((await reseller("verify", "--data", elsewhere)).code).toBe(0);
  expect(readdirSync(join(elsewhere, "backups"))).toEqual([]);
  const named = `${address}/${basename(first)}`;
  const again = await reseller("restore", named, "--data", elsewhere);
  expect(again.stdout).toContain(named);
  const { json: users } = await reseller("admin", "user", "list", "--data", elsewhere, "--json");
  expect(users.map(({ username }: { username: string }) => username)).toEqual(["anna"]);
});

test("doctor says how old the newest copy of this service is, and fails without a store", async () => {
  folder();
  const doctor = async () => {
    for (;;) {
      const { json } = await reseller("doctor", ...remote, "--data", database.folder, "--json");
      const named = ({ check }: { check: string }) => check === "last off-site copy";
      const finding = json.findings.find(named);
      // Where the machine is too slow for the store to respond in time, once more.
      if (finding.found !== "no response in 20 s") return finding;
    }
  };
  expect(await doctor()).toMatchObject({ state: "warn" });
  await run("send", backup());
  expect(await doctor()).toMatchObject({ state: "ok", found: expect.stringContaining("0 h old") });
  s3.fail(() => "busy");
  expect(await doctor()).toMatchObject({
    state: "fail",
    found: expect.stringContaining("SlowDown"),
  });
});

test("a secret is never taken from the command line nor shown, and keys that are missing are named", async () => {
  folder();
  const given = await run("list", "--s3-secret-key", "very-secret");
  expect([given.code, given.stderr]).toEqual([
    2,
    expect.stringContaining("RESELLER_S3_SECRET_KEY"),
  ]);
  expect(given.stderr + given.stdout).not.toContain("very-secret");
  const shown = await reseller("config", "show");
  expect(shown.stdout).toMatch(/s3-secret-key\s+\(set\)\s+variable RESELLER_S3_SECRET_KEY/);
  expect(shown.stdout).not.toContain("S3RVER");
  delete process.env["RESELLER_S3_SECRET_KEY"];
  const file = join(freshFolder(), "key");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "S3RVER\n");
  expect(await run("list")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("needs access keys"),
  });
  const serve = await reseller("serve", ...remote, "--data", freshFolder());
  expect([serve.code, serve.stderr]).toEqual([2, expect.stringContaining("needs access keys")]);
  process.env["RESELLER_S3_SECRET_KEY_FILE"] = file;
  expect(await run("list")).toMatchObject({ code: 0 });
});

test("an encrypted copy is checked, fetched and restored only with --identity", async () => {
  folder();
  const identity = join(freshFolder(), "backup.key");
  const text = await generateIdentity();
  writeFileSync(identity, `${text}\n`);
  const recipient = await identityToRecipient(text);
  const file = backup();
  const sent = await run("send", "--backup-recipient", recipient, "--json");
  expect(sent.json).toMatchObject({ uploaded: true, url: expect.stringMatching(/\.age$/) });
  expect((await run("list", "--json")).json.copies).toMatchObject([{ encrypted: true }]);
  expect(await run("check")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--identity"),
  });
  expect((await run("check", "--identity", identity)).code).toBe(0);
  const target = join(freshFolder(), "fetched.db");
  await run("fetch", target, "--identity", identity);
  expect(readFileSync(target)).toEqual(readFileSync(file));
  const elsewhere = join(freshFolder(), "data");
  const argv = ["restore", remote[1]!, "--identity", identity, "--data", elsewhere];
  expect((await reseller(...argv)).code).toBe(0);
  const missing = await run("check", "--identity", `${identity}.none`);
  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining("--identity: cannot use"),
  ]);
  const wrong = recipient.slice(0, -1) + (recipient.endsWith("q") ? "p" : "q");
  const serve = await reseller(
    "serve",
    ...remote,
    "--backup-recipient",
    wrong,
    "--data",
    elsewhere,
  );
  expect([serve.code, serve.stderr]).toEqual([1, expect.stringContaining("not an age recipient")]);
});

test.each(["http://x/y", "s3://", "s3://B", "s3://bucket//x", "s3://bucket/a b", "bucket/x"])(
  "--backup-to %s is wrong usage",
  async (address) => {
    const { code, stderr } = await reseller("backup", "list", "--backup-to", address);
    expect([code, stderr]).toEqual([2, expect.stringContaining("--backup-to must be")]);
  },
);

// Copies of backups in a real S3 server, whole or not at all, whatever the network and the store do.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { generateIdentity, identityToRecipient } from "age-encryption";
import { chooseCopy, listCopies } from "../../src/offsite/copies.ts";
import { downloadCopy } from "../../src/offsite/download.ts";
import { openStore, type Store } from "../../src/offsite/store.ts";
import { createMeter, metered } from "../../src/offsite/streams.ts";
import { type Upload, uploadBackup } from "../../src/offsite/upload.ts";
import { copyDatabase } from "../../src/storage/backup/copy.ts";
import { type Call, type Fault, type S3, startS3 } from "../support/peers/s3.ts";
import { runs } from "../support/runs.ts";
import { below, randomFrom } from "../support/random/seeded.ts";
import { freshDatabase, type TestDatabase } from "../support/databases/test-database.ts";
import { freshFolder } from "../support/folders.ts";

const OURS = "aaaaaaaaaaaa";
const OTHERS = "bbbbbbbbbbbb";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UPLOADS = runs(30, 100);
/** At least so many of them fail, and as many are done. */
const BOTH_ABOVE = runs(0, 20);

let s3: S3;
let database: TestDatabase;
let store: Store;
let prefixes = 0;

beforeAll(async () => {
  s3 = await startS3();
  database = freshDatabase();
  database.user("anna", "100");
});
afterAll(async () => {
  database.connection.sqlite.close();
  await s3.stop();
});
beforeEach(() => {
  // A folder of its own for each test.
  store = openStore({ ...s3.settings, prefix: `shop/${prefixes++}` });
});
afterEach(() => s3.fail(null));

/** A backup of the database with the name that the server gives it. */
function backup(at: number, instance = OURS): string {
  const time = new Date(at).toISOString().replace(/[:.]/g, "-");
  const file = join(freshFolder(), `reseller-${time}-${instance}.db`);
  copyDatabase(database.connection.path, file);
  return file;
}

function upload(file: string, given: { keep?: number; recipient?: string } = {}): Promise<Upload> {
  const { keep = 30, recipient = null } = given;
  const silent = () => {};
  return uploadBackup(store, file, {
    recipient,
    keep,
    now: Date.now(),
    onProgress: silent,
    onWarning: silent,
  });
}

async function download(identities: string | null = null): Promise<Buffer> {
  const { copies } = await listCopies(store, Date.now());
  const file = join(freshFolder(), "fetched.db");
  const copy = chooseCopy(store, copies, null, null);
  await downloadCopy(store, copy, file, { identities, onProgress: () => {} });
  return readFileSync(file);
}

async function names(): Promise<string[]> {
  return (await listCopies(store, Date.now())).copies.map(({ name }) => name);
}

/** The error with its name. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "it was taken for whole",
    (error: unknown) => String(error),
  );
}

/** The files in which the server keeps the objects of this test's folder. */
function stored(pattern: RegExp): string[] {
  const folder = join(s3.directory, store.url("").replace("s3://", ""));
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => pattern.test(name) && name.endsWith("_object"))
    .map((name) => join(folder, name));
}

const isPut = ({ method }: Call) => method === "PUT";
const isGet = ({ method, path }: Call) => method === "GET" && !path.includes("list-type");
const isObjectPut = (call: Call) => isPut(call) && !isManifest(call);
const isManifest = ({ path }: Call) => path.includes(".json");

describe("an upload", () => {
  test("is the backup, byte for byte, compressed, and done once", async () => {
    const file = backup(Date.now() - HOUR);
    const done = await upload(file);
    expect(done).toMatchObject({ uploaded: true, removed: 0 });
    expect(done.bytes).toBeLessThan(done.databaseBytes / 2);
    expect(await names()).toEqual([basename(file)]);
    expect(await download()).toEqual(readFileSync(file));
    s3.calls.length = 0;
    expect(await upload(file)).toMatchObject({ uploaded: false, url: done.url });
    expect(s3.calls.filter(isPut)).toEqual([]);
  });

  test("goes in parts, and a part that is cut off is sent again", async () => {
    const content = randomBytes(20 * 1024 * 1024);
    let cut = 0;
    s3.fail((call) =>
      isPut(call) && call.path.includes("partNumber=2") && cut++ < 2 ? "cut" : null,
    );
    const stream = new Blob([content]).stream().pipeThrough(metered(createMeter()));
    await store.putStream("object", stream, content.length);
    const parts: Uint8Array[] = [];
    for await (const chunk of store.getStream("object")) parts.push(chunk);
    expect(Buffer.concat(parts).equals(content)).toBeTrue();
    expect(cut).toBe(3);
  });

  test.each([
    ["is cut off", "cut", isPut, ""],
    ["meets a full bucket", "full", isPut, "QuotaExceeded: the bucket is full"],
    ["loses its key on the way", "denied", isPut, "check RESELLER_S3_ACCESS_KEY"],
    ["loses its key before it is read back", "denied", isGet, "check RESELLER_S3_ACCESS_KEY"],
    ["meets a store with another clock", "skewed", isPut, "set the clock"],
    ["meets a store of another region", "region", isPut, "--s3-region"],
    ["is read back cut off", "cut-response", isGet, ""],
    [
      "is stored with other bytes, under a checksum of its own",
      "corrupt",
      isObjectPut,
      "differs from",
    ],
    ["loses its manifest", "cut", (call: Call) => isPut(call) && isManifest(call), ""],
    [
      "gets another manifest",
      "corrupt",
      (call: Call) => isPut(call) && isManifest(call),
      "differs from",
    ],
  ] as [string, Fault, (call: Call) => boolean, string][])(
    "that %s fails with a sentence, and the copies stay what they were",
    async (_, fault, applies, why) => {
      const before = backup(Date.now() - 2 * HOUR);
      await upload(before);
      s3.fail((call) => (applies(call) ? fault : null));
      const file = backup(Date.now() - HOUR);
      const failure = await failureOf(upload(file));
      expect(failure).toStartWith("BackupError: s3://");
      expect(failure).toContain(why);
      s3.fail(null);
      // What cannot be read is never taken for a backup: the next attempt replaces it.
      await upload(file);
      expect(await names()).toEqual([basename(file), basename(before)]);
      expect(await download()).toEqual(readFileSync(file));
    },
  );

  test.each([
    ["another secret", { secretKey: "wrong" }, "RESELLER_S3_SECRET_KEY"],
    ["an unknown key", { accessKey: "wrong" }, "RESELLER_S3_ACCESS_KEY"],
    ["a bucket that does not exist", { bucket: "none" }, "no such bucket"],
    ["a port at which nobody listens", { endpoint: "http://127.0.0.1:9" }, "--s3-endpoint"],
  ])("with %s fails with what to correct", async (_, wrong, advice) => {
    store = openStore({ ...s3.settings, ...wrong });
    expect(await failureOf(upload(backup(Date.now() - HOUR)))).toContain(advice);
  });

  test("of a backup that is damaged, or removed during the upload, makes no copy", async () => {
    const damaged = backup(Date.now() - HOUR);
    const bytes = readFileSync(damaged);
    bytes.fill(0x5a, bytes.length - 3 * 4096);
    writeFileSync(damaged, bytes);
    expect(await failureOf(upload(damaged))).toContain(damaged);
    const removed = backup(Date.now() - HOUR);
    s3.fail((call) => {
      if (isPut(call)) writeFileSync(removed, "");
      return null;
    });
    expect(await failureOf(upload(removed))).toContain("was changed or removed");
    expect(await names()).toEqual([]);
  });

  test(`${UPLOADS} times with faults at random: the newest copy is always whole`, async () => {
    const random = randomFrom(19);
    const FAULTS: (Fault | null)[] = [
      "cut",
      "cut-response",
      "full",
      "denied",
      "busy",
      "corrupt",
      null,
      null,
    ];
    const content = new Map<string, Buffer>();
    const uploaded: string[] = [];
    let failed = 0;
    for (let number = 0; number < UPLOADS; number++) {
      const file = backup(Date.now() - 1000 * HOUR + number * HOUR);
      content.set(basename(file), readFileSync(file));
      s3.fail((call) => {
        const fault = random() < 0.2 ? FAULTS[below(random, FAULTS.length)]! : null;
        return fault === "corrupt" && !isPut(call) ? null : fault;
      });
      const isDone = await upload(file, { keep: 5 }).then(
        () => true,
        () => false,
      );
      if (isDone) uploaded.push(basename(file));
      else failed++;
      s3.fail(null);
      // A copy that was stored whole though its upload failed afterwards (in the retention) is one as well.
      const [newest] = await names();
      expect(newest ?? "").toBeOneOf(["", ...content.keys()]);
      if (uploaded.length > 0) expect(newest! >= uploaded.at(-1)!).toBeTrue();
      const fetched = newest === undefined ? null : await download().catch((error: Error) => error);
      // A manifest that was cut off is no manifest: the copy is refused, not taken.
      if (fetched instanceof Error) expect(fetched.message).toContain("damaged");
      else if (fetched) expect(fetched.equals(content.get(newest!)!)).toBeTrue();
    }
    expect(failed).toBeGreaterThan(BOTH_ABOVE);
    expect(uploaded.length).toBeGreaterThan(BOTH_ABOVE);
  });
});

describe("a copy", () => {
  test("whose bytes change in the store afterwards is refused", async () => {
    await upload(backup(Date.now() - HOUR));
    const [object] = stored(/\.zst/).filter((name) => !name.includes(".json"));
    const bytes = readFileSync(object!);
    for (const position of [10, bytes.length >> 1, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[position]! ^= 1;
      writeFileSync(object!, changed);
      expect(await failureOf(download())).toContain("is damaged");
    }
    writeFileSync(object!, bytes.subarray(0, bytes.length - 5));
    expect(await failureOf(download())).toContain("is damaged");
    writeFileSync(object!, Buffer.concat([bytes, Buffer.from("more")]));
    expect(await failureOf(download())).toContain("is damaged");
    writeFileSync(object!, Buffer.concat([bytes, bytes]));
    const longer = await failureOf(download());
    expect(longer).toContain("is damaged (longer");
    expect(longer.split("s3://")).toHaveLength(2);
  });

  test("whose manifest says anything but what was stored is refused, whichever of its members it is", async () => {
    const file = backup(Date.now() - HOUR);
    await upload(file);
    const [path] = stored(/\.json/);
    const text = readFileSync(path!, "utf8");
    const manifest = JSON.parse(text);
    const WORST = [null, true, 0, -1, 1.5, 2 ** 53, 1e308, "", "x", "../../etc/passwd", [], {}];
    const members = ["format", "verified", "object", "database"].map((name) => [name]);
    for (const name of ["name", "bytes", "sha256"]) members.push(["object", name], ["database", name]); // prettier-ignore
    for (const member of members) {
      const last = member.at(-1)!;
      for (const value of [undefined, ...WORST]) {
        const changed = structuredClone(manifest);
        const parent = member.length === 1 ? changed : changed[member[0]!];
        if (parent[last] === value) continue;
        parent[last] = value;
        writeFileSync(path!, JSON.stringify(changed));
        const failure = await failureOf(download());
        expect([member, value, failure]).toEqual([
          member,
          value,
          expect.stringMatching(/damaged|differs from the uploaded file|too little free space/),
        ]);
      }
    }
    // The names of another backup, of a file elsewhere, and of what was not verified.
    const others = [
      basename(backup(Date.now() - 2 * HOUR)),
      `../${basename(file)}`,
      basename(file).replace(".db", ".unverified.db"),
    ];
    for (const name of others) {
      const database = { ...manifest.database, name };
      writeFileSync(path!, JSON.stringify({ ...manifest, database }));
      expect(await failureOf(download())).toContain("is damaged");
    }
    for (const worst of ["[".repeat(1e6), `{"a":`.repeat(1e5), " ".repeat(1e6) + text]) {
      writeFileSync(path!, worst);
      expect(await failureOf(download())).toContain("is damaged");
    }
    writeFileSync(path!, text);
    expect((await download()).equals(readFileSync(file))).toBeTrue();
  });

  test("that is older than the newest ones is removed, those of other installations are not", async () => {
    const others = [backup(Date.now() - 30 * DAY, OTHERS), backup(Date.now() - 31 * DAY, OTHERS)];
    for (const file of others) await upload(file);
    const files = [5, 4, 3, 2, 1].map((hours) => backup(Date.now() - hours * HOUR));
    for (const file of files) await upload(file, { keep: 2 });
    expect(await names()).toEqual([files[4]!, files[3]!, ...others].map((file) => basename(file)));
    expect(stored(/aaaaaaaaaaaa/).length).toBe(4);
  });

  test("is chosen by name where several installations share a folder", async () => {
    const [ours, theirs] = [backup(Date.now() - 2 * HOUR), backup(Date.now() - HOUR, OTHERS)];
    for (const file of [ours, theirs]) await upload(file);
    const { copies } = await listCopies(store, Date.now());
    expect(() => chooseCopy(store, copies, null, null)).toThrow("2 installations");
    expect(chooseCopy(store, copies, null, OURS).name).toBe(basename(ours));
    expect(chooseCopy(store, copies, basename(theirs), OURS).name).toBe(basename(theirs));
    expect(() => chooseCopy(store, copies, "none", OURS)).toThrow("is not a copy");
  });
});

describe("an encrypted copy", () => {
  /** The first bytes of a file in the age format. */
  const AGE = "age-encryption.org/v1\n";

  test("can be restored with the identity, and not without it", async () => {
    const identity = await generateIdentity();
    const recipient = await identityToRecipient(identity);
    const file = backup(Date.now() - HOUR);
    const { url } = await upload(file, { recipient });
    expect(url).toEndWith(".db.zst.age");
    const [object] = stored(/\.age\._/);
    expect(readFileSync(object!).subarray(0, AGE.length).toString()).toBe(AGE);
    const identityFile = `# created: today\n# public key: ${recipient}\n${identity}\n`;
    expect(await download(identityFile)).toEqual(readFileSync(file));
    expect(await failureOf(download())).toContain(
      "give the file with its age identity in --identity",
    );
    const other = await generateIdentity();
    expect(await failureOf(download(other))).toContain("cannot be decrypted");
    expect(await failureOf(download(`${identity}x`))).toContain("not an age identity");
    expect(await failureOf(download("# only a comment\n"))).toContain("contains no identity");
  });

  test("that is changed or cut off is refused", async () => {
    const identity = await generateIdentity();
    await upload(backup(Date.now() - HOUR), { recipient: await identityToRecipient(identity) });
    const [object] = stored(/\.age\._/);
    const bytes = readFileSync(object!);
    const changed = Buffer.from(bytes);
    changed[bytes.length >> 1]! ^= 1;
    for (const content of [changed, bytes.subarray(0, bytes.length - 100), bytes.subarray(0, 40)]) {
      writeFileSync(object!, content);
      expect(await failureOf(download(identity))).toMatch(/is damaged|cannot be decrypted/);
    }
  });

  test("is never made to a recipient with a typing error", async () => {
    const recipient = await identityToRecipient(await generateIdentity());
    const wrong = recipient.slice(0, -1) + (recipient.endsWith("q") ? "p" : "q");
    expect(await failureOf(upload(backup(Date.now() - HOUR), { recipient: wrong }))).toContain(
      "is not an age recipient",
    );
    expect(stored(/./)).toEqual([]);
  });
});

test("parts of an interrupted upload are removed after a day, not before", async () => {
  await store.putText(`${basename(backup(Date.now() - 5 * DAY))}.zst`, "part");
  await store.putText(`${basename(backup(Date.now() - 5 * DAY, OTHERS))}.zst`, "part");
  await store.putText("notes.txt", "not ours");
  const [left] = stored(/aaaaaaaaaaaa/);
  await upload(backup(Date.now() - 2 * HOUR));
  expect(existsSync(left!)).toBeTrue();
  const before = (Date.now() - 25 * HOUR) / 1000;
  for (const file of stored(/./)) utimesSync(file, before, before);
  await upload(backup(Date.now() - HOUR));
  expect(existsSync(left!)).toBeFalse();
  expect(stored(/bbbbbbbbbbbb|notes/).length).toBe(2);
});

test("a listing of more objects than a page holds is complete", async () => {
  const expected = Array.from({ length: 1005 }, (_, number) => `n${1000 + number}`);
  await Promise.all(expected.map((name) => store.putText(name, "x")));
  expect((await store.list()).map(({ name }) => name).toSorted()).toEqual(expected);
});

// Opening the database: locks, modes of files, and one sentence for each refusal.

import { Database } from "bun:sqlite";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import {
  claimDataDirectory,
  databasePath,
  openForCommand,
  openReader,
  openWriter,
} from "../../../src/storage/file/open.ts";
import { fileSystemOf, fileSystemUnder } from "../../../src/storage/file/file-systems.ts";
import { OpenError } from "../../../src/storage/file/open-error.ts";
import { freshFolder } from "../../support/folders.ts";
import { openService } from "../../support/worlds/service.ts";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 6);
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** The message of the OpenError that `body` throws. */
function sentenceOf(body: () => unknown): string {
  try {
    body();
  } catch (error) {
    if (!(error instanceof OpenError)) throw error;
    expect(error.message.split("\n").length).toBe(1);
    return error.message;
  }
  throw new Error("it was not refused");
}

/** A folder with an empty, migrated database, and its path. */
function madeDatabase(): { folder: string; path: string } {
  const folder = freshFolder();
  const { path, release } = claimDataDirectory(folder, NOW);
  release();
  return { folder, path };
}

describe("files", () => {
  test("a created folder is 0700, and every file in it 0600, while the server runs", async () => {
    // As the program's entry does first of all.
    const umask = process.umask(0o077);
    const service = await openService();
    service.user("anna", "1");
    const { text } = service.key("anna", "full");
    await service.call("POST", "/recharge", text, { username: "anna", amount: 1 });
    const files = readdirSync(service.folder).sort();
    expect(files).toEqual([
      "instance.lock",
      "instance.lock-journal",
      "reseller.db",
      "reseller.db-shm",
      "reseller.db-wal",
      "serve.address",
    ]);
    const modes = files.map((file) => [file, modeOf(join(service.folder, file))]);
    expect(modes).toEqual(files.map((file) => [file, "600"]));
    expect(modeOf(service.folder)).toBe("700");
    await service.stop();
    process.umask(umask);
    expect(existsSync(join(service.folder, "serve.address"))).toBe(false);
  });

  test("missing parent folders are created", () => {
    const folder = join(freshFolder(), "a", "b");
    const { path, release } = claimDataDirectory(folder, NOW);
    release();
    expect([path, modeOf(folder)]).toEqual([join(folder, "reseller.db"), "700"]);
  });

  test.each<[what: string, fill: (folder: string) => void]>([
    ["empty", () => {}],
    ["with files of others", (folder) => writeFileSync(join(folder, "note.txt"), "")],
    ["with a folder for backups", (folder) => mkdirSync(join(folder, "backups"))],
    ["that is a disk of its own", (folder) => mkdirSync(join(folder, "lost+found"))],
  ])("an existing folder, %s, is closed to others from the first start on", (_, fill) => {
    const folder = freshFolder();
    fill(folder);
    chmodSync(folder, 0o755);
    for (let start = 0; start < 2; start++) {
      claimDataDirectory(folder, NOW).release();
      expect([start, modeOf(folder)]).toEqual([start, "700"]);
    }
  });

  test.each<[what: string, mode: number, fill: (folder: string) => void]>([
    ["holds folders of others", 0o755, (folder) => mkdirSync(join(folder, "www"))],
    ["is shared by many, such as /tmp", 0o1777, () => {}],
  ])("a folder that %s keeps its mode at every start; the files are 0600", (_, mode, fill) => {
    const folder = freshFolder();
    fill(folder);
    chmodSync(folder, mode);
    for (let start = 0; start < 2; start++) {
      const { path, release } = claimDataDirectory(folder, NOW);
      release();
      expect([modeOf(folder), modeOf(path)]).toEqual([(mode & 0o777).toString(8), "600"]);
    }
  });
});

describe("connections", () => {
  test("write durably: WAL, synchronous FULL, foreign keys on", () => {
    const { folder, path } = madeDatabase();
    const one = (connection: { sqlite: Database }, pragma: string) =>
      connection.sqlite.query(`PRAGMA ${pragma}`).values()[0]?.[0];
    for (const connection of [openWriter(path), openForCommand(folder)]) {
      expect(one(connection, "journal_mode")).toBe("wal");
      expect(one(connection, "synchronous")).toBe(2);
      expect(one(connection, "foreign_keys")).toBe(1);
      expect(one(connection, "auto_vacuum")).toBe(0);
      expect(one(connection, "busy_timeout")).toBeGreaterThanOrEqual(5000);
      connection.sqlite.close();
    }
  });

  test("that read cannot write", () => {
    const { path } = madeDatabase();
    const { sqlite } = openReader(path);
    expect(() => sqlite.run("DELETE FROM grants")).toThrow("readonly");
    expect(() => sqlite.run("CREATE TABLE x (y)")).toThrow("readonly");
    sqlite.close();
  });
});

describe("a data directory has one serve:", () => {
  test("a second claim is refused with the path, until the first is released", () => {
    const folder = freshFolder();
    const first = claimDataDirectory(folder, NOW);
    const sentence = sentenceOf(() => claimDataDirectory(folder, NOW));
    expect(sentence).toContain(`another server uses ${databasePath(folder)}`);
    first.release();
    claimDataDirectory(folder, NOW).release();
  });

  test("commands work while it runs", () => {
    const folder = freshFolder();
    const { release } = claimDataDirectory(folder, NOW);
    openForCommand(folder).sqlite.close();
    release();
  });

  test("a refused opening releases the lock", () => {
    const folder = freshFolder();
    writeFileSync(databasePath(folder), "no database at all".repeat(100));
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(sentenceOf(() => claimDataDirectory(folder, NOW))).toContain("not a database");
    }
  });
});

describe("is refused in one sentence with the path, and not changed:", () => {
  const foreign = (path: string) => {
    const sqlite = new Database(path);
    sqlite.run("CREATE TABLE songs (title TEXT)");
    sqlite.close();
  };
  const alter = (sql: string) => (path: string) => {
    copyFileSync(madeDatabase().path, path);
    const sqlite = new Database(path);
    sqlite.run(sql);
    sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite.close();
  };
  const NEWER = "INSERT INTO migrations VALUES (99, '0099_future', 'x', 1)";

  test.each<[why: string, prepare: (path: string) => void, says: string]>([
    ["a database of another program", foreign, "belongs to another program"],
    ["a newer database", alter(NEWER), "was written by a newer version"],
    ["an altered one", alter("UPDATE migrations SET hash = 'x'"), "was created by another build"],
    [
      "one from before the first release",
      alter("UPDATE migrations SET name = '0001_service', hash = 'x'"),
      "was created by a version before 0.9.0, which was never released and cannot be upgraded",
    ],
    ["text", (path) => writeFileSync(path, "hello ".repeat(1000)), "not a database"],
    ["a few bytes", (path) => writeFileSync(path, "hello"), "not a database"],
    [
      "a header and nothing more",
      (path) => writeFileSync(path, readFileSync(madeDatabase().path).subarray(0, 100)),
      "damaged or not a database",
    ],
    ["a folder in its place", (path) => mkdirSync(path), "is a folder, not a database"],
    [
      "a FIFO in its place",
      (path) => Bun.spawnSync(["mkfifo", path]),
      "is not a regular file, not a database",
    ],
  ])("%s", (_why, prepare, says) => {
    const folder = freshFolder();
    const path = databasePath(folder);
    prepare(path);
    const content = () => (statSync(path).isFile() ? readFileSync(path).toString("hex") : null);
    const before = content();
    for (const open of [() => claimDataDirectory(folder, NOW), () => openForCommand(folder)]) {
      const sentence = sentenceOf(open);
      expect(sentence).toContain(path);
      expect(sentence).toContain(says);
      expect(content()).toBe(before);
    }
  });

  test("one with a log that was not copied into it, as a killed server leaves it", () => {
    const folder = freshFolder();
    const path = databasePath(folder);
    const made = madeDatabase();
    const writer = openWriter(made.path).sqlite;
    writer.run("UPDATE migrations SET name = '0001_service', hash = 'x'");
    for (const end of ["", "-wal"]) copyFileSync(made.path + end, path + end);
    writer.close();
    const content = () => ["", "-wal"].map((end) => readFileSync(path + end).toString("hex"));
    const before = content();
    expect(before[1]!.length).toBeGreaterThan(0);
    for (const open of [() => claimDataDirectory(folder, NOW), () => openForCommand(folder)]) {
      expect(sentenceOf(open)).toContain("was created by a version before 0.9.0");
      expect(content()).toEqual(before);
    }
  });

  test("a missing database, by a command: the absolute path, and nothing is created", () => {
    const folder = join(freshFolder(), "none");
    const sentence = sentenceOf(() => openForCommand(folder));
    expect(sentence).toContain(`no database at ${databasePath(folder)}`);
    expect(existsSync(folder)).toBe(false);
  });

  test("a data directory that is a file", () => {
    const folder = join(freshFolder(), "file");
    writeFileSync(folder, "");
    expect(sentenceOf(() => claimDataDirectory(folder, NOW))).toContain(folder);
  });
});

describe("fileSystemOf names the file system of the longest mount point:", () => {
  const MOUNTS = [
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
    "30 22 0:40 / /srv rw - nfs4 10.0.0.1:/srv rw",
    "31 30 8:2 / /srv/local rw shared:7 master:1 - xfs /dev/sdb rw",
    "32 22 0:41 / /mnt/my\\040disk rw - fuse.sshfs host:/ rw",
    "33 22 0:42 / /over rw - ext4 /dev/sdc rw",
    "34 33 0:43 / /over rw - cifs //host/share rw",
    "",
  ].join("\n");
  test.each([
    ["/", "ext4"],
    ["/home/x", "ext4"],
    ["/srv", "nfs4"],
    ["/srv/data", "nfs4"],
    ["/srvdata", "ext4"],
    ["/srv/local", "xfs"],
    ["/srv/local/a", "xfs"],
    ["/srv/localhost", "nfs4"],
    ["/mnt/my disk/data", "fuse.sshfs"],
    ["/over/x", "cifs"],
  ])("%s is on %s", (directory, type) => {
    expect(fileSystemOf(directory, MOUNTS)).toBe(type);
  });

  test("null where the system has no mountinfo", () => {
    expect(fileSystemOf("/", "")).toBeNull();
  });

  test("a link to a folder is on that folder's", () => {
    const link = join(freshFolder(), "link");
    symlinkSync("/proc", link);
    expect(fileSystemUnder(link)).toBe("proc");
  });
});

// A database file that is missing, or that belongs to another program, is refused in one sentence that names it.

import { describe, expect, test } from "bun:test";
import { openShop, reseller } from "../../../support/worlds/shop.ts";
import { freshFolder } from "../../../support/folders.ts";

describe("every command needs an existing database and names its path", () => {
  const commands: string[][] = [
    ["admin", "user", "create", "zoe"],
    ["admin", "user", "list"],
    ["admin", "user", "show", "a"],
    ["admin", "user", "credit", "a", "1"],
    ["admin", "user", "debit", "a", "1"],
    ["admin", "key", "create", "--user", "a", "--type", "order"],
    ["admin", "key", "list"],
    ["admin", "key", "deactivate", "x"],
    ["admin", "service", "create", "--name", "N", "--price", "1", "--min", "1", "--max", "2"],
    ["admin", "service", "update", "x", "--price", "1"],
    ["admin", "service", "list"],
    ["admin", "service", "activate", "x"],
    ["admin", "service", "grant", "x", "--user", "a"],
    ["admin", "service", "revoke", "x", "--user", "a"],
    ["admin", "service", "import", "deploy/catalogue.example.csv"],
    ["admin", "order", "list"],
    ["admin", "order", "show", "1"],
    ["admin", "order", "progress", "1", "--remains", "1"],
    ["admin", "order", "complete", "1"],
    ["admin", "order", "partial", "1", "--remains", "1"],
    ["verify"],
  ];
  test.each(commands.map((argv) => [argv.join(" "), argv] as const))("%s", async (_, argv) => {
    const folder = freshFolder();
    const { code, stdout, stderr } = await reseller(...argv, "--data", folder);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(`no database at ${folder}/reseller.db`);
  });
});

describe("a file that is not a database of this program is refused in one sentence", () => {
  const FILES: [what: string, make: (path: string) => Promise<unknown>, sentence: string][] = [
    ["an empty file", (path) => Bun.write(path, new Uint8Array()), "is empty"],
    ["text", (path) => Bun.write(path, "text\n".repeat(1000)), "is damaged or not a database"],
    ["a truncated database", truncated, "is damaged or not a database"],
  ];
  test.each(FILES)("%s", async (_, make, sentence) => {
    const folder = freshFolder();
    const path = `${folder}/reseller.db`;
    await make(path);
    const before = await Bun.file(path).bytes();
    const { code, stderr } = await reseller("admin", "user", "list", "--data", folder);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).toContain(path);
    expect(stderr).toContain(sentence);
    expect(await Bun.file(path).bytes()).toEqual(before);
  });

  test("a data directory that is a file", async () => {
    const file = `${freshFolder()}/file`;
    await Bun.write(file, "x");
    const { code, stderr } = await reseller("verify", "--data", file);
    expect(code).toBe(1);
    expect(stderr).toContain(`no database at ${file}/reseller.db`);
  });
});

async function truncated(path: string): Promise<void> {
  const whole = openShop();
  whole.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const bytes = await Bun.file(`${whole.folder}/reseller.db`).bytes();
  await Bun.write(path, bytes.slice(0, 20_000));
}

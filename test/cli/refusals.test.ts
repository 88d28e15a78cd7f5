// A refusal is exit 1: one sentence on stderr with the database's absolute path, nothing on stdout, nothing changed.

import { describe, expect, test } from "bun:test";
import { openShop, reseller } from "../support/cli.ts";
import { freshFolder } from "../support/service.ts";

const shop = openShop();
const done = String(shop.order(100));
const open = String(shop.order(100));
await shop.cli("admin", "order", "complete", done);
const NOBODY = "z".repeat(24);

const REFUSED: [argv: string[], sentence: string][] = [
  [["admin", "user", "create", "alice"], "has that name already"],
  [["admin", "user", "create", "ALICE"], "has that name already"],
  [["admin", "user", "create", "zoe", "--parent", "nobody"], "--parent"],
  [["admin", "user", "create", "zoe", "--parent", "kid"], "is a child user itself"],
  [["admin", "user", "show", "nobody"], "no user has that name"],
  [["admin", "user", "credit", "nobody", "1"], "no user has that name"],
  [["admin", "user", "debit", "nobody", "1"], "no user has that name"],
  [["admin", "user", "debit", "kid", "5.000001"], "balance is lower"],
  [["admin", "user", "debit", "bob", "0.000001"], "balance is lower"],
  [["admin", "key", "create", "--user", "kid", "--type", "full"], "a key belongs to a reseller"],
  [["admin", "key", "create", "--user", "nobody", "--type", "full"], "no user has that name"],
  [["admin", "key", "list", "--user", "nobody"], "no user has that name"],
  [["admin", "key", "deactivate", NOBODY], "no key has that id"],
  [["admin", "key", "activate", "x"], "no key has that id"],
  [["admin", "service", "create", "--id", "followers", "--name", "N", "--price", "1", "--min", "1", "--max", "2"], "has that id already"],
  [["admin", "service", "update", "nothing", "--price", "1"], "no service has that id"],
  [["admin", "service", "update", "followers", "--min", "10001"], "min must not be above max"],
  [["admin", "service", "update", "followers", "--max", "9"], "min must not be above max"],
  [["admin", "service", "deactivate", "nothing"], "no service has that id"],
  [["admin", "service", "activate", "FOLLOWERS"], "no service has that id"],
  [["admin", "service", "grant", "nothing", "--user", "alice"], "no service has that id"],
  [["admin", "service", "grant", "secret", "--user", "nobody"], "no user has that name"],
  [["admin", "service", "grant", "secret", "--user", "kid"], "a grant is for a reseller"],
  [["admin", "service", "revoke", "secret", "--user", "alice"], "no grant"],
  [["admin", "order", "list", "--user", "nobody"], "no user has that name"],
  [["admin", "order", "show", "999"], "no order has that id"],
  [["admin", "order", "show", "01"], "no order has that id"],
  [["admin", "order", "show", NOBODY], "no order has that id"],
  [["admin", "order", "complete", "999"], "no order has that id"],
  [["admin", "order", "complete", done], "COMPLETED cannot become COMPLETED"],
  [["admin", "order", "progress", done, "--remains", "1"], "PROCESSING orders only"],
  [["admin", "order", "progress", open, "--remains", "101"], "give 0 to 100"],
  [["admin", "order", "partial", open, "--remains", "101"], "give 0 to 100"],
]; // prettier-ignore

test.each(REFUSED.map(([argv, sentence]) => [argv.join(" "), argv, sentence] as const))(
  "%s",
  async (_, argv, sentence) => {
    const before = shop.dump();
    for (const json of [[], ["--json"]]) {
      const { code, stdout, stderr } = await shop.cli(...argv, ...json);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^error: .+\n$/);
      expect(stderr).toContain(sentence);
      expect(stderr).toContain(`${shop.folder}/reseller.db`);
    }
    expect(shop.dump()).toBe(before);
  },
);

describe("every command needs an existing database and names its path", () => {
  const commands: string[][] = [
    ["admin", "user", "create", "zoe"],
    ["admin", "user", "list"],
    ["admin", "user", "show", "a"],
    ["admin", "user", "credit", "a", "1"],
    ["admin", "user", "debit", "a", "1"],
    ["admin", "key", "create", "--user", "a", "--type", "full"],
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
    expect(stderr).toContain(`there is no database at ${folder}/reseller.db`);
  });

  test("version does not", async () => {
    const { code, json } = await reseller("version", "--json", "--data", freshFolder());
    expect(code).toBe(0);
    expect(json.bun).toBe(Bun.version);
    expect(json.sqlite).toMatch(/^3\.\d+\.\d+$/);
  });

  test("health without an address file fails and names its path", async () => {
    const folder = freshFolder();
    const { code, stderr } = await reseller("health", "--data", folder);
    expect(code).toBe(1);
    expect(stderr).toContain(`${folder}/serve.address`);
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
    expect(stderr).toContain(`there is no database at ${file}/reseller.db`);
  });
});

async function truncated(path: string): Promise<void> {
  const whole = openShop();
  whole.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const bytes = await Bun.file(`${whole.folder}/reseller.db`).bytes();
  await Bun.write(path, bytes.slice(0, 20_000));
}

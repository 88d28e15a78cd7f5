// A refusal is exit 1: one sentence on stderr with the database's name, nothing on stdout, nothing changed.

import { expect, test } from "bun:test";
import { openShop, reseller } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";

const shop = openShop();
const done = String(shop.order(100));
const open = String(shop.order(100));
await shop.cli("admin", "order", "complete", done);
const NOBODY = "z".repeat(24);

const REFUSED: [argv: string[], sentence: string][] = [
  [["admin", "user", "create", "alice"], "has that name already"],
  [["admin", "user", "create", "ALICE"], "has that name already"],
  [["admin", "user", "create", "zoe", "--parent", "nobody"], "parent not found"],
  [["admin", "user", "create", "zoe", "--parent", "kid"], "not a child user"],
  [["admin", "user", "show", "nobody"], "user not found"],
  [["admin", "user", "credit", "nobody", "1"], "user not found"],
  [["admin", "user", "debit", "nobody", "1"], "user not found"],
  [["admin", "user", "debit", "kid", "5.000001"], "insufficient balance"],
  [["admin", "user", "debit", "bob", "0.000001"], "insufficient balance"],
  [["admin", "key", "create", "--user", "kid", "--type", "order"], "cannot hold a key"],
  [["admin", "key", "create", "--user", "nobody", "--type", "order"], "user not found"],
  [["admin", "key", "list", "--user", "nobody"], "user not found"],
  [["admin", "key", "deactivate", NOBODY], "key not found"],
  [["admin", "key", "activate", "x"], "key not found"],
  [["admin", "service", "create", "--id", "followers", "--name", "N", "--price", "1", "--min", "1", "--max", "2"], "has that id already"],
  [["admin", "service", "update", "nothing", "--price", "1"], "service not found"],
  [["admin", "service", "update", "followers", "--min", "10001"], "min must not be above max"],
  [["admin", "service", "update", "followers", "--max", "9"], "min must not be above max"],
  [["admin", "service", "deactivate", "nothing"], "service not found"],
  [["admin", "service", "activate", "FOLLOWERS"], "service not found"],
  [["admin", "service", "grant", "nothing", "--user", "alice"], "service not found"],
  [["admin", "service", "grant", "secret", "--user", "nobody"], "user not found"],
  [["admin", "service", "grant", "secret", "--user", "kid"], "cannot hold a grant"],
  [["admin", "service", "revoke", "secret", "--user", "alice"], "no grant"],
  [["admin", "order", "list", "--user", "nobody"], "user not found"],
  [["admin", "order", "show", "999"], "order not found"],
  [["admin", "order", "show", "01"], "order not found"],
  [["admin", "order", "show", NOBODY], "order not found"],
  [["admin", "order", "complete", "999"], "order not found"],
  [["admin", "order", "complete", done], "COMPLETED cannot become COMPLETED"],
  [["admin", "order", "progress", done, "--remains", "1"], "PROCESSING orders only"],
  [["admin", "order", "progress", open, "--remains", "101"], "at most the quantity, 100"],
  [["admin", "order", "partial", open, "--remains", "101"], "at most the quantity, 100"],
]; // prettier-ignore

test.each(REFUSED.map(([argv, sentence]) => [argv.join(" "), argv, sentence] as const))(
  "%s",
  async (_, argv, sentence) => {
    const before = shop.dump();
    for (const json of [[], ["--json"]]) {
      const { code, stdout, stderr, told } = await shop.cli(...argv, ...json);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(told).toMatch(/^error: .+\n$/);
      expect(told).toContain(sentence);
      expect(told).toContain(shop.description);
      // A program has the refusal's code besides: the same as in the API and the log.
      if (json.length > 0) expect(JSON.parse(stderr).code).toMatch(/^[a-z]+(_[a-z]+)+$/);
      else expect(stderr).toBe(told);
    }
    expect(shop.dump()).toBe(before);
  },
);

test("version needs no database", async () => {
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

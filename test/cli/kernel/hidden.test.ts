// Invisible characters of stored text: printed by code point for a person, exact in JSON.

import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findUser } from "../../../src/db/users/users.ts";
import { showHidden } from "../../../src/domain/values/text.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";

/** Right-to-left override, zero-width space and joiner, isolates, byte order mark, soft hyphen, a variation selector, a tag. */
const HIDDEN = [
  "\u202e", "\u200b", "\u200d", "\u200f", "\u2060", "\u2066", "\u2069", "\ufeff", "\u00ad", "\ufe0f", "\u{e0041}",
  "\u061c", "\u180e", "\u3164", "\u2028", "\u0085",
]; // prettier-ignore
const NAME = `Safe${HIDDEN.filter((character) => character !== "\u0085").join("x")}name`;
const NAMED = /Safe<U\+202E>x<U\+200B>x<U\+200D>x.*<U\+E0041>x<U\+061C>x.*name/;

test.each(HIDDEN)("%j is named by its code point", (character) => {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  expect(showHidden(`a${character}b`)).toBe(`a<U+${code}>b`);
});

test.each(["naïve 数据 العربية", "❤️ 👨‍👩‍👧 1️⃣ 🇩🇪 🏴󠁧󠁢󠁥󠁮󠁧󠁿", "two\nlines", "#1 * 2"])(
  "%j is shown unchanged",
  (text) => {
    expect(showHidden(text)).toBe(text);
  },
);

test("a lone surrogate is named, and half of an emoji", () => {
  expect(showHidden("\ud83d!")).toBe("<U+D83D>!");
});

test("hidden characters of names and links are visible in tables, details, the audit log and diffs, and exact with --json", async () => {
  const shop = openShop();
  const create = ["admin", "service", "create", "--id", "odd", "--name", NAME];
  const created = await shop.cli(...create, "--price", "1", "--min", "1", "--max", "10");
  const user = shop.read((reader) => findUser(reader, "alice"))!;
  const { id: keyId } = shop.key("alice", "order");
  const order = { resellerAccount: user.account, keyId, service: "odd", quantity: 1, link: NAME };
  const { orderId } = shop.run("placeOrder", order);
  const credit = ["admin", "user", "credit", "alice", "1", "--note", NAME];
  expect((await shop.cli(...credit)).code).toBe(0);
  const shown = [
    created,
    await shop.cli("admin", "service", "list"),
    await shop.cli("admin", "order", "list"),
    await shop.cli("admin", "order", "show", String(orderId)),
    await shop.cli("admin", "audit", "list"),
  ];
  for (const { code, stdout } of shown) {
    expect(code).toBe(0);
    expect(stdout).toMatch(NAMED);
    for (const character of HIDDEN) expect(stdout).not.toContain(character);
  }
  const { json } = await shop.cli("admin", "order", "list", "--json");
  expect(json[0].link).toBe(NAME);
});

test("columns are aligned", async () => {
  const shop = openShop();
  const create = ["admin", "service", "create", "--price", "1", "--min", "1", "--max", "10"];
  await shop.cli(...create, "--id", "odd", "--name", "a\u200bb");
  const { stdout } = await shop.cli("admin", "service", "list");
  const [header, ...rows] = stdout.trimEnd().split("\n");
  const at = header!.indexOf("PER") - 2;
  for (const row of rows) expect(row.slice(0, at)).toMatch(/\d$/);
});

test("errors print no invisible character", async () => {
  const shop = openShop();
  const file = join(freshFolder(), "a\u202eb.csv");
  writeFileSync(file, "name,price,min,max\nx,wrong,1,1\n");
  for (const argv of [
    ["admin", "service", "import", file],
    ["admin", "user", "show", "a\u202eb"],
    ["serve", "--port", "1\u202e2"],
    ["no\u202ecommand"],
  ]) {
    const { code, stderr } = await shop.cli(...argv);
    expect([argv, code]).not.toEqual([argv, 0]);
    expect(stderr).toContain("<U+202E>");
    expect(stderr).not.toContain("\u202e");
  }
});

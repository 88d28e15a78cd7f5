// `admin portal notice`: texts for all members.

import { afterAll, expect, test } from "bun:test";
import { openShop } from "../../support/worlds/shop.ts";

const shop = openShop();
afterAll(() => shop.close());

const notice = (...argv: string[]) => shop.cli("admin", "portal", "notice", ...argv);

test("a notice is added with its texts and its end, listed, and removed", async () => {
  const added = ["add", "--en", "Slow today", "--pt-br", "Hoje lento", "--until", "2099-01-31"];
  const { code, json } = await notice(...added, "--json");
  const expected = { en: "Slow today", "pt-BR": "Hoje lento", until: "2099-01-31T23:59:59.999Z" };
  expect([code, json]).toEqual([0, { id: json.id, ...expected }]);
  expect((await notice("list", "--json")).json).toMatchObject([{ id: json.id, ...expected }]);
  expect((await notice("remove", json.id)).code).toBe(0);
  expect((await notice("list", "--json")).json).toEqual([]);
  const again = await notice("remove", json.id);
  expect([again.code, again.stderr.includes("notice not found")]).toEqual([1, true]);
});

test.each([
  [["add"], 2],
  [["add", "--es", "Hola"], 2],
  [["add", "--en", "x".repeat(501)], 2],
  [["add", "--en", "Hello", "--until", "soon"], 2],
  [["add", "--en", "Hello", "--until", "2020-01-01"], 1],
])("%p is refused, and changes nothing", async (argv, code) => {
  expect((await notice(...argv)).code).toBe(code);
  expect((await notice("list", "--json")).json).toEqual([]);
});

// E-mail addresses and notes of users: set and found by operators, and never seen with a key.

import { expect, test } from "bun:test";
import { callApi } from "../../support/http/api.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { startTestService } from "../../support/worlds/service.ts";

const EMAIL = "Ann@Shop.Example";
const NOTE = "pays by invoice\ncall before noon";

test("are set, changed one by one, removed, searched for, and recorded in the audit log", async () => {
  const shop = openShop();
  const user = (...argv: string[]) => shop.cli("admin", "user", ...argv, "--json");
  await user("create", "ann", "--email", EMAIL, "--note", "new");
  expect((await user("show", "ann")).json).toMatchObject({ email: EMAIL, note: "new" });
  expect((await user("update", "ann", "--note", NOTE)).json).toMatchObject({
    email: EMAIL,
    note: NOTE,
  });
  const found = async (search: string) =>
    (await user("list", "--search", search)).json.map(
      (each: { username: string }) => each.username,
    );
  expect(await found("ann@shop")).toEqual(["ann"]);
  expect(await found("invoice")).toEqual([]);
  expect((await user("list")).json[0]).toMatchObject({ username: "alice", email: null });
  const plain = await shop.cli("admin", "user", "show", "ann");
  expect(plain.stdout).toContain(EMAIL);
  expect((await user("update", "ann", "--no-email")).json).toMatchObject({
    email: null,
    note: NOTE,
  });
  await user("update", "ann", "--no-note");
  expect(shop.query("SELECT 1 FROM user_contacts")).toEqual([]);
  const { json: entries } = await shop.cli("admin", "audit", "list", "--user", "ann", "--json");
  expect(JSON.stringify(entries)).toContain("call before noon");
  shop.close();
});

test.each([
  ["--email", "ann"],
  ["--email", "ann@example"],
  ["--email", "a b@example.com"],
  ["--email", "Ann <ann@example.com>"],
  ["--email", `${"a".repeat(250)}@example.com`],
  ["--note", ""],
  ["--note", "x".repeat(2001)],
  ["--note", "bell\u0007"],
])("%s %p is wrong usage", async (flag, value) => {
  const shop = openShop();
  expect((await shop.cli("admin", "user", "update", "bob", flag, value)).code).toBe(2);
  expect((await shop.cli("admin", "user", "update", "bob")).code).toBe(2);
  shop.close();
});

test("no key sees them, neither the parent's nor the user's own", async () => {
  const shop = openShop();
  for (const name of ["alice", "kid"]) {
    await shop.cli("admin", "user", "update", name, "--email", EMAIL, "--note", NOTE);
  }
  const { text } = shop.key("alice", "full");
  const service = await startTestService(shop.location);
  for (const path of ["/user?username=kid", "/user?username=alice", "/balance", "/orders"]) {
    const response = await callApi(service.url, "GET", path, text);
    expect([path, response.status]).toEqual([path, 200]);
    expect(JSON.stringify(response.body)).not.toMatch(/shop\.example|invoice/i);
  }
  await service.stop();
  shop.close();
});

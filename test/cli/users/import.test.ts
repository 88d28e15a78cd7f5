// `admin user import`, `admin key import` and `user list --csv`: all or nothing, and repeatable without crediting twice.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "bun:test";
import { hashKey } from "../../../src/domain/users/keys.ts";
import { expectFailure } from "../../support/operator-cli.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

let shop: Shop;
beforeEach(() => void (shop = openShop()));

const fileOf = (text: string, name = "users.csv") => {
  const path = join(shop.folder, name);
  writeFileSync(path, text);
  return path;
};
const USERS = `username,name,email,parent,discount,credit,reference
zoe,"Zoe, Ltd",zoe@example.com,,12.5%,10.000001,open-1
yan,,,zoe,,5,open-1
bob,Other name,bob@example.com,,50,2,open-1
`;
const users = (path: string, ...flags: string[]) =>
  shop.cli("admin", "user", "import", path, "--json", ...flags);

describe("users", () => {
  test("are created with names, addresses, discounts and credits; an existing one is only credited", async () => {
    const path = fileOf(USERS);
    const before = shop.dump();
    const dry = await users(path, "--dry-run");
    expect(shop.dump()).toBe(before);
    const counts = { created: 2, existing: 1, credited: 3, amount: 17.000001 };
    expect([dry.json, (await users(path)).json]).toEqual([counts, counts]);
    const { json } = await shop.cli("admin", "user", "list", "--json");
    const found = (name: string) =>
      json.find(({ username }: { username: string }) => username === name);
    expect(found("zoe")).toMatchObject({
      name: "Zoe, Ltd",
      email: "zoe@example.com",
      discount: 12.5,
      balance: 10.000001,
    });
    expect(found("yan")).toMatchObject({ name: "yan", email: null, childBalance: 5 });
    expect(found("bob")).toMatchObject({ name: "bob", email: null, discount: 0, balance: 2 });
    expect(await verifyStore(shop)).toEqual([]);
  });

  test("a repeated import creates and credits nothing", async () => {
    const path = fileOf(USERS);
    await users(path);
    const before = shop.dump();
    expect((await users(path)).json).toEqual({ created: 0, existing: 3, credited: 0, amount: 0 });
    expect(shop.dump()).toBe(before);
  });

  test("a starting credit gets no invoice", async () => {
    const changes = { mode: "credit", sellerName: "s", sellerAddress: "a" } as const;
    shop.run("setInvoicing", { changes });
    await users(fileOf(USERS));
    expect(shop.query("SELECT 1 FROM invoice_items")).toEqual([]);
  });

  test("all wrong rows are named by line, and nothing is imported", async () => {
    const path = fileOf(`username,name,email,parent,discount,credit,reference
ok,,,,,,
two words,,,,,,
a,,nobody,,,,
b,,,,101,,
c,,,,,5,
d,,,,,,r
e,,,,,-5,r
f,,,,,1.0000001,r
g,,,nobody,,,
h,,,kid,,,
i,,,alice,5,,
OK,,,,,,
j,,,,,2000000000,r
k,x
"l,
`);
    const before = shop.dump();
    const { code, stderr } = await users(path);
    const { rows } = JSON.parse(stderr);
    expect(code).toBe(1);
    const lines = (rows as string[]).map((row) => /line (\d+)/.exec(row)![1]);
    expect(lines).toEqual([
      "3",
      "4",
      "5",
      "6",
      "7",
      "8",
      "9",
      "10",
      "11",
      "12",
      "13",
      "14",
      "15",
      "16",
    ]);
    expect(shop.dump()).toBe(before);
  });

  test("a reference of another amount, and a balance above the limit, are refused by line", async () => {
    await users(fileOf(USERS));
    const path = fileOf("username,credit,reference\nbob,3,open-1\n");
    const { code, stderr } = await users(path);
    expect([code, JSON.parse(stderr).rows[0]]).toEqual([
      1,
      expect.stringMatching(/line 2: .*another amount/),
    ]);
  });

  test.each([
    "",
    "name\nx\n",
    "username,colour\nx,red\n",
    "username,username\na,b\n",
    "username\n",
    "\u0000",
    "username\n\ud800",
  ])("a file that is no list, such as %j, is refused", async (text) => {
    const path = fileOf(text);
    await expectFailure(shop, ["admin", "user", "import", path], 1, "users.csv");
  });

  test("credits above the limit ask, and without a terminal need --yes", async () => {
    const path = fileOf("username,credit,reference\nbob,5000,r\n");
    await expectFailure(shop, ["admin", "user", "import", path], 2, "credit 1 user with 5000 USD");
    expect((await users(path, "--yes")).json.credited).toBe(1);
  });

  test("the CSV list has every user, no formula, and the columns of an import", async () => {
    shop.user("@zoe");
    const { stdout } = await shop.cli("admin", "user", "list", "--csv");
    const [header, ...lines] = stdout.trim().split("\n");
    expect(header).toBe("username,name,email,parent,discount,balance,active,id,createdAt");
    expect(lines.map((line) => line.split(",")[0])).toEqual(["alice", "kid", "bob", "'@zoe"]);
    expect(lines[1]).toMatch(/^kid,kid,,alice,0,5,yes,\w{24},\d{4}-/);
    const limited = await shop.cli(
      "admin",
      "user",
      "list",
      "--csv",
      "--limit",
      "1",
      "--cursor",
      "alice",
    );
    expect(limited.stdout.trim().split("\n")).toHaveLength(2);
  });
});

describe("keys", () => {
  const KEYS = `username,type,label,expires,allow
alice,order,shop,90d,10.0.0.0/8 192.0.2.1
bob,order,,,
`;
  const keys = (path: string, ...flags: string[]) =>
    shop.cli("admin", "key", "import", path, ...flags);

  test("are created together and printed once, as CSV; only their hashes are stored", async () => {
    const { code, stdout } = await keys(fileOf(KEYS, "keys.csv"));
    expect(code).toBe(0);
    const [header, ...lines] = stdout
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    expect(header).toEqual(["username", "id", "type", "reach", "label", "key"]);
    expect(lines.map(([username, , type, , label]) => [username, type, label])).toEqual([
      ["alice", "order", "shop"],
      ["bob", "order", ""],
    ]);
    for (const [, id, , , , text] of lines) {
      const [row] = shop.query("SELECT hash FROM keys WHERE id = ?", id!);
      expect(row).toEqual({ hash: hashKey(text!) });
      expect(shop.dump()).not.toContain(text!);
    }
  });

  test("--output writes them to a new file that only its owner can read, and never over another", async () => {
    const path = fileOf(KEYS, "keys.csv");
    const output = join(shop.folder, "new-keys.csv");
    const { stdout } = await keys(path, "--output", output);
    expect(stdout).not.toContain("rk_");
    expect([(statSync(output).mode & 0o777).toString(8), readFileSync(output, "utf8")]).toEqual([
      "600",
      expect.stringMatching(/^username,.*\nalice,.*rk_.*\nbob,.*rk_.*\n$/),
    ]);
    await expectFailure(
      shop,
      ["admin", "key", "import", path, "--output", output],
      1,
      "exists already",
    );
  });

  test("keys that can add credit need a reach and a confirmation", async () => {
    const path = fileOf(
      "username,type,reach,rechargeLimit\nalice,recharge,children,100\n",
      "keys.csv",
    );
    await expectFailure(shop, ["admin", "key", "import", path], 2, "can add credit");
    expect((await keys(path, "--yes", "--json")).json).toMatchObject([
      { type: "recharge", reach: "children" },
    ]);
  });

  test("all wrong rows are named by line, nothing is created and no file is left", async () => {
    const path = fileOf(
      `username,type,reach,label,expires,allow,rechargeLimit
alice,order,,,,,
nobody,order,,,,,
kid,order,,,,,
alice,owner,,,,,
alice,full,,,,,
alice,order,,,0,,
alice,order,,,,here,
alice,order,,,,,5
alice,recharge,all,,,,-1
`,
      "keys.csv",
    );
    const output = join(shop.folder, "none.csv");
    const before = shop.dump();
    const { code, stderr } = await keys(path, "--json", "--output", output);
    expect([code, JSON.parse(stderr).rows.length, existsSync(output)]).toEqual([1, 8, false]);
    expect(shop.dump()).toBe(before);
    expect((await keys(fileOf(KEYS, "keys.csv"), "--dry-run")).stdout).toContain("2 keys");
    expect(shop.dump()).toBe(before);
  });
});

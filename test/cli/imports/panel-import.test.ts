// `admin import panel`: what becomes of another panel's users, services, keys and orders, and which rows are refused.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import { hashKey } from "../../../src/domain/users/keys.ts";
import { eraseWholly } from "../../../src/operations/users/erasures.ts";
import { freshFolder } from "../../support/folders.ts";
import { dumpOf, freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import {
  OLD_PANEL_MAP,
  writeOldPanelCsv,
  writeOldPanelDump,
} from "../../support/seeds/old-panel.ts";
import { optionsOf, type Ran, reseller } from "../../support/worlds/shop.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { sampledOnPostgres } from "../../support/databases/engine-samples.ts";

const SIZE = { users: 30, services: 10, orders: 1100, openEvery: 10 };
const KEY = "9f86d081884c7d659a2feaa0c55ad015";

type Files = Partial<Record<"users" | "services" | "orders" | "keys" | "map" | "dump", string>>;

/** Imports files with these texts. */
async function imports(database: TestDatabase, files: Files, ...flags: string[]): Promise<Ran> {
  const folder = freshFolder();
  const named = Object.entries(files).flatMap(([name, text]) => {
    const path = join(
      folder,
      name + (name === "map" ? ".toml" : name === "dump" ? ".sql" : ".csv"),
    );
    writeFileSync(path, text);
    return [`--${name}`, path];
  });
  return reseller("admin", "import", "panel", ...named, "--json", ...flags, ...optionsOf(database));
}

function withProvider(): TestDatabase {
  const database = freshDatabase();
  const url = "http://127.0.0.1:9/";
  database.run("createProvider", { name: "upstream", protocol: "smm-api", url, key: "k" });
  return database;
}

/** Everything that an import writes but times, ids that are random, and the log of who did it. */
function contents(database: TestDatabase): string {
  const RANDOM =
    /"(id|origin_id|created_at|started_at|finished_at|polled_at|changed_at|next_poll_at|at|updated_at)":("[^"]*"|\d+)/g;
  return TABLES.filter(({ name }) => !["audit", "service_changes"].includes(name))
    .map((table) => {
      const text = dumpOf(database, table)
        .replaceAll(RANDOM, "")
        .replaceAll(/"category":"[^"]*"|^\[\{|\}\]$/g, "");
      // Rows with random ids are in a random order.
      return `${table.name} ${Bun.hash(text.split("},{").toSorted().join("\n"))}`;
    })
    .join("\n");
}

const CSV = {
  users:
    "id,username,name,email,balance,discount,active\n7,Alice,Alice Ltd,a@example.com,12.5,10,1\n8,bob,,,0.0000,,0\n",
  services:
    "number,name,category,price,min,max,type,provider,providerService\n42,Followers,Instagram,0.9000,10,5000,Default,3,77\n43,Pack,,5,,,Package,,\n",
  orders: `number,user,service,link,quantity,charge,status,startCount,remains,createdAt,provider,providerOrder
1201,7,42,https://example.com/a,1000,0.9,Completed,10,0,2025-01-02 03:04:05,3,9001
1202,7,42,https://example.com/b,1000,0.9,Partial,,400,2025-01-02T03:04:06Z,3,9002
1203,8,99,https://example.com/c,10,1,Canceled,,10,1735787047,,
1204,7,42,https://example.com/d,1000,0.75,In progress,5,600,2025-01-03 00:00:00,3,9004
1205,7,43,https://example.com/e,1,5,pending,,1,2025-01-03 00:00:01,,0
`,
  keys: `user,key,label\n7,${KEY},old\n8,,\n`,
  map: OLD_PANEL_MAP,
};

test("users, services, keys and orders come with their ids, and the ledger adds up", async () => {
  const database = withProvider();
  const { code, stderr, json } = await imports(database, CSV);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(json).toMatchObject({
    dryRun: false,
    users: { read: 2, new: 2, same: 0, refused: 0 },
    services: { read: 2, new: 2 },
    orders: { read: 5, new: 5 },
    keys: { read: 2, new: 1 },
    openingBalances: 12.5,
    pastOrders: 3,
    openAtProviders: 1,
    openByHand: 1,
    openCharges: 5.75,
    withoutKey: 1,
    refused: 0,
  });
  expect(await verifyStore(database)).toEqual([]);
  const alice = database.read((reader) => findUser(reader, "alice"))!;
  expect(alice).toMatchObject({
    name: "Alice Ltd",
    balanceMicros: 12_500_000n,
    discountPpm: 100_000,
  });
  expect(database.query("SELECT account, email FROM user_contacts")).toEqual([
    { account: alice.account, email: "a@example.com" },
  ]);
  expect(database.read((reader) => findUser(reader, "bob"))).toMatchObject({ active: false });
  expect(
    database.query("SELECT number, id, price_micros, per FROM services ORDER BY number"),
  ).toEqual([
    { number: 42, id: "42", price_micros: 900_000, per: "1000" },
    { number: 43, id: "43", price_micros: 5_000_000, per: "order" },
  ]);
  expect(
    database.query("SELECT hash, start, type, imported, label FROM keys WHERE imported = 1"),
  ).toEqual([{ hash: hashKey(KEY), start: "9f86", type: "order", imported: 1, label: "old" }]);
  expect(
    database.query(
      "SELECT order_id, status, placement, provider_order, charge_micros, created_at FROM orders ORDER BY order_id",
    ),
  ).toEqual([
    { order_id: 1204, status: "PROCESSING", placement: "placed", provider_order: "9004", charge_micros: 750_000, created_at: Date.UTC(2025, 0, 3) },
    { order_id: 1205, status: "PROCESSING", placement: "manual", provider_order: null, charge_micros: 5_000_000, created_at: Date.UTC(2025, 0, 3) + 1000 },
  ]); // prettier-ignore
  expect(
    database.query("SELECT order_id, status, created_at FROM past_orders ORDER BY order_id"),
  ).toEqual([
    { order_id: 1201, status: "COMPLETED", created_at: Date.UTC(2025, 0, 2, 3, 4, 5) },
    { order_id: 1202, status: "PARTIAL", created_at: Date.UTC(2025, 0, 2, 3, 4, 6) },
    { order_id: 1203, status: "CANCELLED", created_at: 1_735_787_047_000 },
  ]);
  // New ones are given above, and old ones never.
  database.user("carol", "5");
  const service = database.service({ provider: { name: "upstream", service: "5" } });
  expect(database.query("SELECT max(number) AS number FROM services")).toEqual([{ number: 44 }]);
  const { account } = database.read((reader) => findUser(reader, "carol"))!;
  const keyId = database.key("carol", "order").id;
  const link = "https://example.com/new";
  const order = { resellerAccount: account, keyId, service, link, quantity: 10 };
  expect(database.run("placeOrder", order).orderId).toBe(1206);
});

test("an open order is refunded at most what the other panel charged, and the ledger adds up", async () => {
  const database = withProvider();
  await imports(database, CSV);
  const before = database.balance("Alice");
  await reseller("admin", "order", "cancel", "1204", "--no-ask", ...optionsOf(database));
  await reseller("admin", "order", "cancel", "1205", ...optionsOf(database));
  expect(database.balance("Alice") - before).toBe(750_000 + 5_000_000);
  expect(await verifyStore(database)).toEqual([]);
});

test("reports leave imported orders out unless they are asked for", async () => {
  const database = withProvider();
  await imports(database, CSV);
  await reseller("admin", "order", "cancel", "1205", ...optionsOf(database));
  const report = (...flags: string[]) =>
    reseller(
      "report",
      "--by",
      "service",
      "--since",
      "2024-01-01",
      "--json",
      ...flags,
      ...optionsOf(database),
    );
  expect((await report()).json).toEqual([]);
  expect((await report("--imported")).json).toEqual([
    { key: "43", orders: 1, revenue: 5, refunds: 5, net: 0, cost: 0, margin: 0 },
    { key: "42", orders: 3, revenue: 2.55, refunds: 0, net: 2.55, cost: 0, margin: 2.55 },
    { key: "99", orders: 1, revenue: 1, refunds: 1, net: 0, cost: 0, margin: 0 },
  ]);
});

test("a dry run changes nothing and says the same", async () => {
  const database = withProvider();
  const before = contents(database);
  const { json: plan } = await imports(database, CSV, "--dry-run");
  expect(contents(database)).toBe(before);
  const { json: report } = await imports(database, CSV);
  expect(report).toEqual({ ...plan, dryRun: false });
});

test("a dump of SmartPanel and CSV files of the same tables have the same effect, repeated or not", async () => {
  const [fromDump, fromCsv] = [withProvider(), withProvider()];
  const folder = freshFolder();
  const map = join(folder, "map.toml");
  writeFileSync(map, OLD_PANEL_MAP);
  const dump = writeOldPanelDump(folder, SIZE);
  const csv = writeOldPanelCsv(folder, SIZE);
  const base = ["admin", "import", "panel", "--map", map, "--yes", "--json"];
  const files = Object.entries(csv).flatMap(([name, path]) => [`--${name}`, path]);
  const runDump = () =>
    reseller(...base, "--format", "smartpanel", "--dump", dump, ...optionsOf(fromDump));
  const { json } = await runDump();
  expect(json).toMatchObject({
    orders: { new: 1100 },
    pastOrders: 990,
    openAtProviders: 110,
    refused: 0,
  });
  const ran = await reseller(...base, ...files, ...optionsOf(fromCsv));
  expect(ran.json).toEqual(json);
  const once = contents(fromDump);
  expect(contents(fromCsv)).toBe(once);
  const again = await runDump();
  expect(again.json).toMatchObject({
    users: { new: 0, same: 30 },
    services: { new: 0, same: 10 },
    orders: { new: 0, same: 1100 },
    keys: { new: 0, same: 30 },
    openingBalances: 0,
  });
  expect(contents(fromDump)).toBe(once);
  expect(await verifyStore(fromDump)).toEqual([]);
  expect(await verifyStore(fromCsv)).toEqual([]);
}, 60_000);

test("a repeated import adds what is missing, and touches nothing that changed here", async () => {
  const database = withProvider();
  await imports(database, CSV);
  await reseller("admin", "order", "complete", "1204", ...optionsOf(database));
  await reseller("admin", "user", "credit", "alice", "3", ...optionsOf(database));
  const more = {
    ...CSV,
    users: `${CSV.users}9,carol,,,4,,\n`,
    orders: `${CSV.orders}1200,9,42,https://example.com/z,100,0.5,processing,,100,2024-12-31 00:00:00,3,8999\n1199,9,42,x,1,0,completed,,,2024-12-30,,\n`,
  };
  const { json } = await imports(database, more);
  expect(json).toMatchObject({
    users: { new: 1, same: 2 },
    orders: { new: 2, same: 5 },
    refused: 0,
  });
  expect(database.balance("Alice")).toBe(15_500_000);
  expect(database.balance("carol")).toBe(4_000_000);
  expect(await verifyStore(database)).toEqual([]);
});

test("a later state of the other panel is refused: what its balances paid for since would be free", async () => {
  const database = withProvider();
  await imports(database, CSV);
  const later = {
    ...CSV,
    users: CSV.users.replace("12.5", "11.5"),
    orders: `${CSV.orders}1206,7,42,https://example.com/f,1000,1,pending,,1000,2025-01-04,,\n`,
  };
  const before = contents(database);
  const { code, stderr } = await imports(database, later);
  expect(code).toBe(1);
  expect(stderr).toContain("the user was imported with another balance, which stays");
  expect(contents(database)).toBe(before);
});

test("once an order was placed here, only old numbers are imported", async () => {
  const database = withProvider();
  await imports(database, CSV);
  database.user("carol", "5");
  const { account } = database.read((reader) => findUser(reader, "carol"))!;
  const keyId = database.key("carol", "order").id;
  const order = { resellerAccount: account, keyId, service: "42", link: "x", quantity: 10 };
  database.run("placeOrder", order);
  const late = (number: number) =>
    imports(database, {
      orders: `${CSV.orders}${number},7,42,x,1,0,completed,,,2025-02-01,,\n`,
      map: CSV.map,
    });
  for (const [number, problem] of [
    [1206, "an order that was placed here has this number"],
    [1300, "orders were placed here since the first import"],
  ] as const) {
    const before = contents(database);
    const { code, stderr } = await late(number);
    expect(code).toBe(1);
    expect(stderr).toContain(problem);
    expect(contents(database)).toBe(before);
  }
  expect((await late(1100)).json).toMatchObject({ orders: { new: 1, same: 5 } });
});

test("an erasure removes the links of past orders, and a repeated import does not bring the user back", async () => {
  const database = withProvider();
  await imports(database, CSV);
  await reseller("admin", "order", "complete", "1204", "1205", ...optionsOf(database));
  database.run("setUserActive", { username: "alice", active: false });
  await eraseWholly({
    user: () => database.run("eraseUser", { username: "alice", reason: "asked for" }),
    piece: (piece) => database.run("eraseHistory", piece),
  });
  expect(database.query("SELECT DISTINCT link FROM past_orders WHERE order_id < 1203")).toEqual([
    { link: "erased" },
  ]);
  expect(await verifyStore(database)).toEqual([]);
  const { json } = await imports(database, CSV);
  expect(json).toMatchObject({
    users: { new: 0, same: 2 },
    orders: { new: 0, same: 5 },
    refused: 0,
  });
});

describe("a refused row: exit 1, nothing is imported, and the row is named with what to do", () => {
  const user = (row: string) => ({
    users: `id,username,balance,discount,active\n1,ann,1,,\n${row}\n`,
  });
  const service = (row: string, map = "") => ({
    services: `number,name,price,min,max,type,provider,providerService\n${row}\n`,
    ...(map === "" ? {} : { map }),
  });
  const order = (row: string) => ({
    users: "id,username\n7,alice\n",
    orders: `number,user,service,link,quantity,charge,status,createdAt,provider,providerOrder\n${row}\n`,
  });
  const key = (row: string) => ({
    users: "id,username\n1,ann\n2,bea\n",
    keys: `user,key\n${row}\n`,
  });
  const HEX = KEY;
  const CASES: [title: string, files: Files, says: string][] = [
    ["a negative balance", user("2,bob,-3.2,,"), "line 3, user 2: the user owes 3.2 USD"],
    ["a username twice, with another case", user("2,ANN,1,,"), "line 3, user 2: username ANN appears twice"],
    ["a username with blanks", user("2,bob smith,1,,"), "user 2: username must be"],
    ["an id twice", user("1,bob,1,,"), "user 1: id 1 appears twice"],
    ["no username", user("2,,1,,"), "user 2: username is missing"],
    ["an exponent", user("2,bob,1e5,,"), "user 2: balance must be a plain number"],
    ["separators", user('2,bob,"1,000.5",,'), "user 2: balance must be a plain number"],
    ["a formula", user("2,bob,=1+1,,"), "user 2: balance must be a plain number"],
    ["a float's error", user("2,bob,0.30000000000000004,,"), "user 2: balance has more than six decimals"],
    ["a huge balance", user("2,bob,1000000001,,"), "user 2: balance must be at most 1000000000 USD"],
    ["a discount above 100", user("2,bob,1,101,"), "user 2: discount must be"],
    ["an unknown state", user("2,bob,1,,maybe"), "user 2: active must be true or false"],
    ["a username of someone here", user("2,taken,1,,"), "a user that was not imported has this username"],
    ["a username of someone here, with another case", user("2,TAKEN,1,,"), "a user that was not imported has this username"],
    ["a NUL in a username", user("2,bo\0b,1,,"), "user 2: username must be"],
    ["too many cells", user("2,bob,1,,,"), "line 3: it has 6 cells, but the header has 5"],
    ["too few cells", user("2,bob"), "line 3: it has 2 cells"],
    ["a number in use", service("1,Free,1,1,9,,,"), "line 2, service 1: a service that was not imported has this number"],
    ["number 0", service("0,N,1,1,9,,,"), "number must be above 0"],
    ["a service twice", service("50,N,1,1,9,,,\n50,M,1,1,9,,,"), "line 3, service 50: number 50 appears twice"],
    ["an unknown type", service("50,N,1,1,9,Subscriptions,,"), "service 50: type Subscriptions is unknown"],
    ["min above max", service("50,N,1,9,1,,,"), "service 50: min is above max"],
    ["a provider that is not mapped", service("50,N,1,1,9,,4,7"), 'provider 4 is not mapped: add `"4" = "NAME"`'],
    ["a provider that is not here", service("50,N,1,1,9,,4,7", '[providers]\n"4" = "nobody"\n'), "no provider here has this name"],
    ["an unknown user", order("5,9,1,x,1,1,completed,2025-01-01,,"), "order 5: user 9 is not imported"],
    ["an unknown status", order("5,7,1,x,1,1,Waiting,2025-01-01,,"), "order 5: status Waiting is unknown: map it under [orders.values.status]"],
    ["an order twice", order("5,7,1,x,1,1,completed,2025-01-01,,\n5,7,1,x,1,1,completed,2025-01-01,,"), "line 3, order 5: number 5 appears twice"],
    ["a quantity of 0", order("5,7,1,x,0,1,completed,2025-01-01,,"), "order 5: quantity is out of range"],
    ["a negative charge", order("5,7,1,x,1,-1,completed,2025-01-01,,"), "order 5: charge is out of range"],
    ["a date of two meanings", order("5,7,1,x,1,1,completed,03/04/2025,,"), "order 5: createdAt may be two different days"],
    ["a date that does not exist", order("5,7,1,x,1,1,completed,2025-02-30,,"), "order 5: createdAt is no time that exists"],
    ["no date", order("5,7,1,x,1,1,completed,0000-00-00 00:00:00,,"), "order 5: createdAt is missing"],
    ["an open order without its service", order("5,7,900,x,1,1,pending,2025-01-01,,"), "order 5: no service here has this number"],
    ["a link of 100 KB", order(`5,7,1,${"x".repeat(100_000)},1,1,completed,2025-01-01,,`), "order 5: link must be"],
    ["a row of two megabytes", order(`5,7,1,${"x".repeat(2_000_000)},1,1,completed,2025-01-01,,`), "the row is too long"],
    ["a NUL in a provider", order("5,7,1,x,1,1,completed,2025-01-01,a\0b,9"), "order 5: provider must be"],
    ["a long number at a provider", order(`5,7,1,x,1,1,completed,2025-01-01,3,${"9".repeat(5000)}`), "order 5: providerOrder must be"],
    ["a short key", key("1,abc123"), "key of user 1: the key cannot be used: it must have 20 to 128 characters"],
    ["a repetitive key", key(`1,${"ab12".repeat(8)}`), "it is easy to guess"],
    ["a sequence", key("1,0123456789abcdefghijklmnopqrstuv"), "it is easy to guess"],
    ["a password hash", key("1,$2y$10$abcdefghijklmnopqrstuv0123456789abcdefghijklmnopqrstuv"), "it is a hash"],
    ["a key with blanks", key(`1,${HEX} ${HEX}`), "it must be visible ASCII characters only"],
    ["a key of our form", key("1,rk_0123456789abcdefghijABCDEFGH"), "it looks like a key of this program"],
    ["one key of two users", key(`1,${HEX}\n2,${HEX}`), "line 3, key of user 2: another row has the same key"],
    ["a key of an unknown user", key(`9,${HEX}`), "user 9 is not imported"],
  ]; // prettier-ignore

  const database = freshDatabase();
  database.user("taken");
  database.service({ id: "free" });
  test.each(sampledOnPostgres(CASES, 4))("%s", async (_, files, says) => {
    const before = contents(database);
    const { code, stdout, stderr } = await imports(database, files);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const { rows } = JSON.parse(stderr) as { rows: string[] };
    expect(rows.join("\n")).toContain(says);
    expect(contents(database)).toBe(before);
    // No message has a key.
    for (const row of (files.keys ?? "").split("\n").slice(1)) {
      const text = row.slice(2);
      if (text !== "") expect(stderr).not.toContain(text);
    }
    const skipped = await imports(database, files, "--dry-run", "--skip-refused");
    expect(skipped.json).toMatchObject({ refused: rows.length, dryRun: true });
  });
});

test("an open order of a refused service is left out with it, instead of going to another service here", async () => {
  const database = withProvider();
  const other = database.service({ id: "other" });
  const [{ number }] = database.query<{ number: number }>(
    `SELECT number FROM services WHERE id = '${other}'`,
  ) as [{ number: number }];
  const files = {
    users: "id,username\n7,ann\n",
    services: `number,name,price,min,max\n${number},Theirs,1,1,9\n`,
    orders: `number,user,service,link,quantity,charge,status,createdAt\n5,7,${number},x,1,1,pending,2025-01-01\n6,7,${number},x,1,1,completed,2025-01-01\n`,
  };
  const { json } = await imports(database, files, "--skip-refused");
  expect(json).toMatchObject({ services: { refused: 1 }, orders: { new: 1, refused: 1 } });
  expect(json.rows.join("\n")).toContain(
    `service ${number} is refused, so the open order has none`,
  );
});

describe("a file that cannot be read: exit 1, and nothing is imported", () => {
  const CASES: [title: string, files: Files | null, says: string][] = [
    ["no file at all", {}, "no file was given"],
    ["an empty file", { users: "" }, "users.csv is empty"],
    ["a missing column", { users: "id,name\n1,a\n" }, "users.csv has no column username for users; it has id, name"],
    ["a column twice", { users: "id,id,username\n1,1,a\n" }, "column id appears twice"],
    ["a mapping that is no TOML", { users: "id,username\n1,ann\n", map: "= 3" }, "is not TOML"],
    ["an unknown section", { users: "id,username\n1,ann\n", map: "[user]\n" }, "map.toml"],
    ["an unknown field", { users: "id,username\n1,ann\n", map: '[users.columns]\nmail = "x"\n' }, "users has no field mail; its fields are id, username"],
    ["an unknown rule", { users: "id,username\n1,ann\n", map: '[rules]\ndecimals = "cut"\n' }, "rules.decimals"],
    ["a dump without the table", { dump: "INSERT INTO `x` VALUES (1);\n" }, "the mapping names no table"],
  ]; // prettier-ignore
  test.each(sampledOnPostgres(CASES, 4))("%s", async (_, files, says) => {
    const database = freshDatabase();
    const { code, stderr } = await imports(database, files ?? {});
    expect(code).toBe(1);
    expect(stderr).toContain(says);
    expect(database.query("SELECT * FROM imported_users")).toEqual([]);
  });

  test("Latin-1 bytes are refused with the line, and read by a rule", async () => {
    const folder = freshFolder();
    const path = join(folder, "users.csv");
    writeFileSync(path, Buffer.from("id,username,name\n1,ann,Andr\xe9\n", "latin1"));
    const database = freshDatabase();
    const run = (...flags: string[]) =>
      reseller(
        "admin",
        "import",
        "panel",
        "--users",
        path,
        "--json",
        ...flags,
        ...optionsOf(database),
      );
    expect((await run()).stderr).toContain("users.csv is not UTF-8");
    const map = join(folder, "map.toml");
    writeFileSync(map, '[rules]\nencoding = "windows-1252"\n');
    expect((await run("--map", map)).code).toBe(0);
    expect(database.read((reader) => findUser(reader, "ann"))!.name).toBe("André");
  });
});

test("rules of the mapping change values, and each change is a note", async () => {
  const database = freshDatabase();
  const { json } = await imports(database, {
    users: "id,username,balance\n1,ann,-5\n2,ANN,0.30000000000000004\n3,bob smith,0.1234565\n",
    map: '[rules]\nnegativeBalance = "zero"\nusernameTwice = "suffix"\nusernameForm = "replace"\ndecimals = "round"\n',
  });
  expect(json).toMatchObject({ users: { new: 3, refused: 0 }, openingBalances: 0.423457 });
  expect(json.notes).toEqual([
    "user 1 owes 5 USD and gets a balance of 0",
    "user 2 is ANN-2",
    "user 3 is bob_smith",
  ]);
  expect(await verifyStore(database)).toEqual([]);
});

test("CRLF, a byte order mark, quotes, line breaks in cells, NULL and apostrophes are read as they are meant", async () => {
  const database = freshDatabase();
  const users =
    '\uFEFF"id","username","name","balance"\r\n1,ann,"Ann ""A"" Ltd",NULL\r\n2,bea,\'=Bea,"1.50"\r\n';
  expect((await imports(database, { users })).code).toBe(0);
  expect(database.read((reader) => findUser(reader, "ann"))!.name).toBe('Ann "A" Ltd');
  expect(database.read((reader) => findUser(reader, "bea"))).toMatchObject({
    name: "=Bea",
    balanceMicros: 1_500_000n,
  });
});

test("verify names a balance whose credit is another", async () => {
  const database = withProvider();
  await imports(database, CSV);
  database.dropTrigger("imported_users_are_kept");
  database.query(
    "UPDATE imported_users SET balance_micros = balance_micros + 1 WHERE source = '7'",
  );
  expect(await verifyStore(database)).toMatchObject([
    { check: "every imported balance is one credit", subject: "user Alice" },
  ]);
});

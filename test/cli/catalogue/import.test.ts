// `admin service import`: all of a file or nothing, and the invalid row named by its line.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { openShop, type Shop } from "../../support/worlds/shop.ts";
import { ENGINE } from "../../support/databases/engine.ts";
import { runs } from "../../support/runs.ts";
import { freshFolder } from "../../support/folders.ts";

const HEADER = "name,price,min,max";
const ROWS = runs(5_000, 100_000);

describe("a good CSV file", () => {
  const GOOD: [title: string, text: string, services: object[]][] = [
    ["only the columns it must have", `${HEADER}\na,2.32,1,9\n`, [{ name: "a", price: 2.32, min: 1, max: 9, per: "1000", private: false }]],
    ["every column, in another order", "id,private,per,max,min,price,name\nx1,true,order,9,1,12.5,a\n", [{ id: "x1", private: true, per: "order", price: 12.5 }]],
    ["a category, or none", `${HEADER},category\na,1,1,9,Instagram\nb,1,1,9,\n`, [{ category: "Instagram" }, { category: "Services" }]],
    ["requests that are taken, or none", `${HEADER},cancel,refill,refillDays\na,1,1,9,yes,true,7\nb,1,1,9,,,\n`, [{ cancel: true, refill: true, refillDays: 7 }, { cancel: false, refill: false, refillDays: 30 }]],
    ["prices to the micro", `${HEADER}\na,0.000001,1,9\nb,33.333333,1,9\nc,0,1,9\n`, [{ price: 0.000001 }, { price: 33.333333 }, { price: 0 }]],
    ["quoted cells", `${HEADER}\n"a, ""b""",1,1,9\n`, [{ name: 'a, "b"' }]],
    ["a byte order mark", `\uFEFF${HEADER}\na,1,1,9\n`, [{ name: "a" }]],
    ["CRLF, and no line break at the end", `${HEADER}\r\na,1,1,9\r\nb,1,1,9`, [{ name: "a" }, { name: "b" }]],
    ["empty lines", `${HEADER}\n\na,1,1,9\n\n\n`, [{ name: "a" }]],
    ["empty optional cells", `${HEADER},per,id,private\na,1,1,9,,,\n`, [{ per: "1000", private: false }]],
    ["letters of every script", `${HEADER}\nПодписчики 粉丝 👍,1,1,9\n`, [{ name: "Подписчики 粉丝 👍" }]],
  ]; // prettier-ignore
  test.each(GOOD)("%s", async (_, text, services) => {
    const { ran, imported } = await importText("csv", text);
    expect(ran).toMatchObject({ code: 0, stderr: "", json: { imported: services.length } });
    expect(imported).toMatchObject(services);
  });
});

describe("a good JSON file", () => {
  const GOOD: [title: string, entries: string, services: object[]][] = [
    ["numbers", '[{"name":"a","price":33.333333,"min":1,"max":9}]', [{ price: 33.333333 }]],
    ["the smallest price", '[{"name":"a","price":0.000001,"min":1,"max":9}]', [{ price: 0.000001 }]],
    ["texts", '[{"name":"a","price":"0.000001","min":"1","max":"9"}]', [{ price: 0.000001 }]],
    ["everything", '[{"name":"a","price":1,"min":1,"max":9,"per":"1","id":"x1","private":true}]', [{ id: "x1", per: "1", private: true }]],
    ["null as absent", '[{"name":"a","price":1,"min":1,"max":9,"per":null,"id":null}]', [{ per: "1000" }]],
  ]; // prettier-ignore
  test.each(GOOD)("%s", async (_, text, services) => {
    const { ran, imported } = await importText("json", text);
    expect(ran).toMatchObject({ code: 0, json: { imported: services.length } });
    expect(imported).toMatchObject(services);
  });
});

describe("one invalid row: exit 1, its line is named, nothing is imported", () => {
  const good = "good,1,1,9";
  const CSV: [title: string, text: string, problem: string][] = [
    ["a price that is no number", `${HEADER}\n${good}\nb,x,1,9\n`, "line 3: price must be"],
    ["a name that is missing", `${HEADER}\n${good}\n,1,1,9\n`, "line 3: name is missing"],
    ["min 0", `${HEADER}\nb,1,0,9\n`, "line 2: min must be"],
    ["min above max", `${HEADER}\nb,1,10,9\n`, "line 2: min must not be above max"],
    ["an unknown unit", `${HEADER},per\nb,1,1,9,100\n`, "line 2: per must be one of 1000, 1, order"],
    ["an unknown yes or no", `${HEADER},private\nb,1,1,9,maybe\n`, "line 2: private must be"],
    ["a category that is too long", `${HEADER},category\nb,1,1,9,${"x".repeat(201)}\n`, "line 2: category must be"],
    ["an id twice in the file", `${HEADER},id\na,1,1,9,x\nb,1,1,9,y\nc,1,1,9,x\n`, "line 4: id is taken"],
    ["an id of the database", `${HEADER},id\na,1,1,9,x\nb,1,1,9,followers\n`, "line 3: id is taken"],
    ["a cell too many", `${HEADER}\n${good}\nb,1,1,9,5\n`, "line 3: "],
    ["a cell too few", `${HEADER}\n${good}\nb,1,1\n`, "line 3: "],
    ["a quote that never closes", `${HEADER}\n${good}\n"b,1,1,9\n`, "line 3: "],
    ["after empty lines and CRLF", `${HEADER}\r\n\r\n${good}\r\n\r\nb,x,1,9\r\n`, "line 5: price"],
    ["after a quoted cell of three lines", `${HEADER},id\n"a",1,1,9,"x"\nb,x,1,9,y\n`, "line 3: price"],
    ["a cell of three lines", `${HEADER}\n${good}\n"b\nc\nd",1,1,9\n`, "line 3: name must be"],
    ["an unknown column", `${HEADER},colour\na,1,1,9,red\n`, "header: unknown column colour"],
    ["a column twice", `${HEADER},name\na,1,1,9,b\n`, "header: column name appears twice"],
    ["a column that is missing", "name,price,min\na,1,1\n", "no column max"],
    ["no rows", `${HEADER}\n`, "contains no services"],
    ["no bytes", "", "no column name, price, min, max"],
  ]; // prettier-ignore
  const JSON_FILES: [title: string, text: string, problem: string][] = [
    ["not JSON", "[{]", "is not a JSON list"],
    ["not a list", '{"name":"a"}', "is not a JSON list"],
    ["an entry that is no object", '[{"name":"a","price":1,"min":1,"max":9},5]', "entry 2: not an object"],
    ["an entry that is a list", "[[]]", "entry 1: not an object"],
    ["a price finer than a micro", '[{"name":"a","price":1e-7,"min":1,"max":9}]', "entry 1: price"],
    ["a broken min", '[{"name":"a","price":1,"min":1.5,"max":9}]', "entry 1: min"],
    ["a list for a name", '[{"name":["a"],"price":1,"min":1,"max":9}]', "entry 1: name"],
    ["an unknown member", '[{"name":"a","price":1,"min":1,"max":9,"x":1}]', "entry 1: unknown column x"],
    ["an id twice", '[{"id":"x","name":"a","price":1,"min":1,"max":9},{"id":"x","name":"a","price":1,"min":1,"max":9}]', "entry 2: id is taken"],
    ["no entries", "[]", "contains no services"],
  ]; // prettier-ignore
  const FILES: (readonly ["csv" | "json", string, string, string])[] = [
    ...CSV.map((row) => ["csv", ...row] as const),
    ...JSON_FILES.map((row) => ["json", ...row] as const),
  ];
  test.each(FILES)("%s: %s", async (type, _, text, problem) => {
    const shop = openShop();
    const before = shop.dump();
    const { ran, file } = await importText(type, text, shop);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.told).toMatch(/^error: .+\n$/);
    expect(ran.told).toContain(file);
    expect(ran.told).toContain(problem);
    expect(shop.dump()).toBe(before);
  });

  test("bytes that are not UTF-8", async () => {
    const bytes = Buffer.from([...Buffer.from(`${HEADER}\na`), 0xff, ...Buffer.from(",1,1,9\n")]);
    const { ran } = await importText("csv", bytes);
    expect(ran.code).toBe(1);
    expect(ran.stderr).toContain("is not UTF-8");
  });

  test("a missing file, named by its absolute path", async () => {
    const { code, stderr } = await openShop().cli("admin", "service", "import", "nowhere.csv");
    expect(code).toBe(1);
    expect(stderr).toContain(`${process.cwd()}/nowhere.csv`);
  });
});

test(`${ROWS} rows are imported and listed, and an invalid one at the end imports none`, async () => {
  const shop = openShop();
  const rows = Array.from({ length: ROWS }, (_, row) => `"Service, ${row}",2.32,10,10000,s${row}`);
  const text = `${HEADER},id\n${rows.join("\n")}\n`;
  const count = () => shop.query("SELECT count(*) AS count FROM services")[0]!["count"];

  const file = `${shop.folder}/big.csv`;
  const imported = async (more: string) => {
    await Bun.write(file, text + more);
    return shop.cli("admin", "service", "import", file, "--json");
  };

  expect((await imported("last,x,1,2,last\n")).stderr).toContain(`line ${ROWS + 2}: price`);
  expect((await imported("last,1,1,2,s0\n")).stderr).toContain(`line ${ROWS + 2}: id is taken`);
  expect(count()).toBe(2);

  const { json } = await imported("");
  expect(json).toEqual({ imported: ROWS });
  expect(count()).toBe(ROWS + 2);

  const list = await shop.cli("admin", "service", "list");
  expect(list.stdout.trimEnd().split("\n")).toHaveLength(ROWS + 3);
});

async function importText(type: "csv" | "json", text: string | Buffer, shop: Shop = openShop()) {
  const known = new Set((await services(shop)).map(({ id }) => id));
  const file = `${shop.folder}/catalogue.${type}`;
  await Bun.write(file, text);
  const ran = await shop.cli("admin", "service", "import", file, "--json");
  const imported = (await services(shop)).filter(({ id }) => !known.has(id));
  return { ran, file, imported };
}

/** In the order they were made. */
async function services(shop: Shop): Promise<{ id: string }[]> {
  const place = ENGINE === "sqlite" ? "rowid" : "ctid";
  const rows = shop.query<{ id: string }>(`SELECT id FROM services ORDER BY ${place}`);
  const { json } = await shop.cli("admin", "service", "list", "--json");
  const byId = new Map((json as { id: string }[]).map((service) => [service.id, service]));
  return rows.map(({ id }) => byId.get(id)!);
}

describe("every invalid row is named, whatever is wrong with it:", () => {
  const rows: [line: string, problem: string | null][] = [
    ["a,1,1,9", null],
    ["b,1,1", "number of cells"],
    ["c,x,1,9", "price must be"],
    ['d "x",1,1,9', "there is a quote inside"],
    ['"e"x,1,1,9', "there is text after a cell's closing quote"],
    ["f,1,1,9,9", "number of cells"],
    [",1,1,9", "name is missing"],
    ["g,1,9,1", "min must not be above max"],
    ["h,1,1,9", null],
    ['"i,1,1,9', "is never closed"],
  ];

  test("services in a CSV", async () => {
    const file = join(freshFolder(), "list.csv");
    writeFileSync(file, ["name,price,min,max", ...rows.map(([line]) => line)].join("\n"));
    const shop = openShop();
    const before = shop.dump();
    const plain = await shop.cli("admin", "service", "import", file);
    const json = await shop.cli("admin", "service", "import", file, "--json");
    expect([plain.code, json.code, shop.dump()]).toEqual([1, 1, before]);
    const lines = plain.stderr.trim().split("\n").slice(0, -1);
    expect(JSON.parse(json.stderr).rows).toEqual(lines);
    const wrong = rows.flatMap(([, problem], index) =>
      problem ? [[index + 2, problem] as const] : [],
    );
    expect(lines).toEqual(
      wrong.map(([line, problem]) =>
        expect.stringMatching(new RegExp(`line ${line}: .*${problem}`)),
      ),
    );
  });

  test("services in JSON", async () => {
    const good = { name: "a", price: 1, min: 1, max: 9 };
    const entries = [good, 7, { ...good, prise: 1 }, { ...good, price: -1 }, null, [good], good];
    const file = join(freshFolder(), "list.json");
    writeFileSync(file, JSON.stringify(entries));
    const { code, stderr } = await openShop().cli("admin", "service", "import", file);
    expect(code).toBe(1);
    expect([...stderr.matchAll(/entry (\d)/g)].map(([, entry]) => entry)).toEqual([
      "2",
      "3",
      "4",
      "5",
      "6",
    ]);
  });

  test("grants", async () => {
    const lines = [
      "followers,bob",
      "followers",
      "x,nobody,1",
      "followers,bob,1,1",
      'secret,"bob"x,1',
    ];
    const file = join(freshFolder(), "grants.csv");
    writeFileSync(file, ["service,username,price", ...lines].join("\n"));
    const { code, stderr } = await openShop().cli("admin", "grant", "import", file);
    expect(code).toBe(1);
    expect([...stderr.matchAll(/line (\d)/g)].map(([, line]) => line)).toEqual([
      "2",
      "3",
      "4",
      "5",
      "6",
    ]);
  });

  test("an unreadable header is the only problem reported", async () => {
    const file = join(freshFolder(), "list.csv");
    writeFileSync(file, 'name,"price"x,min,max\na,1,1,9\nb,x,1,9');
    const { code, stderr } = await openShop().cli("admin", "service", "import", file);
    expect([code, stderr]).toEqual([1, expect.stringContaining("line 1: there is text after")]);
    expect(stderr).not.toContain("line 3");
  });
});

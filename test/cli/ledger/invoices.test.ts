// `admin invoice`: settings, lists, export, documents and corrections.

import { beforeAll, describe, expect, test } from "bun:test";
import { expectFailure } from "../../support/operator-cli.ts";
import { openShop, type Shop } from "../../support/worlds/shop.ts";

const SETTINGS = [
  "--for", "credit", "--prefix", "A-", "--next-number", "5", "--tax", "20%", "--tax-text", "VAT",
]; // prettier-ignore
const SELLER = { sellerName: "Panel <Ltd>", sellerAddress: "Street 1\n1000 City" };

let shop: Shop;
const invoice = (...argv: string[]) => shop.cli("admin", "invoice", ...argv);

beforeAll(async () => {
  shop = openShop();
  const refused = await invoice("settings", ...SETTINGS);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("--legal-name")]);
  shop.run("setInvoicing", { changes: SELLER });
  await invoice("settings", ...SETTINGS);
  await invoice("billing", "alice", "--name", "=Alice & Sons", "--address", "Lane 2;Town");
  await shop.cli("admin", "user", "credit", "alice", "12", "--reference", "inv-1");
  await shop.cli("admin", "user", "credit", "bob", "6.000001");
  await shop.cli("admin", "user", "credit", "bob", "3", "--no-invoice");
  expect((await invoice("issue", "--json")).json).toEqual({ issued: 2 });
  await invoice("correct", "A-5", "--reason", "wrong amount", "--amount", "6");
});

test("the list, its CSV and its JSON have the same invoices, newest first", async () => {
  const { json } = await invoice("list", "--json");
  expect(
    json.map((row: Record<string, unknown>) => [row["number"], row["username"], row["total"]]),
  ).toEqual([
    ["A-7", "alice", -6],
    ["A-6", "bob", 6.000001],
    ["A-5", "alice", 12],
  ]);
  const { stdout } = await invoice("list", "--csv");
  const [header, ...lines] = stdout.trim().split("\n");
  expect(header).toBe(
    "number,kind,corrects,issuedAt,month,username,buyer,buyerAddress,buyerTaxId,net,tax,total,taxText",
  );
  expect(lines.map((line) => line.replace(/\d{4}-.*?Z/, "AT"))).toEqual([
    `A-7,correction,A-5,AT,,alice,'=Alice & Sons,"Lane 2, Town",,-5,-1,-6,VAT 20 %`,
    "A-6,invoice,,AT,,bob,bob,,,5.000001,1,6.000001,VAT 20 %",
    `A-5,invoice,,AT,,alice,'=Alice & Sons,"Lane 2, Town",,10,2,12,VAT 20 %`,
  ]);
  expect((await invoice("export")).stdout).toBe(stdout);
  const exported = (await invoice("export", "--json-lines")).stdout.trim().split("\n");
  expect(exported.map((line) => JSON.parse(line))).toEqual(
    (await invoice("export", "--json")).json,
  );
});

test("a list of one reseller, of a time, or of a page has only those", async () => {
  const numbers = async (...argv: string[]) =>
    (await invoice("list", "--json", ...argv)).json.map(({ number }: { number: string }) => number);
  expect(await numbers("--user", "bob")).toEqual(["A-6"]);
  expect(await numbers("--until", "2001-01-01")).toEqual([]);
  expect(await numbers("--since", "24h")).toHaveLength(3);
  expect(await numbers("--limit", "1")).toEqual(["A-7"]);
  expect(await numbers("--limit", "1", "--cursor", "3")).toEqual(["A-6"]);
});

test("an invoice is shown with its parties, lines and what follows it", async () => {
  const { json } = await invoice("show", "A-5", "--json");
  expect(json).toMatchObject({
    seller: { name: "Panel <Ltd>", address: "Street 1\n1000 City" },
    buyer: { name: "=Alice & Sons", address: "Lane 2\nTown" },
    lines: [{ text: expect.stringMatching(/reference inv-1$/), amount: 12 }],
    following: ["A-7"],
  });
  const { stdout } = await invoice("show", "A-5");
  expect(stdout).toMatch(/^buyer +=Alice & Sons, Lane 2, Town$/m);
});

test("--html is a document that needs nothing else, with every text escaped", async () => {
  const { stdout } = await invoice("show", "A-5", "--html");
  expect(stdout).toStartWith("<!doctype html>");
  expect(stdout).toContain("Panel &lt;Ltd>");
  expect(stdout).toContain("@page");
  expect(stdout).not.toMatch(/<script|<link|src=|href=/);
});

describe("refuses, and changes nothing:", () => {
  const CASES: [argv: string[], code: number, says: string][] = [
    [["show", "A-99"], 1, "invoice not found"],
    [["show", "5"], 1, "invoice not found"],
    [["show", "A-"], 2, "invoice number"],
    [["show", "A-05"], 2, "invoice number"],
    [["show", "'; DROP"], 2, "invoice number"],
    [["correct", "A-5", "--reason", "x", "--amount", "6.000001"], 1, "at most 6"],
    [["correct", "A-7", "--reason", "x"], 1, "a correction cannot be corrected"],
    [["correct", "A-6"], 2, "--reason"],
    [["correct", "A-6", "--reason", "x", "--amount", "0"], 2, "positive"],
    [["settings", "--next-number", "5"], 1, "number 8"],
    [["settings", "--prefix", "2026"], 2, "digit"],
    [["settings", "--prefix", "a/b"], 2, "letters"],
    [["settings", "--prefix", "x".repeat(21)], 2, "at most 20"],
    [["settings", "--tax", "101%"], 2, "percentage"],
    [["settings", "--tax", "1.23456"], 2, "percentage"],
    [["billing", "alice", "--name", "x", "--address", ";;"], 2, "lines"],
    [["billing", "alice", "--name", "x", "--address", "1;2;3;4;5;6;7"], 2, "lines"],
    [["settings", "--tax-id", "a\u0000b"], 2, "characters"],
    [["settings", "--for", "week"], 2, "must be one of"],
    [["billing", "kid", "--name", "x"], 1, "child user"],
    [["billing", "alice", "--address", "x"], 2, "--name is missing"],
    [["billing", "alice", "--name", "x", "--tax-text", "x"], 2, "--tax"],
    [["billing", "nobody"], 1, "user not found"],
    [["list", "--user", "nobody"], 1, "user not found"],
  ];
  test.each(CASES)("%p", async (argv, code, says) => {
    await expectFailure(shop, ["admin", "invoice", ...argv], code, says);
  });
});

test("billing is shown, replaced and removed", async () => {
  const set = [
    "--name",
    "Bob Ltd",
    "--address",
    "Way 3",
    "--tax",
    "0",
    "--tax-text",
    "Reverse charge",
  ];
  expect((await invoice("billing", "bob", ...set, "--json")).json.billing).toEqual({
    name: "Bob Ltd",
    address: "Way 3",
    taxId: "",
    tax: 0,
    taxText: "Reverse charge",
  });
  expect((await invoice("billing", "bob")).stdout).toContain("Reverse charge");
  expect((await invoice("billing", "bob", "--none", "--json")).json.billing).toBeNull();
});

// The pages of invoices: settings, list, document, correction, billing details.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { openPanel, type TestPanel } from "../../support/worlds/panel.ts";

const SETTINGS = {
  for: "credit",
  "tax-id": "",
  tax: "20",
  "tax-text": "VAT",
  prefix: "2026-",
  "next-number": "7",
};

let panel: TestPanel;
beforeAll(async () => {
  panel = await openPanel();
  panel.user("alice");
  panel.user("kid", "0", "alice");
});
afterAll(() => panel.stop());

const issue = () => panel.run("issueInvoices", { limit: 50 });

test("before invoices are on, the list says so and a credit has no choice about them", async () => {
  expect((await panel.get("/invoices")).text).toContain("No invoices are issued.");
  expect((await panel.get("/users/alice")).text).not.toContain("no invoice");
  const missing = await panel.post("/invoicing", SETTINGS);
  expect([missing.status, missing.text]).toEqual([
    422,
    expect.stringContaining("name and the address"),
  ]);
});

test("a paid credit gets an invoice with the billing details of then; one that nobody paid for gets none", async () => {
  const changes = { sellerName: "Panel Ltd", sellerAddress: "Street 1\nCity" };
  panel.run("setInvoicing", { changes });
  expect((await panel.post("/invoicing", SETTINGS)).status).toBe(303);
  const billing = {
    "legal-name": "Alice <Ltd>",
    address: "Lane 2\r\nTown",
    "tax-id": "",
    tax: "",
    "tax-text": "",
  };
  expect((await panel.post("/users/alice/billing", billing)).status).toBe(303);
  const credit = {
    direction: "credit",
    amount: "12",
    reference: "r-1",
    note: "",
    "public-note": "",
  };
  await panel.confirm("/users/alice/balance", credit);
  await panel.confirm("/users/alice/balance", { ...credit, reference: "r-2", "no-invoice": "yes" });
  expect([issue(), issue()]).toEqual([1, 0]);
  const { text } = await panel.get("/invoices");
  expect(text).toContain('href="/invoices/2026-7"');
  const page = (await panel.get("/invoices/2026-7")).text;
  for (const part of [
    "Invoice 2026-7",
    "Alice &lt;Ltd>",
    "Lane 2",
    "Panel Ltd",
    "reference r-1",
    "VAT 20 %",
  ]) {
    expect(page).toContain(part);
  }
});

test("a correction is a further document, linked from the invoice, at most what is left of it", async () => {
  const path = "/invoices/2026-7/correct";
  const tooMuch = await panel.post(path, { reason: "x", amount: "12.000001" });
  expect([tooMuch.status, tooMuch.text]).toEqual([422, expect.stringContaining("at most 12")]);
  expect((await panel.post(path, { reason: "", amount: "" })).status).toBe(422);
  expect((await panel.post(path, { reason: "wrong", amount: "", reissue: "yes" })).status).toBe(
    303,
  );
  const page = (await panel.get("/invoices/2026-7")).text;
  expect(page).toContain('href="/invoices/2026-8"');
  expect(page).toContain('href="/invoices/2026-9"');
  expect(page).not.toContain("/correct");
  expect((await panel.get("/invoices/2026-8")).text).toContain("-12.00");
  const { text } = await panel.get("/invoices.csv?user=alice");
  expect(
    text
      .trim()
      .split("\r\n")
      .map((line) => line.split(",")[0]),
  ).toEqual(["number", "2026-9", "2026-8", "2026-7"]);
});

test("the list says what the documents of its filters amount to, as the CSV adds up, and shows their dates", async () => {
  for (const [query, sums] of [
    ["", "3 documents, in all 12.00 USD, of which 2.00 USD are tax."],
    ["?user=alice", "3 documents, in all 12.00 USD, of which 2.00 USD are tax."],
    ["?user=kid", null],
    ["?to=2001-01-01", null],
  ] as const) {
    const { text } = await panel.get(`/invoices${query}`);
    const shown =
      /<p>(\d+ documents?, [^]*?)<\/p>/.exec(text)?.[1]?.replace(/<[^>]*>/g, "") ?? null;
    expect([query, shown]).toEqual([query, sums]);
    const csv = (await panel.get(`/invoices.csv${query}`)).text.trim().split("\r\n").slice(1);
    const cell = (line: string, fromEnd: number) => Number(line.split(",").at(fromEnd));
    const total = csv.reduce((sum, line) => sum + cell(line, -2), 0);
    expect([query, total]).toEqual([query, sums === null ? 0 : 12]);
  }
  expect((await panel.get("/invoices")).text).toContain('class="list cards dated"');
});

test("the pages of the books belong to Reports in the navigation", async () => {
  for (const path of [
    "/reports",
    "/reports/money",
    "/transactions",
    "/invoices",
    "/invoices/2026-7",
  ]) {
    const { text } = await panel.get(path);
    expect([path, text]).toEqual([
      path,
      expect.stringContaining('href="/reports" aria-current="page"'),
    ]);
  }
});

test("what is not an invoice's number, or of none, is not found", async () => {
  for (const number of ["2026-99", "7", "x", "%00", "2026-7x"]) {
    expect((await panel.get(`/invoices/${number}`)).status).toBe(404);
  }
});

test("wrong settings and details are refused beside their fields, and change nothing", async () => {
  const before = panel.query("SELECT * FROM invoice_settings");
  for (const wrong of [
    { prefix: "2026" },
    { tax: "-1" },
    { "next-number": "7" },
    { for: "week" },
  ]) {
    const { status } = await panel.post("/invoicing", { ...SETTINGS, "next-number": "", ...wrong });
    expect([wrong, status]).toEqual([wrong, 422]);
  }
  expect(panel.query("SELECT * FROM invoice_settings")).toEqual(before);
  expect((await panel.post("/users/alice/billing", { address: "x" })).status).toBe(422);
  expect((await panel.post("/users/kid/billing", { "legal-name": "x" })).status).toBe(422);
});

// Invoices: numbers without gaps, each credit once, corrections by further documents; on the engine of this run.

import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { invoiceNumber, linesIn, taxIn } from "../../../src/domain/ledger/invoices.ts";
import type { InvoicingChanges } from "../../../src/operations/ledger/invoicing.ts";
import {
  OPERATOR,
  freshDatabase,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { listInvoicesBelow } from "../../../src/db/ledger/invoices.ts";

const NOVEMBER = Date.parse("2026-11-30T23:59:59.999Z");
const DECEMBER = NOVEMBER + 1;
const SELLER = { sellerName: "Panel Ltd", sellerAddress: "Street 1\nCity" };

const opened: TestDatabase[] = [];
afterAll(() => opened.forEach((each) => each.close()));

let database: TestDatabase;
beforeEach(() => {
  opened.push((database = freshDatabase()));
  database.user("alice");
  database.user("kid", "0", "alice");
  database.user("bob");
});

const set = (changes: InvoicingChanges) => database.run("setInvoicing", { changes });
const credit = (username: string, amountMicros: number, at = NOVEMBER, more: object = {}) =>
  database.execute(
    "creditUser",
    { username, amountMicros, note: null, actor: OPERATOR, ...more },
    at,
  );
const issue = (at: number, limit = 50) => database.execute("issueInvoices", { limit }, at);
const all = () =>
  database
    .read((reader) =>
      listInvoicesBelow(reader, { account: null, window: { from: null, to: null } }, 1e15, 1000),
    )
    .rows.toReversed();
const numbers = () => all().map(invoiceNumber);

describe("for each credit", () => {
  beforeEach(() => void set({ ...SELLER, mode: "credit", prefix: "A-", nextNumber: 7 }));

  test("every paid credit of a reseller gets one invoice, however often the job runs", async () => {
    credit("alice", 1_000_000, NOVEMBER, { reference: "inv-1" });
    credit("bob", 5);
    credit("kid", 1_000_000);
    credit("bob", 9, NOVEMBER, { invoice: false });
    const { id: keyId } = database.key("alice", "full");
    const account = { resellerAccount: 3, keyId };
    database.execute("recharge", { ...account, username: "bob", amountMicros: 3 }, NOVEMBER);
    database.execute("recharge", { ...account, username: "kid", amountMicros: 3 }, NOVEMBER);
    expect([issue(NOVEMBER, 2), issue(NOVEMBER, 2), issue(NOVEMBER)]).toEqual([2, 1, 0]);
    expect(all().map((each) => [invoiceNumber(each), each.username, each.totalMicros])).toEqual([
      ["A-7", "alice", 1_000_000n],
      ["A-8", "bob", 5n],
      ["A-9", "bob", 3n],
    ]);
    expect(linesIn(all()[0]!)[0]!.text).toMatch(/^2026-11-30: .*transaction \d+, reference inv-1$/);
    expect(await verifyStore(database)).toEqual([]);
  });

  test("a repeated credit with the same reference gets no second invoice", () => {
    for (let times = 0; times < 2; times += 1) credit("alice", 5, NOVEMBER, { reference: "r" });
    expect([issue(NOVEMBER), issue(NOVEMBER)]).toEqual([1, 0]);
  });

  test("test money gets none", () => {
    const { id: keyId } = database.key("alice", "full", "all", true);
    const [{ account }] = database.query<{ account: number }>(
      "SELECT reseller_account AS account FROM keys WHERE test_of IS NOT NULL",
    ) as [{ account: number }];
    const recharge = { keyId, resellerAccount: Number(account), username: "bob", amountMicros: 3 };
    database.run("recharge", { ...recharge, isTest: true });
    expect(issue(DECEMBER)).toBe(0);
  });
});

describe("for each month", () => {
  beforeEach(() => void set({ ...SELLER, mode: "month" }));

  test("a reseller's credits of a month are one invoice, with a line a day, once the month is over", async () => {
    credit("alice", 1_000_000, NOVEMBER - 86_400_000 * 3);
    credit("alice", 2_000_000, NOVEMBER);
    credit("alice", 4_000_000, NOVEMBER);
    credit("alice", 8_000_000, DECEMBER);
    credit("bob", 16_000_000, NOVEMBER);
    expect(issue(NOVEMBER)).toBe(0);
    expect([issue(DECEMBER), issue(DECEMBER)]).toEqual([2, 0]);
    expect(all().map((each) => [each.username, each.totalMicros, linesIn(each).length])).toEqual([
      ["alice", 7_000_000n, 2],
      ["bob", 16_000_000n, 1],
    ]);
    expect(linesIn(all()[0]!).map(({ text }) => text)).toEqual([
      "2026-11-27: 1 credit of the prepaid balance",
      "2026-11-30: 2 credits of the prepaid balance",
    ]);
    expect(issue(Date.parse("2027-01-01"))).toBe(1);
    expect(numbers()).toEqual(["1", "2", "3"]);
    expect(await verifyStore(database)).toEqual([]);
  });

  test("a credit that becomes visible after its month's invoice gets a further one", () => {
    credit("alice", 1, NOVEMBER);
    issue(DECEMBER);
    credit("alice", 2, NOVEMBER);
    expect(issue(DECEMBER)).toBe(1);
    expect(all().map(({ totalMicros }) => totalMicros)).toEqual([1n, 2n]);
  });
});

describe("a number", () => {
  beforeEach(() => void set({ ...SELLER, mode: "credit", prefix: "2026-" }));

  test("is given by a failed command to nobody, and the next invoice has it", () => {
    credit("alice", 1);
    issue(NOVEMBER);
    credit("alice", 2);
    database.query("UPDATE users SET name = name WHERE 1 = 0");
    const refused = () =>
      database.run("correctInvoice", {
        prefix: "2026-",
        number: 1,
        amountMicros: 2,
        reason: "x",
        reissue: false,
      });
    expect(refused).toThrow("invoice_amount_too_large");
    issue(NOVEMBER);
    expect(numbers()).toEqual(["2026-1", "2026-2"]);
  });

  test("of a series that has begun cannot be set; a new series begins where the operator says", () => {
    credit("alice", 1);
    issue(NOVEMBER);
    for (const nextNumber of [1, 3, 100]) {
      expect(() => set({ nextNumber })).toThrow("invoice_number_fixed");
    }
    expect(set({ nextNumber: 2 }).nextNumber).toBe(2);
    expect(set({ prefix: "2027-", nextNumber: 1000 }).nextNumber).toBe(1000);
    credit("alice", 2);
    issue(NOVEMBER);
    expect(set({ prefix: "2026-" }).nextNumber).toBe(2);
    credit("alice", 3);
    issue(NOVEMBER);
    expect(numbers()).toEqual(["2026-1", "2027-1000", "2026-2"]);
  });
});

describe("a correction", () => {
  beforeEach(() => {
    set({ ...SELLER, mode: "credit", taxPpm: 200_000, taxText: "VAT" });
    credit("alice", 120_000_000);
    issue(NOVEMBER);
  });
  const correct = (amountMicros: number | null, reissue = false, number = 1) =>
    database.run("correctInvoice", { prefix: "", number, amountMicros, reason: "wrong", reissue });

  test("is a further document with the next number; the invoice itself stays as it was", async () => {
    const [before] = all();
    expect(correct(20_000_000)).toEqual({ correction: "2", replacement: null });
    expect(correct(null)).toEqual({ correction: "3", replacement: null });
    expect(all()[0]).toEqual(before!);
    expect(all().map(({ totalMicros, taxMicros }) => [totalMicros, taxMicros])).toEqual([
      [120_000_000n, 20_000_000n],
      [-20_000_000n, -3_330_000n],
      [-100_000_000n, -16_670_000n],
    ]);
    expect(await verifyStore(database)).toEqual([]);
  });

  test("never exceeds what is left of the invoice, and corrects no correction", () => {
    expect(() => correct(120_000_001)).toThrow("invoice_amount_too_large");
    correct(null);
    expect(() => correct(1)).toThrow("invoice_corrected");
    expect(() => correct(null, false, 2)).toThrow("invoice_is_correction");
    expect(() => correct(null, false, 9)).toThrow("invoice_not_found");
  });

  test("with a replacement is followed by an invoice to the parties as they are now", async () => {
    const billing = {
      name: "Alice Ltd",
      address: "Lane 2",
      taxId: "AT1",
      taxPpm: 0,
      taxText: "reverse charge",
    };
    database.run("setBilling", { username: "alice", billing });
    expect(correct(null, true)).toEqual({ correction: "2", replacement: "3" });
    expect(all()[0]).toMatchObject({ buyerName: "alice", taxMicros: 20_000_000n });
    expect(all()[2]).toMatchObject({
      buyerName: "Alice Ltd",
      buyerAddress: "Lane 2",
      totalMicros: 120_000_000n,
      taxMicros: 0n,
      taxText: "reverse charge",
    });
    expect(await verifyStore(database)).toEqual([]);
  });
});

test("without a seller's name and address no invoices can be issued", () => {
  expect(() => set({ mode: "month" })).toThrow("invoice_seller_missing");
  expect(() => set({ mode: "credit", sellerName: "x" })).toThrow("invoice_seller_missing");
  set({ ...SELLER, mode: "credit" });
  expect(() => set({ sellerAddress: "" })).toThrow("invoice_seller_missing");
});

test("an erasure forgets to whom a reseller's invoices are made out; issued ones keep it", () => {
  set({ ...SELLER, mode: "credit" });
  const billing = { name: "Alice Ltd", address: "Lane 2", taxId: "", taxPpm: null, taxText: null };
  database.run("setBilling", { username: "alice", billing });
  credit("alice", 1);
  issue(NOVEMBER);
  database.run("setUserActive", { username: "alice", active: false });
  const { accounts } = database.run("eraseUser", { username: "alice", reason: "asked" });
  for (let step = 0; step < 100; step += 1) {
    try {
      database.run("eraseHistory", { account: accounts[0]!, step, after: 0, limit: 1000 });
    } catch {
      break;
    }
  }
  expect(database.query("SELECT 1 FROM billing_details")).toEqual([]);
  expect(all()[0]!.buyerName).toBe("Alice Ltd");
  const audit = JSON.stringify(database.query("SELECT before, after FROM audit"));
  expect(audit).not.toContain("Lane 2");
});

test.each([
  [120_000_000n, 200_000, 20_000_000n],
  [100n, 200_000, 0n],
  [1n, 1_000_000, 0n],
  [10_000n, 1_000_000, 10_000n],
  [-120_000_000n, 200_000, -20_000_000n],
  [10_000_000n, 0, 0n],
  [9_000_000_000_000_000_000n, 190_000, 1_436_974_789_915_970_000n],
  [10_050_000n, 50_000, 480_000n],
])("the tax in %p micros at %p millionths is %p, in whole cents", (total, taxPpm, tax) => {
  expect(taxIn(total, { taxPpm })).toBe(tax);
});

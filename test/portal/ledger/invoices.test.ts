// Invoices in the portal: each role of each reseller sees its own, in its language, and nobody else's.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { listInvoicesBelow } from "../../../src/db/ledger/invoices.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { invoiceNumber } from "../../../src/domain/ledger/invoices.ts";
import { type Language, LANGUAGES } from "../../../src/domain/members/languages.ts";
import { MEMBER_ROLES, mayMember } from "../../../src/domain/members/members.ts";
import { CATALOGUES } from "../../../src/portal/texts/texts.ts";
import { formatsOf } from "../../../src/portal/texts/formats.ts";
import { monthText, startOfMonth, utcMonthOf } from "../../../src/domain/values/calendar.ts";
import { OPERATOR } from "../../support/databases/test-database.ts";
import { openPortal, type TestPortal } from "../../support/worlds/portal.ts";

const RESELLERS = ["alice", "bob", "carol"] as const;
const ALWAYS = { from: null, to: null };
/** The last millisecond of a month, the first of the next one, and a time when both are over. */
const [JUNE, JULY, AUGUST] = [
  Date.parse("2026-06-30T23:59:59.999Z"),
  Date.parse("2026-07-01T00:00:00.000Z"),
  Date.parse("2026-08-01T00:00:00.000Z"),
];

let portal: TestPortal;
/** Cookies by reseller and role, and of alice's owners by language. */
const cookies: Record<string, string> = {};

beforeAll(async () => {
  portal = await openPortal();
  for (const username of RESELLERS) portal.user(username);
  portal.user("kid", "0", "alice");
  const seller = { sellerName: "Nova Ltd", sellerAddress: "1 Main Street\nDublin" };
  const tax = { taxPpm: 200_000, taxText: "VAT" };
  portal.run("setInvoicing", { changes: { ...seller, ...tax, mode: "month", prefix: "M-" } });
  const credit = (username: string, amountMicros: number, now: number, reference?: string) =>
    portal.execute(
      "creditUser",
      { username, amountMicros, note: "inner", actor: OPERATOR, reference: reference ?? null },
      now,
    );
  const issue = (now: number) => portal.execute("issueInvoices", { limit: 50 }, now);
  for (const username of ["alice", "bob", "kid"]) {
    credit(username, 2_000_000, JUNE);
    credit(username, 1_234_567, JULY);
  }
  issue(AUGUST);
  portal.run("setInvoicing", { changes: { mode: "credit", prefix: "C-" } });
  credit("alice", 12_000_000, AUGUST, "wire-7");
  credit("bob", 3_000_000, AUGUST);
  issue(AUGUST);
  const correction = { prefix: "M-", number: 1, amountMicros: null, reason: "wrong name" };
  portal.run("correctInvoice", { ...correction, reissue: true });
  for (const username of RESELLERS) {
    for (const role of MEMBER_ROLES) {
      const id = portal.member(username, `${role}@${username}.example`, role);
      cookies[`${username} ${role}`] = portal.session(id);
    }
  }
  for (const language of LANGUAGES) {
    const email = `${language.toLowerCase()}@alice.example`;
    cookies[language] = portal.session(portal.member("alice", email, "owner", language));
  }
});
afterAll(() => portal.stop());

const numbersOf = (username: string) =>
  portal.read((reader) => {
    const { account } = findUser(reader, username)!;
    return listInvoicesBelow(reader, { account, window: ALWAYS }, 1e15, 100).rows.map(
      invoiceNumber,
    );
  });
const linksIn = (html: string) => [
  ...new Set([...html.matchAll(/href="\/invoices\/([^"]+)"/g)].map(([, number]) => number!)),
];

test("the resellers have invoices in both modes, a correction and its replacement", () => {
  expect(RESELLERS.map(numbersOf)).toEqual([
    ["C-4", "C-3", "C-1", "M-3", "M-1"],
    ["C-2", "M-4", "M-2"],
    [],
  ]);
});

const MATRIX = RESELLERS.flatMap((username) =>
  MEMBER_ROLES.map((role) => [username, role] as const),
);
describe.each(MATRIX)("%s's %s", (username, role) => {
  const get = (path: string) => portal.get(path, cookies[`${username} ${role}`]!);

  test("sees all of its reseller's invoices on the list, and the last ones beside the balance", async () => {
    expect(mayMember(role, "read")).toBe(true);
    const own = numbersOf(username);
    const [list, balance] = [await get("/invoices"), await get("/balance")];
    expect([list.status, linksIn(list.text)]).toEqual([200, own]);
    expect([balance.status, linksIn(balance.text)]).toEqual([200, own.slice(0, 5)]);
    expect(balance.text.includes('href="/invoices"')).toBe(own.length > 0);
  });

  test("opens each of them, and finds those of the others like none", async () => {
    const none = await get("/invoices/C-99");
    expect(none.status).toBe(404);
    for (const owner of RESELLERS) {
      for (const number of numbersOf(owner)) {
        const { status, text } = await get(`/invoices/${number}`);
        expect([number, status]).toEqual([number, owner === username ? 200 : 404]);
        if (owner === username) expect(text).toContain(`${number}</h1>`);
        else expect(text).toBe(none.text);
        expect(text).not.toContain("inner");
      }
    }
  });
});

test("what is no invoice's number is not found", async () => {
  for (const number of ["7", "x", "%00", "C-1x", "c-1"]) {
    expect((await portal.get(`/invoices/${number}`, cookies["en"]!)).status).toBe(404);
  }
});

/** What the documents say in a language, apart from the words of its catalogue. */
const DAYS: Record<Language, { june: string; month: string; total: string }> = {
  en: { june: "Jun 30, 2026", month: "June 2026", total: "$2.00" },
  es: { june: "30 jun 2026", month: "junio de 2026", total: "2,00 $" },
  "pt-BR": { june: "30 de jun. de 2026", month: "junho de 2026", total: "$ 2,00" },
  tr: { june: "30 Haz 2026", month: "Haziran 2026", total: "$2,00" },
  ru: { june: "30 июн. 2026 г.", month: "июнь 2026 г.", total: "2,00 $" },
};

test.each(LANGUAGES)("documents are in the language of the member: %s", async (language) => {
  const texts = CATALOGUES[language] as Record<string, string>;
  const pageOf = async (number: string) =>
    (await portal.get(`/invoices/${number}`, cookies[language]!)).text.replaceAll("\u00a0", " ");
  const { june, month, total } = DAYS[language];
  const monthly = await pageOf("M-1");
  const words = ["invoice.description", "invoice.net", "invoice.total", "invoice.paid"] as const;
  for (const part of [...words.map((key) => texts[key]!), june, month, total, "VAT 20 %"]) {
    expect(monthly).toContain(part);
  }
  expect(monthly).toContain(texts["invoice.correctedBy"]!.replace("{number}", "C-3"));
  const single = await pageOf("C-1");
  const named = texts["invoice.creditNamed"]!.replace(/\{\w+\}/g, "\u0000").split("\u0000");
  for (const part of [...named.map((text) => text.trim()), "wire-7"]) {
    expect(single).toContain(part);
  }
  const correction = await pageOf("C-3");
  expect(correction).toContain(
    texts["invoice.correctionOf"]!.replace("{number}", "M-1").replace("{reason}", "wrong name"),
  );
  if (language !== "en") {
    for (const page of [monthly, single, correction]) {
      expect(page).not.toMatch(/of the prepaid balance|Correction of|Description<|Paid in advance/);
    }
  }
});

test("the days of an invoice and of a statement are those of UTC, whatever the member's time zone", async () => {
  const first = startOfMonth(utcMonthOf(portal.clock.now));
  portal.user("dave");
  const credit = { username: "dave", amountMicros: 1_000_000, note: null, actor: OPERATOR };
  portal.execute("creditUser", credit, first);
  portal.execute("issueInvoices", { limit: 1 }, first);
  const cookie = portal.session(portal.member("dave", "west@dave.example", "viewer"));
  portal.query(
    "UPDATE members SET time_zone = 'Pacific/Honolulu' WHERE email = 'west@dave.example'",
  );
  const day = formatsOf("en", "UTC").date(first);
  const before = formatsOf("en", "UTC").date(first - 1);
  const [number] = numbersOf("dave");
  for (const path of [
    "/invoices",
    `/invoices/${number}`,
    `/balance/${monthText(utcMonthOf(first))}`,
  ]) {
    const { status, text } = await portal.get(path, cookie);
    expect([path, status, text.includes(day), text.includes(before)]).toEqual([
      path,
      200,
      true,
      false,
    ]);
  }
});

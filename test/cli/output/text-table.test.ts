// Tables fit the terminal that they are printed on, and nothing of them is cut.

import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fields, type Row, table } from "../../../src/cli/output/text-table.ts";

const LINK = `https://example.com/${"x".repeat(100)}`;
const order = (more: Row = {}): Row => ({
  order: 12,
  service: "Instagram Followers",
  "charge usd": "1.20",
  ...more,
});
const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe("a table", () => {
  test("has one line for each row when it fits, and always without a terminal", () => {
    const rows = [order({ link: LINK }), order({ link: "short" })];
    for (const width of [Infinity, 200]) {
      expect(table(rows, "", width).split("\n")).toEqual([
        "ORDER  SERVICE              CHARGE USD  LINK",
        `   12  Instagram Followers        1.20  ${LINK}`,
        "   12  Instagram Followers        1.20  short",
      ]);
    }
  });

  test("moves a last column that is too wide to a line of its own", () => {
    expect(table([order({ link: LINK })], "", 80).split("\n")).toEqual([
      "ORDER  SERVICE              CHARGE USD",
      "  LINK",
      "   12  Instagram Followers        1.20",
      `  ${LINK}`,
    ]);
  });

  test("wraps words within their column first", () => {
    const rows = [order({ note: "asked by mail, twice, and then by telephone" })];
    const text = table(rows, "", 60);
    expect(widest(text)).toBeLessThanOrEqual(60);
    expect(text.split("\n")[0]).toMatch(/^ORDER  SERVICE +CHARGE USD  NOTE$/);
    expect(text.split("\n").slice(1)).toEqual([
      "   12  Instagram Followers        1.20  asked by mail,",
      "                                        twice, and then by",
      "                                        telephone",
    ]);
  });

  test("prints no line for an absent value", () => {
    const rows = [order({ link: LINK }), order({ link: null })];
    expect(table(rows, "", 80).split("\n").slice(2)).toEqual([
      "   12  Instagram Followers        1.20",
      `  ${LINK}`,
      "   12  Instagram Followers        1.20",
    ]);
  });

  test("prints columns that do not fit below each row, if they have a value", () => {
    const many = { id: "a".repeat(24), by: "root", change: "price 1 → 2, max 10 → 20", note: null };
    const rows = [
      order({ ...many, address: "https://example.com/hook" }),
      order({ ...many, address: null, note: "by mail" }),
    ];
    expect(table(rows, "", 40).split("\n")).toEqual([
      "ORDER  SERVICE              CHARGE USD",
      "   12  Instagram Followers        1.20",
      `  ID       ${many.id}`,
      "  BY       root",
      "  CHANGE   price 1 → 2, max 10 → 20",
      "  ADDRESS  https://example.com/hook",
      "   12  Instagram Followers        1.20",
      `  ID       ${many.id}`,
      "  BY       root",
      "  CHANGE   price 1 → 2, max 10 → 20",
      "  NOTE     by mail",
    ]);
  });

  test("prints a block of fields for each row when nothing else fits", () => {
    const row = {
      id: "a".repeat(30),
      key: "b".repeat(30),
      lastUsedAt: null,
      label: "c".repeat(30),
    };
    expect(table([row, row], "", 50)).toBe(
      Array(2)
        .fill(`ID         ${row.id}\nKEY        ${row.key}\nLAST USED  -\nLABEL      ${row.label}`)
        .join("\n\n"),
    );
  });

  test("has headings in words, and times to the second", () => {
    const [heading, row] = table(
      [
        {
          lastSuccessAt: "2026-11-22T05:24:13.947Z",
          oldestUncheckedAt: null,
          at: "x",
          apiV2: true,
        },
      ],
      "",
    ).split("\n");
    expect(heading).toBe("LAST SUCCESS          OLDEST UNCHECKED  AT  API V2");
    expect(row).toStartWith("2026-11-22T05:24:13Z  -");
  });

  test("loses no character except spaces, at any width", () => {
    const cell = fc.oneof(
      fc
        .array(fc.stringMatching(/^[a-z0-9:/.]{1,14}$/), { maxLength: 8 })
        .map((words) => words.join(" ")),
      fc.integer({ min: 0, max: 1e9 }),
      fc.boolean(),
    );
    const rows = fc
      .array(fc.tuple(cell, cell, cell, cell), { minLength: 1, maxLength: 5 })
      .map((list) => list.map(([a, b, c, note]): Row => ({ a, b, c, note })));
    // Those of cells: headings are capitals, and an empty cell may take no line.
    const letters = (text: string) =>
      text
        .replace(/[\sA-Z-]/g, "")
        .split("")
        .toSorted()
        .join("");
    fc.assert(
      fc.property(rows, fc.integer({ min: 20, max: 160 }), (list, width) => {
        expect(letters(table(list, "", width))).toBe(letters(table(list, "")));
      }),
    );
  });
});

test("fields have names in words and whole values", () => {
  expect(fields({ resellerId: null, childBalance: 5, at: "2026-11-22T05:24:13.947Z" })).toBe(
    "reseller id    -\nchild balance  5\nat             2026-11-22T05:24:13.947Z",
  );
});

test("a heading that begins with a capital is a unit and stays as it is", () => {
  expect(table([{ name: "a", MiB: 1.5, lastSuccessAt: null }], "").split("\n")[0]).toBe(
    "NAME  MiB  LAST SUCCESS",
  );
});

test("an amount and its time have different names", () => {
  const row = { lastBalance: 5, lastBalanceAt: "2026-11-01T00:00:00.000Z", lastSuccessAt: null };
  expect(
    fields(row)
      .split("\n")
      .map((line) => line.split("  ")[0]!.trim()),
  ).toEqual(["last balance", "last balance at", "last success"]);
  expect(table([row], "").split("\n")[0]).toMatch(/^LAST BALANCE  LAST BALANCE AT +LAST SUCCESS$/);
});

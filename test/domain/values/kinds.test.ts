// Every kind of value, read through every interface from a table of the worst inputs: the verdict is the same.

import { inspect } from "bun";
import { expect, test } from "bun:test";
import { KEY_NETWORKS, NETWORKS } from "../../../src/config/networks.ts";
import { checked } from "../../../src/cli/kernel/values.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import * as declared from "../../../src/domain/values/kinds.ts";
import { readOptional } from "../../../src/http/read/body.ts";
import { readParameter } from "../../../src/http/read/query.ts";
import { readCatalogue } from "../../../src/imports/catalogue.ts";
import { Form } from "../../../src/web/server/form.ts";

type Kind = declared.Kind<unknown>;

const KINDS: Record<string, Kind> = {
  ...(Object.fromEntries(
    Object.entries(declared).filter(([, each]) => typeof each === "object"),
  ) as Record<string, Kind>),
  NETWORKS,
  KEY_NETWORKS,
  CHOICE: declared.oneOf(["PENDING", "none"]),
};

/** The columns of a catalogue that hold a kind. */
const COLUMNS: Record<string, Kind> = {
  name: declared.SERVICE_NAME,
  price: declared.PRICE,
  min: declared.QUANTITY,
  category: declared.CATEGORY,
  id: declared.IDENTIFIER,
  refillDays: declared.REFILL_DAYS,
};

const LENGTHS = [64, 65, 100, 101, 200, 201, 500, 501, 2000, 2048, 2049];
const WORST = [
  ..."0 -0 00 007 1 -1 +1 1.5 1.0 01.50 .5 5. 1e2 1E2 1e400 0x10 0b1 1_000 1,000 1n ١ ½ NaN Infinity null true".split(" "),
  ..."100 101 3650 3651 2592000 2592001 1000000000 1000000001 1000000000.000001 0.000001 0.0000001 99999999999".split(" "),
  ..."9007199254740991 9007199254740992 99999999999999999999 1000000000000000 1000000000000001".split(" "),
  ..."0% 30% 30%% 100% 100.1% 12.34567% -100 -100.1 -99.999999 999999 1000000 -0%".split(" "),
  ..."abc ABC a.b_c-d @ a@b a+b é ß İ none off all __proto__ constructor <b> a/b ../x %00 a%20b PENDING pending".split(" "),
  ..."10s 0s 500ms 59s 60s 1m 1.5h 24h 90d 36525d 36526d 10S 10 1d1h -1s".split(" "),
  ..."10.0.0.0/8 10.0.0.1/8 10.0.0.0/33 10.1 010.0.0.1 2001:db8::/32 2001:db8::1/32 ::ffff:10.0.0.0/104 fe80::1%eth0 1.1.1.1,2.2.2.2 1.1.1.1,".split(" "),
  ..."http://h https://h/p?q#f http://u@h http://:p@h ftp://h javascript:1 //h http:h http://[::1] HTTP://H".split(" "),
  ..."2026-01-31 2026-02-30 2026-1-1 2026-01-31T09:30:00Z 2026-01-31T09:30:00+05:00 2026-01-31T25:00:00Z 2026-01-31T09:30 20260131 +002026-01-31".split(" "),
  ..."eur USD EURO-LAND USDT9 $ 0.012 1/3 1,2 1,x z1,z2".split(" "),
  ..."ann@example.com ann@example @example.com a@b.c, \"a\"@b.c".split(" "),
  "a".repeat(24), `${"a".repeat(23)}!`, "x\u0000y", "x\ny", "x\ty", "x\u0085y", "x\u202ey", "x\ud800", "\ufeffx", "x\u00a0", "a b", "👩‍🚀",
  ...LENGTHS.map((length) => "x".repeat(length)),
  ...LENGTHS.map((length) => `http://${"x".repeat(length - 7)}`),
  Array.from({ length: 51 }, (_, index) => `10.0.0.${index}`).join(","),
]; // prettier-ignore

const shown = (found: unknown) => inspect(found);
const verdictOf = (kind: Kind, text: string) => shown(kind.read(text));

/** What a body, a flag or another interface that throws makes of a value. */
function caught(read: () => unknown): string {
  try {
    return shown({ value: read() });
  } catch (error) {
    if (error instanceof Refusal) return shown({ must: (error.details as { must: string }).must });
    return shown({ must: /^must be ([^]*)\.$/.exec((error as Error).message)?.[1] });
  }
}

const cases = Object.entries(KINDS);

test("every kind that is declared is read, and says what is allowed", () => {
  expect(cases.length).toBeGreaterThan(35);
  for (const [name, { form }] of cases) expect([name, form]).toEqual([name, expect.any(String)]);
});

test.each(cases)("%s: an error has the one wording of its kind", (name, kind) => {
  const REASONS = ["a positive number", "at most 1000000000", "a number with at most six decimals"];
  const told = new Set([kind.form, "at most 50 networks", ...(name === "AMOUNT" ? REASONS : [])]);
  const readings = WORST.map((text) => kind.read(text));
  expect(readings.filter((found) => "must" in found && !told.has(found.must))).toEqual([]);
  expect(readings.some((found) => "value" in found)).toBe(true);
  expect(readings.some((found) => "must" in found)).toBe(true);
});

test.each(cases)("%s: a flag and a parameter give the same answer for every text", (_, kind) => {
  for (const text of [...WORST, "", " ", " 1", "1 ", " a", "a "]) {
    const verdict = verdictOf(kind, text);
    expect([text, caught(() => checked(kind)(text))]).toEqual([text, verdict]);
    // A query has only well-formed text.
    if (!text.isWellFormed()) continue;
    const query = new URLSearchParams({ field: text });
    expect([text, caught(() => readParameter(query, "field", kind))]).toEqual([text, verdict]);
  }
});

test.each(cases)(
  "%s: a form gives the same answer for the trimmed text; an empty one is absent",
  (_, kind) => {
    for (const typed of [...WORST, "", " ", " 1 ", " a"].filter((text) => text.isWellFormed())) {
      const form = new Form(new URLSearchParams({ field: typed }));
      const value = form.optional("field", kind, "wrong");
      const error = form.errors.get("field")?.replace(/^field must be /, "");
      const text = typed.trim();
      const expected = text === "" ? shown({ value: null }) : verdictOf(kind, text);
      const found = error === undefined ? shown({ value }) : shown({ must: error });
      expect([typed, found]).toEqual([typed, expected]);
    }
  },
);

const inBodies = cases.filter(([, kind]) => "readJson" in kind) as [
  string,
  declared.JsonKind<unknown>,
][];

test.each(inBodies)("%s: a body gives the same answer for its text or its number", (_, kind) => {
  const takesText = "value" in kind.readJson(WORST.find((text) => "value" in kind.read(text)));
  for (const text of WORST) {
    const given = takesText ? text : Number(text);
    if (!takesText && String(given) !== text) continue;
    const isWhole = takesText || Number.isInteger(given) || kind === declared.AMOUNT;
    const expected = isWhole ? verdictOf(kind, text) : expect.stringContaining("a whole number");
    expect([text, caught(() => readOptional({ field: given }, "field", kind))]).toEqual([
      text,
      expected,
    ]);
  }
  for (const wrong of [true, [], {}, takesText ? 1 : "1", takesText ? 1.5 : ""]) {
    expect(kind.readJson(wrong)).toHaveProperty("must");
  }
});

test.each(Object.entries(COLUMNS))(
  "the column %s gives the same answer for the trimmed cell",
  (column, kind) => {
    for (const text of WORST.filter((each) => each.trim() !== "")) {
      const row = { name: "n", price: "1", min: "1", max: "1000000000", [column]: text };
      const { wrong } = readCatalogue("rows.json", JSON.stringify([row]));
      const found = kind.read(text.trim());
      const told = wrong.map(({ problem }) => problem);
      const expected = "must" in found ? [`${column} must be ${found.must}`] : [];
      expect([text, told]).toEqual([text, expected]);
    }
  },
);

// Every kind of value with the texts that it reads, and what it reads in them, and with those that it refuses.
// That each interface uses the kinds is tested beside it and, for all at once, in kinds.test.ts.

import { describe, expect, test } from "bun:test";
import { KEY_NETWORKS } from "../../../src/config/networks.ts";
import * as declared from "../../../src/domain/values/kinds.ts";

type Kind = declared.Kind<unknown>;
type Value = string | number | bigint | string[];
type Verdicts = { reads: [text: string, value: Value][]; refuses: string[] };

const KINDS: Record<string, Kind> = {
  ...(Object.fromEntries(
    Object.entries(declared).filter(([, each]) => typeof each === "object"),
  ) as Record<string, Kind>),
  KEY_NETWORKS,
};

const DAY_MS = 86_400_000;
const x = (length: number) => "x".repeat(length);
const same = (...texts: string[]) => texts.map((text): [string, string] => [text, text]);
const CONTROLS = [
  "\0",
  "\u0001",
  "\t",
  "\n",
  "\r",
  "\u001f",
  "\u007f",
  "\u0080",
  "\u0085",
  "\u009f",
];
const RANGE = "a whole number from 1 to 1000000000";
const within = CONTROLS.map((control) => `a${control}b`);
/** What no number may be written as. */
const NO_NUMBERS = [
  "",
  " ",
  " 1",
  "1 ",
  "+1",
  "1_0",
  "0x1",
  "1e2",
  "1e3",
  "1n",
  "x",
  "NaN",
  "Infinity",
  "١",
  "1,5",
];
const NO_WHOLE = [...NO_NUMBERS, "-1", "01", "1.5", "1.0", ".5", "5."];
const NO_NAMES = ["", "a b", " a", "a ", "a\0", "ä", "é", "%61", "\ufffd", "<b>", "a/b", x(65)];
const NO_ADDRESSES = [
  "",
  "acme.example",
  "//acme.example",
  "http:",
  "ftp://acme.example",
  "javascript:1",
  " http://h",
  "http://h/\n",
];

/** Text on one line, of at most so many UTF-16 units. */
const line = (limit: number): Verdicts => ({
  reads: same("a", "a b", "№ 4711/ä", "%_'\"<>&", "9".repeat(20), x(limit), "😀".repeat(limit / 2)),
  refuses: [
    "",
    "  ",
    " a",
    "a ",
    " a ",
    "\ufeffa",
    "a\u3000",
    "\ud800",
    "a\ud800b",
    ...within,
    x(limit + 1),
  ],
});

const whole = (least: number, most: number): Verdicts => ({
  reads: [least, least + 1, most].map((value) => [String(value), value]),
  refuses: [
    ...NO_WHOLE,
    String(least - 1),
    ...(most < 1e15 ? [String(most + 1)] : []),
    "9".repeat(30),
  ],
});

const ADDRESSES: Verdicts = {
  reads: same(
    "http://h",
    "https://acme.example/api/v2?a=b#c",
    "http://[::1]:9/",
    `http://${x(1993)}`,
  ),
  refuses: [
    ...NO_ADDRESSES,
    "http://user:secret@acme.example",
    "http://user@h",
    "http://:secret@h",
    `http://${x(1994)}`,
  ],
};

const time = (dateSpan: number): Verdicts => ({
  reads: [
    ["2026-01-31", Date.UTC(2026, 0, 31) + dateSpan],
    ["2024-02-29", Date.UTC(2024, 1, 29) + dateSpan],
    ["2026-01-31T09:30Z", Date.UTC(2026, 0, 31, 9, 30)],
    ["2026-01-31T09:30:15Z", Date.UTC(2026, 0, 31, 9, 30, 15)],
    ["2026-01-31T09:30:15.5Z", Date.UTC(2026, 0, 31, 9, 30, 15, 500)],
    ["2026-03-02T02:00:00+02:00", Date.UTC(2026, 2, 2)],
    ["2026-03-01T23:00:00-01:00", Date.UTC(2026, 2, 2)],
  ],
  refuses: [
    ..."yesterday 2026 2026-02 2026-02-30 2025-02-29 2026-13-01 2026-00-01 2026-1-1 20260131 +002026-01-31 1767225600".split(
      " ",
    ),
    ..."2026-01-01T24:00:00Z 2026-01-01T25:00Z 2026-01-01T09:60Z 2026-01-01T00:00:00 2026-01-01T09Z 2026-01-01T09:30:00+24:00 2026-01-01t09:30z".split(
      " ",
    ),
    "",
    " 2026-01-31",
    "2026-01-31 09:30:00Z",
    "2026-01-31T09:30:00 02:00",
    "2026-01-31\n",
  ],
});

/** Durations with their milliseconds. */
const DURATIONS: [text: string, value: number][] = [
  ["0", 0], ["0s", 0], ["1ms", 1], ["250ms", 250], ["10s", 10_000], ["59s", 59_000], ["60s", 60_000], ["1m", 60_000],
  ["90m", 5_400_000], ["1.5h", 5_400_000], ["24h", DAY_MS], ["30d", 30 * DAY_MS], ["31d", 31 * DAY_MS], ["90d", 90 * DAY_MS], ["36525d", 36_525 * DAY_MS],
]; // prettier-ignore

const duration = (least: number, most = Infinity): Verdicts => {
  const isIn = (value: number) => value >= least && value <= most;
  return {
    reads: DURATIONS.filter(([, value]) => isIn(value)),
    refuses: [
      ..." |10|-1s|1.5|10 s| 10s|10S|s|1w|1e3s|0x10s|1d1h|36526d".split("|"), "",
      ...DURATIONS.filter(([, value]) => !isIn(value)).map(([text]) => text),
    ],
  };
}; // prettier-ignore

const VERDICTS: Record<string, Verdicts> = {
  USERNAME: { reads: same("anna", "ANNA", ".-_@+", "0", x(64)), refuses: NO_NAMES },
  ADMINISTRATOR_NAME: {
    reads: same("anna", "0", "a.b_c-d", x(32)),
    refuses: [...NO_NAMES, "Anna", ".a", "-a", "_a", "a@b", "a+b", x(33)],
  },
  IDENTIFIER: { reads: same("likes", "A.b_c-9", "..", x(64)), refuses: [...NO_NAMES, "a@b", "a+b"] },
  USER_NAME: line(200),
  KEY_LABEL: line(100),
  SERVICE_NAME: line(200),
  CATEGORY: line(200),
  NOTE: line(500),
  // Notes about a user may have line breaks; blanks at their ends are not kept.
  USER_NOTE: {
    reads: [...same("a", "a b", "a\nb", x(2000), "😀".repeat(1000)), [" a\r\nb ", "a\nb"]],
    refuses: ["", "  ", "\n", x(2001), "a\ud800b", ...within.filter((text) => text !== "a\nb")],
  },
  EMAIL: {
    reads: same("ann@example.com", "Ann.B+c@Mail.Example.com", "a@b.c", "ä@ü.example", `${x(242)}@example.com`),
    refuses: ["", "ann", "@example.com", "ann@", "ann@example", "ann@.com", "ann@example.", "a b@example.com", " a@b.c", "a@b.c ", "a@b@c.d", "<a@b.c>", "a@b.c,d@e.f", '"a"@b.c', "a@[1.1.1.1]", "a\n@b.c", "a\ud800@b.c", `${x(243)}@example.com`],
  },
  REFERENCE: line(64),
  LINK_PART: line(2048),
  SEARCH: line(200),
  LINK: {
    reads: [
      ["  \t\n\u00a0\ufeffabc \r\n\u3000", "abc"],
      [` ${x(2048)} `, x(2048)],
      ...same("a b", x(2048), "😀".repeat(1024)),
    ],
    // An NEL is no white space, so it is not trimmed.
    refuses: ["", "  ", " \u3000\n", x(2049), "a\ud800b", "\ud800", "a\u0085", ...within],
  },
  PROVIDER_URL: ADDRESSES,
  PROVIDER_ORDER: { reads: same("1", "501", "9".repeat(19)), refuses: [...NO_WHOLE, "0", "9".repeat(20)] },
  // With an exponent too, as providers write rates.
  RATE_TO_USD: {
    reads: [["1", "1"], ["0.0120", "0.012"], ["0.0123456789", "0.0123456789"], ["01.50", "1.5"], ["1e-3", "0.001"]],
    refuses: ["", " 2 ", "abc", "0x1", "1,5", "1_0", "+1", "-1", "0", "0.0", "1/3", `0.${"1".repeat(60)}`],
  },
  CURRENCY: { reads: [["USD", "USD"], ["eur", "EUR"]], refuses: ["", "$", " USD", "EURO-LAND", "ü"] },
  MARKUP: {
    reads: [["0", "0"], ["30", "30"], ["30%", "30"], ["12.5", "12.5"], ["999999", "999999"]],
    refuses: [...NO_NUMBERS, "-1", "-1%", "%", "30%%", "1000000", "1.1234567", "abc"],
  },
  PERCENT: {
    reads: [["10", 10_000_000n], ["-2.5", -2_500_000n], ["-100", -100_000_000n], ["999999", 999_999_000_000n]],
    refuses: ["", "abc", "-100.1", "1000000", "30%%", "1e2", "1.1234567", " 1"],
  },
  DISCOUNT: {
    reads: [["0", 0], ["10", 100_000], ["12.5%", 125_000], ["100", 1_000_000]],
    refuses: ["", "-1", "100.1", "101", "12.34567%", "10%%", "1e1", "x", " 1"],
  },
  PRICE: {
    reads: [["0", 0], ["0.000001", 1], ["33.333333", 33_333_333], ["2.32", 2_320_000], ["1000000000", 1e15]],
    refuses: [...NO_NUMBERS, "-1", "-0", ".5", "5.", "0.0000001", "1000000000.000001", "99999999999"],
  },
  RATE_LIMIT: {
    reads: [["0", "0"], ["1/s", "1/s"], ["600/m", "600/m"], ["9999999/h", "9999999/h"]],
    refuses: ["", "0/s", "1", "01/s", "-1/s", "1.5/s", "1/d", "10000000/s", " 1/s", "none"],
  },
  ORDER_LIMIT: whole(0, 1_000_000),
  AMOUNT: {
    reads: [["0.000001", 1], ["1.10", 1_100_000], ["33.333333", 33_333_333], ["1000000000", 1e15], ["999999999.999999", 999_999_999_999_999]],
    refuses: [...NO_NUMBERS, "0", "0.0", "-0", "-1", ".5", "5.", "0.0000001", "1.0000001", "1000000000.000001", `1${"0".repeat(300)}`, "1e12", "1e400"],
  },
  QUANTITY: whole(1, 1_000_000_000),
  COUNT: whole(0, Number.MAX_SAFE_INTEGER),
  REFILL_DAYS: whole(1, 3650),
  NEARBY: whole(1, 5000),
  PRIORITY: whole(0, 1_000_000),
  FIRST_NUMBER: whole(1, 10 ** 15),
  PAGE_SIZE: whole(1, 100),
  GRACE_SECONDS: whole(0, 2_592_000),
  LIST_SIZE: whole(1, Number.MAX_SAFE_INTEGER),
  ORDER_NUMBER: {
    reads: [["1", 1], ["4711", 4711], ["9007199254740991", Number.MAX_SAFE_INTEGER]],
    refuses: [...NO_WHOLE, "0", "9".repeat(17), "1".repeat(400), "a".repeat(24)],
  },
  ORDER_IDS: {
    reads: [["1", ["1"]], ["1, 2,3", ["1", "2", "3"]], [`7,${"a".repeat(24)}`, ["7", "a".repeat(24)]]],
    refuses: ["", ",", "1,,2", "1,", "0", "01", "1;2", "a".repeat(23), "a".repeat(25), "A".repeat(24), "x"],
  },
  DURATION: duration(0),
  LIFETIME: duration(1),
  SYNC_EVERY: duration(60_000),
  HOLD_FOR: duration(3_600_000, 30 * DAY_MS),
  PAUSE_FOR: duration(60_000, 30 * DAY_MS),
  TIME: time(0),
  TIME_TO_END: time(DAY_MS - 1),
  KEY_NETWORKS: {
    reads: [
      ["10.0.0.0/8", "10.0.0.0/8"],
      ["1.1.1.1, 2.2.2.2,1.1.1.1", "1.1.1.1/32,2.2.2.2/32"],
      ["2001:db8::/32", "2001:db8::/32"],
      [Array.from({ length: 50 }, (_, each) => `10.0.0.${each}`).join(), Array.from({ length: 50 }, (_, each) => `10.0.0.${each}/32`).join()],
    ],
    // Forms of one network: test/config/networks.test.ts.
    refuses: ["", ",", "1.1.1.1,", "10.0.0.1/8", "x", Array.from({ length: 51 }, (_, each) => `10.0.0.${each}`).join()],
  },
}; // prettier-ignore

test("every kind has its verdicts", () => {
  expect(Object.keys(VERDICTS).toSorted()).toEqual(Object.keys(KINDS).toSorted());
});

describe.each(Object.entries(VERDICTS))("%s", (name, { reads, refuses }) => {
  const kind = KINDS[name]!;
  test.each(reads)("reads %j", (text, value) => expect(kind.read(text)).toEqual({ value }));
  test.each(refuses)("refuses %j", (text) => {
    expect(kind.read(text)).toEqual({ must: expect.any(String) });
  });
});

test("a choice is one of its words to the letter", () => {
  const kind = declared.oneOf(["PENDING", "none"]);
  for (const word of ["PENDING", "none"] as const) expect(kind.read(word)).toEqual({ value: word });
  for (const other of ["", "pending", "None", " none", "none ", "PENDING,none", "PEND", "0"]) {
    expect([other, kind.read(other)]).toEqual([other, { must: "one of PENDING, none" }]);
  }
});

describe("a quantity in JSON is a whole number in any notation:", () => {
  const read = (literal: string) => declared.QUANTITY.readJson(JSON.parse(literal));
  test.each([
    ["1", 1], ["1e2", 100], ["100.0", 100], ["0.1e3", 100], ["1E+2", 100], ["1000000000", 1e9], ["1e9", 1e9],
  ])("%s", (literal, value) => expect(read(literal)).toEqual({ value })); // prettier-ignore

  test.each(['"100"', "1.5", "1e400", "true", "[100]", '{"valueOf":100}', "null"])(
    "%s is refused",
    (literal) => expect(read(literal)).toEqual({ must: "a whole number" }),
  );

  test.each(["0", "-0", "-1", "1000000001", "9007199254740994"])("%s is out of range", (literal) =>
    expect(read(literal)).toEqual({ must: RANGE }),
  );
});

describe("an amount in JSON is exact:", () => {
  const read = (literal: string) => declared.AMOUNT.readJson(JSON.parse(literal));
  test.each([
    ["0.000001", 1], ["1e-6", 1], ["0.1", 100_000], ["33.333333", 33_333_333], ["1.10", 1_100_000],
    ["1e9", 1_000_000_000_000_000], ["999999999.999999", 999_999_999_999_999],
  ])("%s", (literal, value) => expect(read(literal)).toEqual({ value })); // prettier-ignore

  const DECIMALS = "a number with at most six decimals";
  const POSITIVE = "a positive number";
  test.each([
    ["1e-7", DECIMALS], ["0.30000000000000004", DECIMALS], ["0.0000015", DECIMALS], ["1.0000001", DECIMALS],
    ["0", POSITIVE], ["-0", POSITIVE], ["-0.000001", POSITIVE], ["1e400", POSITIVE], ["true", POSITIVE], ["[1]", POSITIVE], ['"1"', POSITIVE],
    ["1000000000.1", "at most 1000000000"],
  ])("%s is refused", (literal, must) => expect(read(literal)).toEqual({ must })); // prettier-ignore
});

describe("text in JSON is text:", () => {
  test.each(["5", "true", '["x"]', "{}", "null"])("%s is refused", (literal) => {
    for (const kind of [declared.LINK, declared.REFERENCE, declared.USERNAME]) {
      expect(kind.readJson(JSON.parse(literal))).toEqual({ must: kind.form });
    }
  });
});

import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  isExact,
  LongNumber,
  parseJsonExactly,
  parseWithLongNumbers,
} from "../../../src/domain/values/json-numbers.ts";
import { parseJson } from "../../../src/domain/ledger/money.ts";

const FEW = ["0", "-1", "1.5", "1e2", "-1.5E+10", "123456789012345", '"12345678901234567890"'];
const SUSPECT = ["2.9999999999999999999", "-9007199254740993", "1e-400", "0.1e0000000001"];

test("only numbers that may be rounded are looked at one by one: a body has room for 30,000 others", () => {
  const looked: string[] = [];
  const isKept = (number: string) => looked.push(number) > 0 && isExact(number);
  const many = Array.from({ length: 1000 }, () => FEW.join(","));
  const text = `[${many.join(",")},${SUSPECT.join(",")},${many.join(",")}]`;
  const value = parseJsonExactly(text, { replaced: JSON.stringify, isKept }) as unknown[];
  expect(looked).toEqual(SUSPECT);
  const found = value.filter((part) => SUSPECT.includes(String(part)));
  expect(found).toEqual(SUSPECT.slice(0, 3));
  expect(value.length).toBe(2 * 1000 * FEW.length + SUSPECT.length);
});

test("a number that would be rounded keeps its text wherever it stands, and nothing else changes", () => {
  const names = fc.constantFrom("a", "__proto__", "constructor", "0", "", "12345678901234567");
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(
        ...FEW,
        ...SUSPECT,
        "1e400",
        "null",
        "true",
        '"__proto__"',
        '"\\\\"',
        '"\\""',
      ),
      fc.array(tie("tree"), { maxLength: 4 }).map((parts) => `[${parts.join(" ,")}]`),
      fc.array(fc.tuple(names, tie("tree")), { maxLength: 4 }).map((parts) => {
        return `{${parts.map(([name, part]) => `${JSON.stringify(name)}: ${String(part)}`).join(",")}}`;
      }),
    ),
  }));
  const byReviver = (text: string) =>
    parseJson(text, (_, part, { source }) =>
      typeof part === "number" && !isExact(source) ? new LongNumber(source) : part,
    );
  fc.assert(
    fc.property(tree, (text) => {
      expect(parseWithLongNumbers(String(text))).toStrictEqual(byReviver(String(text)));
    }),
    { numRuns: 2000 },
  );
});

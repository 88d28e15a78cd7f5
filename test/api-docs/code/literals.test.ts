// Values of JSON in the literals of other languages.

import { expect, test } from "bun:test";
import { JAVASCRIPT, literal, PHP, PYTHON } from "../../../src/api-docs/code/literals.ts";

const VALUE = {
  text: `it's "a" \\ $b`,
  lines: "one\ntwo $x",
  "a-b": [1, -2.5, true, false, null],
  inner: { list: [{ name: "a long text that fills a line of its own" }], empty: [] },
};

/** Runs a program that prints the literal as JSON. */
function printed(command: string[]): unknown {
  const { stdout, stderr } = Bun.spawnSync(command);
  expect(stderr.toString()).toBe("");
  return JSON.parse(stdout.toString());
}

test("JavaScript reads its literal as the value", () => {
  const code = `console.log(JSON.stringify(${literal(VALUE, JAVASCRIPT)}))`;
  expect(printed([process.execPath, "-e", code])).toEqual(VALUE);
});

test("a literal breaks into lines when it is long, and stays on one when it is short", () => {
  expect(literal({ a: "b", c: [1] }, JAVASCRIPT)).toBe('{ a: "b", c: [1] }');
  expect(literal({ a: null, b: true }, PYTHON)).toBe('{"a": None, "b": True}');
  expect(literal({ a: "it's", b: "1\n$" }, PHP)).toBe(String.raw`['a' => 'it\'s', 'b' => "1\n\$"]`);
  expect(literal({ first: "x".repeat(30), second: ["y"] }, PYTHON, 4)).toBe(
    `{\n        "first": "${"x".repeat(30)}",\n        "second": ["y"],\n    }`,
  );
});

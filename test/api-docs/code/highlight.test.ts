// Colouring changes no character of the code.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Syntax, tokensOf } from "../../../src/api-docs/code/highlight.ts";
import { runs } from "../../support/runs.ts";

const SYNTAXES: readonly Syntax[] = ["shell", "javascript", "python", "php", "json", "text"];

test.each([...SYNTAXES])("%s: the tokens of any text are that text", (syntax) => {
  const parts = fc.constantFrom(`"`, `'`, "`", `"""`, "#", "//", "/*", "*/", "\\", "\n", "$x", "9");
  const code = fc.array(fc.oneof(parts, fc.string())).map((all) => all.join(""));
  fc.assert(
    fc.property(code, (text) => {
      const tokens = tokensOf(text, syntax);
      expect(tokens.map((token) => token.text).join("")).toBe(text);
    }),
    { numRuns: runs(100, 10_000) },
  );
});

test.each([
  ["shell", "# a 'b'\ncurl -H \"x: $key\" # c", ["c# a 'b'", "kcurl", "k-H", 's"x: $key"', "c# c"]],
  ["javascript", 'const a = "b // c"; // 1', ["kconst", 's"b // c"', "c// 1"]],
  ["python", "import a  # it's\nb = f\"{c['d']}\"", ["kimport", "c# it's", "sf\"{c['d']}\""]],
  ["php", "<?php\n$a = ['b' => 1]; // c", ["k<?php", "v$a", "s'b'", "n1", "c// c"]],
  ["json", '{"a": "b", "c": -1.5, "d": null}', ['v"a"', 's"b"', 'v"c"', "n-1.5", 'v"d"', "knull"]],
] as const)("%s: %j", (syntax, code, expected) => {
  const coloured = tokensOf(code, syntax).filter(({ kind }) => kind !== null);
  expect(coloured.map(({ kind, text }) => `${kind}${text}`)).toEqual([...expected]);
});

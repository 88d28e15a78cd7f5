// The rules of systemd's EnvironmentFile=, from systemd.exec(5) and its env-file.c; test/system/binary/env-file.binary.ts asks
// systemd itself.

import { describe, expect, test } from "bun:test";
import { EnvFileError, parseEnvFile } from "../../src/config/env-file.ts";

const parsed = (text: string) => Object.fromEntries(parseEnvFile(text));

describe("a file of variables is read as systemd reads it:", () => {
  test.each<[string, string, Record<string, string>]>([
    ["one assignment per line", "A=1\nB=2\n", { A: "1", B: "2" }],
    ["the last line may lack its end", "A=1\nB=2", { A: "1", B: "2" }],
    ["lines that end in CR LF", "A=1\r\nB=2\r\n", { A: "1", B: "2" }],
    ["empty lines, # and ; comments", "\n# A=0\n ; B=0\n\nA=1\n", { A: "1" }],
    ["a # within a value is part of it", "A=1 # one\n", { A: "1 # one" }],
    ["spaces around name and value are ignored", "  A = 1 2 \t\n", { A: "1 2" }],
    ["a later assignment counts", "A=1\nA=2\n", { A: "2" }],
    ["an empty value", "A=\nB=''\n", { A: "", B: "" }],
    ["a line without = is ignored", "A\nB=2\n", { B: "2" }],
    ["the first = ends the name", "A=b=c\n", { A: "b=c" }],
    ["single quotes keep all but themselves", "A=' $x \\\" '\n", { A: ' $x \\" ' }],
    ["double quotes keep spaces", 'A=" 1 "\n', { A: " 1 " }],
    ["double quotes with escapes", 'A="\\"\\\\\\$\\`\\n"\n', { A: '"\\$`\\n' }],
    ["quotes may span lines", "A='1\n2'\nB=3\n", { A: "1\n2", B: "3" }],
    ["text may follow quotes", "A='1' 2\"3\"\n", { A: '12"3"' }],
    ["quotes within a value are part of it", 'A=1"2"\n', { A: '1"2"' }],
    ["a backslash takes the next character as it is", "A=\\ \\'1\\\\\n", { A: " '1\\" }],
    ["a backslash joins lines", "A=1\\\n2\nB=3\n", { A: "12", B: "3" }],
    ["a backslash in double quotes joins lines", 'A="1\\\n2"\n', { A: "12" }],
    ["variables are not expanded", "A=1\nB=$A ${A}\n", { A: "1", B: "$A ${A}" }],
    ["quotes that are not closed end with the file", "A='1\nB=2\n", { A: "1\nB=2\n" }],
  ])("%s", (_, text, variables) => {
    expect(parsed(text)).toEqual(variables);
  });

  test("a comment that ends in a backslash is refused: systemd 253 and 254 differ", () => {
    expect(() => parsed("A=1\n# c\\\nB=2\n")).toThrow(EnvFileError);
    expect(parsed("# c\\d\nB=2\n")).toEqual({ B: "2" });
  });
});

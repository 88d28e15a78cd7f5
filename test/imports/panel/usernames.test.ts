// Usernames of an import with `usernameTwice = "suffix"`: generated users whose names clash with each other's suffixes.

import fc from "fast-check";
import { expect, test } from "bun:test";
import { USERNAME } from "../../../src/domain/values/kinds.ts";
import { Usernames } from "../../../src/imports/panel/usernames.ts";

interface Row {
  source: string;
  username: string;
}

/** Names and ids of few letters, so that suffixes are often names of others; some of them are as long as can be. */
const ID = fc.constantFrom("1", "2", "3", "1-2", "2 2", "2_2", "x".repeat(64), "é", "ü");
const NAME = fc.oneof(
  fc.constantFrom("a", "A", "a-1", "A-2", "a-1-2", "a-1-2-2", "a-_", "a-_-2", "b", "b-3"),
  fc.constantFrom("x".repeat(64), `${"x".repeat(62)}-1`, `X${"x".repeat(61)}-2`),
);
const USERS = fc.uniqueArray(fc.record({ source: ID, username: NAME }), {
  selector: ({ source }) => source,
  maxLength: 9,
});

function nameAll(rows: readonly Row[], imported: ReadonlyMap<string, string>): Map<string, string> {
  const names = new Usernames(imported);
  for (const { source, username } of rows) names.claim(source, username);
  return new Map(
    rows.map(({ source, username }) => [source, names.nameOf(source, username)] as const),
  );
}

const lower = (names: Iterable<string>) => [...names].map((name) => name.toLowerCase());

test("every user gets a valid name of its own, and the first with a name keeps it", () => {
  fc.assert(
    fc.property(USERS, (rows) => {
      const named = nameAll(rows, new Map());
      const names = lower(named.values());
      expect(new Set(names).size).toBe(rows.length);
      for (const name of named.values()) expect(USERNAME.read(name)).toEqual({ value: name });
      const given = lower(rows.map(({ username }) => username));
      rows.forEach(({ source, username }, index) => {
        if (given.indexOf(username.toLowerCase()) === index) {
          expect(named.get(source)).toBe(username);
        }
      });
    }),
    { numRuns: 2000 },
  );
});

test("a repeated import, of which a part was written before, gives the same names, whoever came since", () => {
  fc.assert(
    fc.property(USERS, USERS, fc.nat(9), (rows, later, written) => {
      const named = nameAll(rows, new Map());
      const before = new Map([...named].slice(0, written));
      expect(nameAll(rows, before)).toEqual(named);
      const all = [...rows, ...later.filter(({ source }) => !named.has(source))];
      const again = nameAll(all, named);
      for (const [source, name] of named) expect(again.get(source)).toBe(name);
      expect(new Set(lower(again.values())).size).toBe(all.length);
    }),
    { numRuns: 2000 },
  );
});

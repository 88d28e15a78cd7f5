// Ids: cuid2's form, no two alike, no character favoured.

import { expect, test } from "bun:test";
import { isCuid } from "@paralleldrive/cuid2";
import { createId } from "../../src/operations/ids.ts";

const IDS = Array.from({ length: 20_000 }, createId);

test("an id is a cuid2 to the library of that name: a letter and 23 letters or digits", () => {
  expect(IDS.filter((id) => !isCuid(id))).toEqual([]);
  expect(IDS.filter((id) => !/^[a-z][a-z0-9]{23}$/.test(id))).toEqual([]);
});

test("no id comes twice", () => {
  expect(new Set(IDS).size).toBe(IDS.length);
});

test("every character is as likely as any other, at every place", () => {
  for (const [place, choices] of [
    [0, 26],
    [1, 36],
    [12, 36],
    [23, 36],
  ] as const) {
    const counts = new Map<string, number>();
    for (const id of IDS) counts.set(id[place]!, (counts.get(id[place]!) ?? 0) + 1);
    expect(counts.size).toBe(choices);
    const expected = IDS.length / choices;
    // Six standard deviations: once in some ten million runs by chance.
    const tolerance = 6 * Math.sqrt(expected);
    for (const count of counts.values()) expect(Math.abs(count - expected)).toBeLessThan(tolerance);
  }
});

// Ids of services made of their names.

import { expect, test } from "bun:test";
import fc from "fast-check";
import { freeId, slugOf } from "../../../src/domain/catalogue/service-ids.ts";
import { isIdentifier } from "../../../src/domain/values/text.ts";

test.each([
  ["Instagram Likes [HQ]", "instagram-likes-hq"],
  ["  Été — ½ price!  ", "ete-1-2-price"],
  ["粉丝 👍", "service"],
  ["---", "service"],
  ["A".repeat(200), "a".repeat(56)],
  [`${"a".repeat(55)} b`, "a".repeat(55)],
])("%p becomes %p", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test("all names get well-formed, unique ids", () => {
  const names = fc.array(fc.oneof(fc.string({ unit: "grapheme" }), fc.constant("Likes")), {
    maxLength: 30,
  });
  fc.assert(
    fc.property(names, (all) => {
      const taken = new Set<string>();
      for (const name of all) {
        const id = freeId(name, (each) => taken.has(each));
        expect([isIdentifier(id), taken.has(id)]).toEqual([true, false]);
        taken.add(id);
      }
    }),
  );
});

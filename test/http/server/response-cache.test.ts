// The response cache: bodies are reused while they are valid, and never exceed the limit.

import { expect, test } from "bun:test";
import {
  createResponseCache,
  type ResponseCache,
} from "../../../src/http/server/response-cache.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";

const isKept = (kept: ResponseCache, version: number, owner: number | null): boolean =>
  kept.get(version, owner) !== undefined;

/** The body that is cached, or the one that `make` makes now, which is cached then. */
function bodyOf(
  kept: ResponseCache,
  version: number,
  owner: number | null,
  make: () => string,
): string {
  const cached = kept.get(version, owner);
  if (cached !== undefined) return cached;
  const body = make();
  kept.set(version, owner, body);
  return body;
}

const never = (): string => {
  throw new Error("it was made again");
};

test("a body is made once for each owner and version", () => {
  const kept = createResponseCache(100);
  expect(bodyOf(kept, 1, null, () => "all")).toBe("all");
  expect(bodyOf(kept, 1, 3, () => "three")).toBe("three");
  expect([bodyOf(kept, 1, null, never), bodyOf(kept, 1, 3, never)]).toEqual(["all", "three"]);
  expect(bodyOf(kept, 2, null, () => "all, again")).toBe("all, again");
  expect(bodyOf(kept, 2, 3, () => "three, again")).toBe("three, again");
  // A database may be put back to where it was.
  expect(bodyOf(kept, 1, 3, () => "three, once more")).toBe("three, once more");
});

test("a body that could not be made is not cached, and the next one is", () => {
  const kept = createResponseCache(100);
  expect(() => bodyOf(kept, 1, 3, never)).toThrow("made again");
  expect(bodyOf(kept, 1, 3, () => "three")).toBe("three");
  expect(bodyOf(kept, 1, 3, never)).toBe("three");
});

test("the least recently used body is evicted", () => {
  const kept = createResponseCache(30);
  for (const owner of [1, 2, 3]) bodyOf(kept, 1, owner, () => "0123456789");
  bodyOf(kept, 1, 1, never);
  bodyOf(kept, 1, 4, () => "0123456789");
  expect([1, 2, 3, 4].map((owner) => isKept(kept, 1, owner))).toEqual([true, false, true, true]);
});

test("a body larger than the limit is returned, not cached, and evicts nothing", () => {
  const kept = createResponseCache(10);
  bodyOf(kept, 1, 1, () => "0123456789");
  expect(bodyOf(kept, 1, 2, () => "0123456789a")).toBe("0123456789a");
  expect([isKept(kept, 1, 1), isKept(kept, 1, 2)]).toEqual([true, false]);
});

test("cached bodies never exceed the limit, and fill it, in any order of reads", () => {
  const LIMIT = 1000;
  const LARGEST = 300;
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = randomFrom(seed);
  const kept = createResponseCache(LIMIT);
  const given = new Map<number, string>();
  for (let asked = 0; asked < 2000; asked++) {
    const version = 1 + Math.floor(asked / 500);
    if (asked % 500 === 0) given.clear();
    const owner = below(random, 40);
    const make = () => "x".repeat(1 + below(random, LARGEST));
    given.set(owner, bodyOf(kept, version, owner, make));
    if (asked % 500 !== 499) continue;
    const owners = [...given.keys()].filter((each) => isKept(kept, version, each));
    const characters = owners.reduce((sum, each) => sum + given.get(each)!.length, 0);
    expect([seed, characters <= LIMIT]).toEqual([seed, true]);
    expect([seed, characters > LIMIT - LARGEST]).toEqual([seed, true]);
  }
});

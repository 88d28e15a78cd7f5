// Uptime: whoever counts it, no time is counted twice.

import { describe, expect, test } from "bun:test";
import { execute } from "../../../src/operations/batch/execute.ts";
import { ENGINES, freshStore, type TestStore } from "../../support/databases/stores.ts";

const add = async (store: TestStore, milliseconds: number, seen: number | null) =>
  execute(store, "addUptime", { milliseconds, seen }, 0);

describe.each(ENGINES)("uptime on %s", (engine) => {
  test("grows by the time that a server adds to what it saw, and not for a server that saw less", async () => {
    const store = await freshStore(engine);
    expect(await add(store, 500, null)).toEqual({ milliseconds: 0, added: false });
    expect(await add(store, 60_000, 0)).toEqual({ milliseconds: 60_000, added: true });
    expect(await add(store, 60_000, 0)).toEqual({ milliseconds: 60_000, added: false });
    expect(await add(store, 1000, 60_000)).toEqual({ milliseconds: 61_000, added: true });
    await store.close();
  });
});

test.each(ENGINES)(
  "only one of several servers that add at the same time succeeds, on %s",
  async (engine) => {
    const store = await freshStore(engine);
    for (let round = 0; round < 20; round += 1) {
      const seen = round * 10;
      const results = await Promise.all([1, 2, 3, 4].map(() => add(store, 10, seen)));
      expect(results.filter(({ added }) => added).length).toBe(1);
      expect((await add(store, 0, null)).milliseconds).toBe(seen + 10);
    }
    await store.close();
  },
);

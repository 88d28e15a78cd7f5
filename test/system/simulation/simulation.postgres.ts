// The same market on both engines.

import { expect, test } from "bun:test";
import type { Engine } from "./databases.ts";
import { simulate } from "./simulate.ts";
import { runs } from "../../support/runs.ts";

test("a market takes the same steps on PostgreSQL as on SQLite", async () => {
  for (const seed of runs([2], [2, 3])) {
    const onSqlite = await traceOf(seed);
    expect(await traceOf(seed, "postgres")).toEqual(onSqlite);
    expect(onSqlite.length).toBeGreaterThan(20);
  }
});

async function traceOf(seed: number, engine?: Engine): Promise<string[]> {
  const lines: string[] = [];
  const { finding } = await simulate(seed, (line) => lines.push(line), engine);
  expect(finding).toBeNull();
  // Ids are random on PostgreSQL. Its totals are counted some transactions later, so an alert about unusual spend may
  // tell other amounts.
  return lines.map((line) =>
    line
      .replaceAll(/\b[a-z][a-z0-9]{23}\b/g, "an id")
      .replace(/^(.*?"kind":"spend_unusual","subject":"an id","message":)".*$/, "$1 amounts"),
  );
}

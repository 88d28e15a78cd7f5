// The markers of committed batches: old ones are deleted, those that may still be asked for are not.

import { expect, test } from "bun:test";
import { deleteOldMarkers } from "../../../../src/db/postgres/batch/markers.ts";
import { createPostgresStore } from "../../../../src/db/postgres/batch/store.ts";
import { cluster } from "../../../support/databases/postgres.ts";

const DAY = 24 * 3_600_000;

test("markers older than a day are deleted, in pieces, and no others", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const now = Date.now();
  const idAt = (time: number) => Bun.randomUUIDv7("hex", time);
  const young = [idAt(now - DAY + 1000), idAt(now)];
  const ids = [...young, ...Array.from({ length: 10_001 }, () => idAt(now - DAY - 1000))];
  await server.query(
    database,
    `INSERT INTO batches (id) VALUES ${ids.map((id) => `('${id}')`).join()}`,
  );
  expect(await deleteOldMarkers(store, now)).toBe(true);
  expect(await deleteOldMarkers(store, now)).toBe(false);
  const left = await server.query(database, "SELECT id FROM batches WHERE NOT void");
  const kept = left.map(({ id }) => id as string);
  expect(kept).toEqual(expect.arrayContaining(young));
  // The two deletions left markers of their own.
  expect(kept.length).toBe(4);
  await store.close();
});

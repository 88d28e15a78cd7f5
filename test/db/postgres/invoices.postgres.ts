// Invoices with two servers on one database, one of which is killed again and again: numbers without gaps, each credit once.

import { expect, test } from "bun:test";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { execute } from "../../../src/operations/batch/execute.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { verifyStore } from "../../support/databases/verify.ts";

const LOAD = new URL("./invoice-load.ts", import.meta.url).pathname;
const KILLS = 4;

test("two servers and kills leave no gap in the numbers, and invoice every credit exactly once", async () => {
  const server = await cluster();
  const database = await server.createDatabase();
  const store = createPostgresStore(server.address(database));
  const actor = { keyId: null, operator: "tester" };
  const changes = { mode: "credit", sellerName: "s", sellerAddress: "a", prefix: "A-" } as const;
  await execute(store, "setInvoicing", { changes, actor }, 1);
  for (const username of ["alice", "bob"]) {
    await execute(store, "createUser", { username, name: "", parent: null, actor }, 1);
  }
  const start = (rounds: number) =>
    Bun.spawn([process.execPath, LOAD, String(server.port), database, String(rounds)], {
      stdout: "pipe",
      stderr: "inherit",
    });
  const steady = start(60);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const killed = start(1000);
    const lines = killed.stdout.getReader();
    // Some rounds are committed before the kill, which hits whatever is under way.
    for (let seen = 0; seen < 3; seen += 1) await lines.read();
    killed.kill("SIGKILL");
    await killed.exited;
  }
  expect(await steady.exited).toBe(0);
  while ((await execute(store, "issueInvoices", { limit: 50 }, Date.now())) > 0);
  const [row] = await server.query(
    database,
    `SELECT count(*)::int AS invoices, min(number)::int AS first, max(number)::int AS last,
      (SELECT count(*)::int FROM invoice_items) AS items,
      (SELECT count(*)::int FROM invoice_items WHERE invoice_id IS NULL) AS due,
      (SELECT count(*)::int FROM transfers) AS transfers FROM invoices`,
  );
  const { invoices, items, transfers, due } = row as Record<string, number>;
  expect(row).toMatchObject({ first: 1, last: invoices, due: 0 });
  expect([items, transfers]).toEqual([invoices!, invoices!]);
  expect(invoices!).toBeGreaterThan(60 * 3);
  expect(due).toBe(0);
  expect(await verifyStore({ store })).toEqual([]);
  await store.close();
});

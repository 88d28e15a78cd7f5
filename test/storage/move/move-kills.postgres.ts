// A move to PostgreSQL whose process dies at any of its steps: nobody takes what it left for an empty database.

import { expect, test } from "bun:test";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { move, type MoveTarget } from "../../../src/storage/move/move.ts";
import { openTarget } from "../../../src/storage/move/move-postgres.ts";
import { openSource } from "../../../src/storage/move/move-sqlite.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";
import { cluster } from "../../support/databases/postgres.ts";
import { freshSqliteDatabase } from "../../support/databases/test-database.ts";

const STEPS_LIMIT = 500;

/** Ends the connections of the target before its call of that number, from 1, as the death of its process does. */
function dyingAt(target: MoveTarget, step: number, kill: () => Promise<void>): MoveTarget {
  let calls = 0;
  const dying = <A extends unknown[], T>(call: (...args: A) => T) =>
    (async (...args: A) => {
      if (++calls === step) await kill();
      return call(...args);
    }) as unknown as (...args: A) => T;
  return {
    ...target,
    insert: dying((table, rows) => target.insert(table, rows)),
    update: dying((table, fields, rows) => target.update(table, fields, rows)),
    setNumbers: dying((numbers) => target.setNumbers(numbers)),
    finishRows: dying(() => target.finishRows()),
    verify: dying((progress) => target.verify(progress)),
    commit: dying(() => target.commit()),
  };
}

test("every command refuses the target until a repeated move has ended, whichever step the one before died at", async () => {
  const shop = openShop({ database: freshSqliteDatabase() });
  shop.order(10);
  const server = await cluster();
  const name = `killed_moves_${process.pid}`;
  await server.query("postgres", `CREATE DATABASE ${name}`);
  const url = `postgres://postgres@127.0.0.1:${server.port}/${name}`;
  const address = parseAddress(url);
  const kill = async () => {
    await server.query(
      "postgres",
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reseller move'",
    );
  };
  const attempt = async (step: number): Promise<boolean> => {
    const source = openSource(shop.folder);
    try {
      const target = await openTarget(address, 1);
      try {
        await move(source, dyingAt(target, step, kill), () => {});
        return true;
      } catch {
        return false;
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  };
  let step = 1;
  for (; step < STEPS_LIMIT && !(await attempt(step)); step += 1) {
    const { code, stderr } = await reseller("admin", "user", "list", "--database", url);
    expect([step, code]).toEqual([step, 1]);
    expect(stderr).toContain("is the target of an unfinished move: repeat the move, or drop");
  }
  // Each of its tables, and what follows.
  expect(step).toBeGreaterThan(10);
  expect((await reseller("admin", "user", "list", "--database", url)).code).toBe(0);
  expect((await reseller("verify", "--database", url)).code).toBe(0);
});

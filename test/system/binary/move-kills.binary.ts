// `move` to a data directory, killed after each change of a name and each sync that it makes: no server and no command takes
// what it left for an empty database, and the move can be repeated.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { claimDataDirectory } from "../../../src/storage/file/open.ts";
import { binary, binaryJson, binaryWith } from "../../support/binary.ts";
import { openShop } from "../../support/worlds/shop.ts";
import { runs } from "../../support/runs.ts";
import { freshFolder } from "../../support/folders.ts";
import { freshPostgresDatabase } from "../../support/databases/test-database.ts";
import { compileShim } from "../powercut/shim.ts";

/** More than a move takes. */
const STEPS_LIMIT = 200;
/** A move is repeated after every kill of that number. */
const REPEATED = 6;
/** Each so many steps it is killed. */
const STRIDE = runs(5, 1);

test.each(["none", "a database without rows"])(
  "kill -9 after each step of a move to a data directory with %s",
  async (there) => {
    const shim = await compileShim();
    const shop = openShop({ database: freshPostgresDatabase() });
    shop.order(10);
    const from = shop.location.database!;
    const killed = { refused: 0, complete: 0, nothing: 0 };
    let kill = 1;
    for (; kill < STEPS_LIMIT; kill += STRIDE) {
      const folder = freshFolder();
      const move = ["move", "--from", from, "--to", folder];
      if (there !== "none") claimDataDirectory(folder, 1).release();
      const { code } = await binaryWith(shim.environment(folder, { kill }), folder, ...move);
      if (code === 0) break;
      expect(code).toBe(137);
      const list = await binary(folder, "admin", "user", "list", "--data", folder, "--json");
      if (list.code === 0 && list.stdout.includes("alice")) killed.complete += 1;
      else if (list.code === 0 || !hasTarget(folder)) killed.nothing += 1;
      else {
        killed.refused += 1;
        expect(list.stderr).toContain("is the target of an unfinished move: repeat the move");
        // As the command line: one look costs as much as a step.
        if (killed.refused === 1) {
          const serve = await binary(folder, "serve", "--data", folder, "--port", "0");
          expect([serve.code, serve.stderr]).toEqual([
            1,
            expect.stringContaining("unfinished move"),
          ]);
        }
      }
      // A whole move each time would cost as much again.
      if (!list.stdout.includes("alice") && kill % REPEATED === 0)
        await binaryJson(folder, ...move);
    }
    shop.close();
    expect(kill).toBeLessThan(STEPS_LIMIT);
    // Kills hit both the time before the target is marked and the time in which it is.
    expect(killed.refused).toBeGreaterThan(0);
    expect(killed.nothing).toBeGreaterThan(0);
  },
);

const hasTarget = (folder: string) =>
  ["reseller.db", "reseller.db.moving"].some((name) => existsSync(join(folder, name)));

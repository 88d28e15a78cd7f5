// A restore must not lose the writes of a command that runs at the same time.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { BackupError, copyDatabase } from "../../src/storage/backup.ts";
import { restoreDatabase } from "../../src/storage/restore.ts";
import { openShop } from "../support/cli.ts";

test("a command that writes to the database while it is replaced is not lost: nothing is restored", async () => {
  const shop = openShop();
  const file = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, file);
  const attempt = () =>
    restoreDatabase(file, shop.folder, Date.now(), () => shop.user("carol", "5"));
  expect(attempt).toThrow(BackupError);
  expect(shop.balance("carol")).toBe(5_000_000);
  expect(readdirSync(shop.folder).filter((name) => name.includes("restor"))).toEqual([]);
  expect((await shop.cli("admin", "user", "show", "carol")).code).toBe(0);
});

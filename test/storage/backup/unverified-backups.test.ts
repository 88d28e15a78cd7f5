// A backup in which `verify` finds problems: kept, marked, reported and restored only on purpose.

import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { listBackups, nextBackup, outdated } from "../../../src/storage/backup/backup-folder.ts";
import { removeOutdated } from "../../../src/storage/backup/backup-removal.ts";
import { isVerifiedName, unverifiedName } from "../../../src/storage/backup/backup-names.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";
import { freshFolder } from "../../support/folders.ts";

const INSTANCE = "abcdefghijkl";

/** A shop in which one row looks wrong. */
function wrongShop() {
  const shop = openShop();
  shop.query("UPDATE users SET deposited_micros = deposited_micros + 1 WHERE username = 'bob'");
  return shop;
}

test("a backup that fails verification is kept as unverified, and the command exits 1 with the problem", async () => {
  const shop = wrongShop();
  const file = join(freshFolder(), "monday.db");
  const made = await shop.cli("backup", file, "--json");
  const kept = unverifiedName(file);
  expect(basename(kept)).toBe("monday.unverified.db");
  expect(made).toMatchObject({
    code: 1,
    json: { file: kept, verified: false, fault: expect.stringContaining("user bob: deposits") },
    stderr: expect.stringContaining("the backup was made, but it does not add up (1 problem"),
  });
  expect([existsSync(file), existsSync(kept)]).toEqual([false, true]);
  const again = await shop.cli("backup", file);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("already exists") });
  // It says what is wrong with it, in full.
  const found = await shop.cli("verify", "--file", kept);
  expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining("deposits equal") });
});

test("a backup whose rows no check can read is kept and marked, too", async () => {
  const shop = openShop();
  shop.query("DROP TABLE order_costs");
  const file = join(freshFolder(), "monday.db");
  expect((await shop.cli("backup", file)).code).toBe(1);
  expect(existsSync(unverifiedName(file))).toBe(true);
});

test.each([
  ["a row looks wrong", "UPDATE users SET deposited_micros = deposited_micros + 1"],
  ["the schema differs", "DROP INDEX webhook_events_by_time"],
])(
  "a backup in which %s is restored only with --unverified, and refused before anything changes",
  async (_, damage) => {
    const shop = openShop();
    shop.query(damage);
    const file = unverifiedName(join(freshFolder(), "monday.db"));
    await shop.cli("backup", file.replace(".unverified", ""));
    const data = join(freshFolder(), "data");
    const restore = (...flags: string[]) => reseller("restore", file, "--data", data, ...flags);
    const refused = await restore();
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    expect(refused.stderr).toContain("nothing was changed; choose an older backup");
    expect(refused.stderr).toContain("--unverified");
    expect(existsSync(join(data, "reseller.db"))).toBe(false);
    const restored = await restore("--unverified", "--json");
    expect(restored).toMatchObject({ code: 0, json: { ok: false } });
    expect(restored.json.fault).toContain("does not add up");
    expect((await reseller("admin", "user", "list", "--data", data)).code).toBe(0);
    const twice = await restore("--unverified");
    expect(twice).toMatchObject({ code: 0, stdout: expect.stringContaining("NOT VERIFIED") });
  },
);

test("the newest backup and the newest verified one are always kept, with at most one more than the limit", () => {
  const backups = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(backups, fc.integer({ min: 1, max: 5 }), (verified, keep) => {
      const all = verified.map((isVerified, age) => ({ isVerified, age }));
      const removed = outdated(all, keep);
      const kept = all.filter((each) => !removed.includes(each));
      const newest = all.find(({ isVerified }) => isVerified);
      expect(kept[0]).toBe(all[0]!);
      if (newest) expect(kept).toContain(newest);
      expect(kept.length).toBeGreaterThanOrEqual(Math.min(keep, all.length));
      expect(kept.length).toBeLessThanOrEqual(keep + 1);
      const isOld = newest !== undefined && newest.age >= keep;
      expect(kept.length === keep + 1).toBe(isOld);
    }),
  );
});

test("backups that do not verify never push out the last verified one from the folder, and the next verified one ends that", async () => {
  const folder = freshFolder();
  let at = Date.now() - 86_400_000;
  const make = async (isVerified: boolean) => {
    const file = nextBackup(folder, INSTANCE, (at += 60_000));
    const named = isVerified ? file : unverifiedName(file);
    writeFileSync(named, "");
    await removeOutdated(folder, INSTANCE, 2, named);
    return listBackups(folder, INSTANCE, Date.now())
      .map((each) => {
        expect(each.isVerified).toBe(isVerifiedName(basename(each.file)));
        return each.isVerified ? "+" : "-";
      })
      .join("");
  };
  const seen = [];
  for (const isVerified of [true, true, false, false, false, true, false, true, true]) {
    seen.push(await make(isVerified));
  }
  expect(seen).toEqual(["+", "++", "-+", "--+", "--+", "+-", "-+", "+-", "++"]);
});

// Payments across a restore: what was under way is read again and credited once, and methods, files and decisions are there.

import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { copyDatabase } from "../../../src/storage/backup/copy.ts";
import { freshSqliteDatabase } from "../../support/databases/test-database.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { openShop, reseller } from "../../support/worlds/shop.ts";

const NOW = Date.now();
const SETTINGS = JSON.stringify({ secret: `whsec_${Buffer.alloc(32, 5).toString("base64")}` });
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);

test("a payment that was credited since the backup is credited once by the next reading, and nothing else is", async () => {
  const shop = openShop({ engine: "sqlite" });
  const actor = seedMember(shop, "carol");
  seedMethod(shop, "card", "stripe");
  seedMethod(shop, "program", "callback", { settings: SETTINGS });
  seedMethod(shop, "bank", "manual");
  const ask = (methodId: string) => askPayment(shop, { methodId, actor, now: NOW });
  const [under, done, program, byHand] = [ask("card"), ask("card"), ask("program"), ask("bank")];
  const reading = (paymentId: string) => ({
    state: "paid" as const,
    paymentId,
    amountMicros: 10 * DOLLAR,
    currency: "USD",
    refundedMicros: 0,
    disputedMicros: 0,
    cause: null,
  });
  const read = (id: string) => ({ id, reference: `c-${id}`, reads: 1, reading: reading(id) });
  const page = { reference: `c-${under}`, url: "https://pay.example/", expiresAt: null };
  const begun = { id: under, isReadable: true, result: { outcome: "begun" as const, ...page } };
  shop.execute("recordBegun", begun, NOW);
  shop.execute("recordReading", read(done), NOW);
  const file = {
    type: "image/png" as const,
    bytes: PNG.length,
    sha256: createHash("sha256").update(PNG).digest("hex"),
    data: PNG.toString("base64"),
  };
  shop.execute("claimPayment", { id: byHand, reference: "T-1", file, isClaimed: true, actor }, NOW);

  const backup = join(shop.folder, "copy.db");
  copyDatabase(shop.connection.path, backup);
  shop.execute("recordReading", read(under), NOW);
  const paid = { methodId: "program", id: program, programId: "p-1", amountMicros: 10 * DOLLAR };
  shop.execute("recordPaid", { ...paid, currency: "USD" }, NOW);
  expect(shop.balance("carol")).toBe(30 * DOLLAR);
  shop.connection.sqlite.close();
  expect((await reseller("restore", backup, "--data", shop.folder, "--yes")).code).toBe(0);

  const restored = freshSqliteDatabase(shop.folder);
  expect(restored.balance("carol")).toBe(10 * DOLLAR);
  const due = { limit: 10, readableKinds: ["stripe"] };
  const taken = restored.execute("takeDuePayments", due, NOW + 120_000);
  expect(taken.map(({ id }) => id)).toContain(under);
  for (let times = 0; times < 2; times += 1) {
    restored.execute("recordReading", read(under), NOW + 120_000);
    restored.execute("recordReading", read(done), NOW + 120_000);
    restored.execute("recordPaid", { ...paid, currency: "USD" }, NOW + 120_000);
  }
  expect(restored.balance("carol")).toBe(30 * DOLLAR);
  const states = restored.query("SELECT id, state, awaits FROM payments ORDER BY payment_id");
  expect(states).toEqual([
    { id: under, state: "paid", awaits: null },
    { id: done, state: "paid", awaits: null },
    { id: program, state: "paid", awaits: null },
    { id: byHand, state: "pending", awaits: "claim" },
  ]);
  expect(restored.query("SELECT data FROM payment_attachments")).toEqual([{ data: file.data }]);
  const find = "SELECT settings FROM payment_methods WHERE method_id = 'program'";
  expect(restored.query(find)).toEqual([{ settings: SETTINGS }]);
  restored.close();
  const { json } = await reseller("verify", "--data", shop.folder, "--json");
  expect(json).toMatchObject({ ok: true });
});

test("what is printed about a backup holds no secret of a method", async () => {
  const shop = openShop({ engine: "sqlite" });
  seedMethod(shop, "program", "callback", { settings: SETTINGS });
  const target = join(shop.folder, "backup.db");
  const { code, stdout, stderr } = await shop.cli("backup", target, "--json");
  expect(code).toBe(0);
  const secret = JSON.parse(SETTINGS).secret.slice("whsec_".length);
  expect(stdout + stderr).not.toContain(secret);
});

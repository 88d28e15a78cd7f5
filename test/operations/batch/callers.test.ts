// Every command that is run for a key checks the key in its own transaction.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findUser } from "../../../src/db/users/users.ts";
import type { RefusalCode } from "../../../src/domain/values/error-table.ts";
import { hashRequest } from "../../../src/domain/values/idempotency.ts";
import type { KeyType } from "../../../src/domain/users/keys.ts";
import type { CommandInput } from "../../../src/operations/batch/commands.ts";
import { audit } from "../../support/databases/audit.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

const COMMANDS = [
  "placeOrder",
  "placeOrderForResponse",
  "placeOrderOnce",
  "placeOrderOnceForResponse",
  "placeOrders",
  "placeOrdersOnce",
  "recharge",
  "rechargeOnce",
] as const;
type Name = (typeof COMMANDS)[number];

let database: TestDatabase;
let account: number;
beforeAll(() => {
  database = freshDatabase();
  database.user("anna", "1000");
  database.user("cleo", "0", "anna");
  database.service({ id: "likes" });
  account = database.read((reader) => findUser(reader, "anna"))!.account;
});
afterAll(() => {
  expect(audit(database)).toEqual({});
  database.close();
});

function inputOf(name: Name, keyId: string): CommandInput<Name> {
  const resellerAccount = account;
  const order = { resellerAccount, keyId, service: "likes", link: "x", quantity: 100 };
  const recharge = { resellerAccount, keyId, username: "cleo", amountMicros: 1 };
  const claim = { key: keyId, requestHash: hashRequest("POST", "/", Buffer.from(name)) };
  const entries = [{ order }, { order }];
  return {
    placeOrder: order,
    placeOrderForResponse: order,
    placeOrderOnce: { order, claim },
    placeOrderOnceForResponse: { order, claim },
    placeOrders: { keyId, entries },
    placeOrdersOnce: { keyId, resellerAccount, entries, claim },
    recharge,
    rechargeOnce: { recharge, claim },
  }[name];
}

const run = (name: Name, keyId: string, now = Date.now()) =>
  database.execute(name, inputOf(name, keyId) as never, now);
const refusalOf = (name: Name, keyId: string, now?: number) =>
  refusalCode(() => run(name, keyId, now), database);
const wrongType = (name: Name): KeyType => (name.startsWith("recharge") ? "order" : "recharge");

describe.each(COMMANDS)("%s", (name) => {
  test("is done for a key with the permission", () => {
    const before = database.fingerprint();
    void run(name, database.key("anna", "full").id);
    expect(database.fingerprint()).not.toBe(before);
  });

  test("is refused for a key that was deactivated, and done once it is active again", () => {
    const { id } = database.key("anna", "full");
    database.run("setKeyActive", { id, active: false });
    expect(refusalOf(name, id)).toBe("api_key_inactive");
    database.run("setKeyActive", { id, active: true });
    void run(name, id);
  });

  test("is refused for a key from its expiry on", () => {
    const { id } = database.key("anna", "full");
    const end = Date.now() + 60_000;
    database.query("UPDATE keys SET expires_at = ? WHERE id = ?", end, id);
    expect(refusalOf(name, id, end)).toBe("api_key_expired");
    void run(name, id, end - 1);
  });

  test("is refused for a key that was rotated without grace", () => {
    const { id } = database.key("anna", "full");
    const replacement = { hash: "0".repeat(63) + COMMANDS.indexOf(name), start: "rk_" };
    database.run("rotateKey", { id, graceMilliseconds: 0, ...replacement });
    const ended: RefusalCode[] = ["api_key_expired", "api_key_inactive"];
    expect(ended).toContain(refusalOf(name, id) as RefusalCode);
  });

  test("is refused for a key without the permission, and for one that is not there", () => {
    const { id } = database.key("anna", wrongType(name));
    expect(refusalOf(name, id)).toBe("permission_denied");
    expect(refusalOf(name, "nothing")).toBe("api_key_invalid");
  });
});

test.each(COMMANDS.filter((name) => name.endsWith("Once")))(
  "a replay of %s is refused too, and answered again once the key is active",
  (name) => {
    const { id } = database.key("anna", "full");
    void run(name, id);
    database.run("setKeyActive", { id, active: false });
    expect(refusalOf(name, id)).toBe("api_key_inactive");
    database.run("setKeyActive", { id, active: true });
    expect(run(name, id)).toMatchObject({ replayed: true });
  },
);

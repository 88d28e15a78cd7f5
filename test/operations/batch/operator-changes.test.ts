// What operators change of users, providers and prices, and what the audit log keeps of it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listAuditEntries } from "../../../src/db/administrators/audit.ts";
import { findKey } from "../../../src/db/users/keys.ts";
import { findProvider } from "../../../src/db/providers/providers.ts";
import { findService } from "../../../src/db/catalogue/services.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { parsePercent, planPrices } from "../../../src/domain/catalogue/services.ts";
import { audit } from "../../support/databases/audit.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

let database: TestDatabase;

beforeEach(() => {
  database = freshDatabase();
  database.user("anna", "10");
  database.user("cleo", "1", "anna");
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:9", key: "old-key" };
  database.run("createProvider", provider);
});
afterEach(() => {
  expect(audit(database)).toEqual({});
  database.close();
});

const lastEntry = () => {
  const [entry] = database.read((reader) => listAuditEntries(reader, { limit: 1 }));
  return entry!;
};
const userNamed = (username: string) => database.read((reader) => findUser(reader, username));
const isActive = (id: string) => database.read((reader) => findKey(reader, id)!.active);

describe("a user", () => {
  test("is renamed with its account, balance and children, and the old name is free", () => {
    const before = userNamed("anna")!;
    const changes = { username: "Anna2", name: "Anna Ltd" };
    database.run("updateUser", { username: "ANNA", changes });
    expect(userNamed("anna")).toBeUndefined();
    expect(userNamed("anna2")).toEqual({ ...before, ...changes });
    expect(userNamed("cleo")!.resellerId).toBe(before.id);
    expect(lastEntry()).toMatchObject({
      action: "user.update",
      subject: "Anna2",
      account: before.account,
      before: { username: "anna", name: "anna" },
      after: changes,
    });
    database.user("anna");
    expect(userNamed("anna")!.account).not.toBe(before.account);
  });

  test("is renamed with its test account, so that the next user of the old name gets another one", () => {
    database.key("anna", "full", "all", true);
    database.run("updateUser", { username: "anna", changes: { username: "anna2" } });
    database.user("anna");
    database.key("anna", "full", "all", true);
    const names = database.query(
      "SELECT username FROM users WHERE test_of IS NOT NULL ORDER BY account",
    );
    expect(names).toEqual([{ username: "test:anna2" }, { username: "test:anna" }]);
  });

  test("that is deactivated has its test keys refused too, until it is activated", () => {
    const live = database.key("anna", "full");
    const test = database.key("anna", "full", "all", true);
    expect(database.run("setUserActive", { username: "anna", active: false })).toEqual({ keys: 2 });
    expect([isActive(live.id), isActive(test.id)]).toEqual([false, false]);
    const activate = () => database.run("setKeyActive", { id: test.id, active: true });
    expect(refusalCode(activate, database)).toBe("user_inactive");
    expect(refusalCode(() => database.key("anna", "full", "all", true), database)).toBe(
      "user_inactive",
    );
    expect(database.run("setUserActive", { username: "anna", active: true })).toEqual({ keys: 2 });
    expect([isActive(live.id), isActive(test.id)]).toEqual([true, true]);
  });

  test.each(["userNamed", "creditUser", "updateUser", "setUserActive"] as const)(
    "is never a test account by its name: %s",
    (name) => {
      database.key("anna", "full", "all", true);
      const username = "test:anna";
      expect(userNamed(username)).toBeUndefined();
      if (name === "userNamed") return;
      const inputs = {
        creditUser: { username, amountMicros: 1, note: null },
        updateUser: { username, changes: { name: "x" } },
        setUserActive: { username, active: false },
      };
      const change = () => database.run(name, inputs[name] as never);
      expect(refusalCode(change, database)).toBe("user_not_found");
    },
  );

  test("can change only the case of its name; a change without effect leaves no audit entry", () => {
    database.run("updateUser", { username: "anna", changes: { username: "ANNA" } });
    expect(userNamed("anna")!.username).toBe("ANNA");
    const { seq } = lastEntry();
    database.run("updateUser", { username: "anna", changes: { username: "ANNA", name: "anna" } });
    expect(lastEntry().seq).toBe(seq);
  });

  test("that is deactivated has no active key; activation restores the keys that were active before", () => {
    const [first, second, third] = [1, 2, 3].map(() => database.key("anna", "full").id);
    database.run("setKeyActive", { id: second!, active: false });
    expect(database.run("setUserActive", { username: "anna", active: false })).toEqual({ keys: 2 });
    expect(userNamed("anna")!.active).toBe(false);
    expect([first, second, third].map((id) => isActive(id!))).toEqual([false, false, false]);
    expect(lastEntry()).toMatchObject({
      action: "user.deactivate",
      before: { active: true },
      after: { active: false, keys: 2 },
    });
    // By itself, too, from now on.
    database.run("setKeyActive", { id: third!, active: false });
    const { seq } = lastEntry();
    expect(database.run("setUserActive", { username: "anna", active: false })).toEqual({ keys: 0 });
    expect(lastEntry().seq).toBe(seq);
    expect(database.run("setUserActive", { username: "anna", active: true })).toEqual({ keys: 1 });
    expect([first, second, third].map((id) => isActive(id!))).toEqual([true, false, false]);
    expect(userNamed("anna")!.active).toBe(true);
  });

  test("that is deactivated keeps its balance, and its orders go on", () => {
    database.service({ id: "likes" });
    const { id: keyId } = database.key("anna", "full");
    const { account } = userNamed("anna")!;
    const order = { resellerAccount: account, keyId, service: "likes", link: "x", quantity: 1000 };
    const { orderId } = database.run("placeOrder", order);
    database.run("setUserActive", { username: "anna", active: false });
    expect(refusalCode(() => database.run("placeOrder", order), database)).toBe("api_key_inactive");
    database.run("transitionOrder", { id: String(orderId), to: "CANCELLED", note: null });
    expect(database.balance("anna")).toBe(10_000_000);
  });
});

describe("a provider", () => {
  const provider = () => database.read((reader) => findProvider(reader, "acme2"))!;

  test("gets another address, key and name; the log has all but the key", () => {
    const changes = { url: "http://127.0.0.2:9/api", key: "new-key", name: "acme2" };
    database.run("updateProvider", { name: "ACME", changes });
    expect(provider()).toMatchObject(changes);
    const { action, subject, before, after } = lastEntry();
    expect([action, subject]).toEqual(["provider.update", "acme2"]);
    expect(before).toEqual({ name: "acme", url: "http://127.0.0.1:9" });
    expect(after).toEqual({ name: "acme2", url: changes.url, key: "replaced" });
    expect(JSON.stringify(database.query("SELECT * FROM audit"))).not.toContain("new-key");
  });

  test("keeps fields that are not given", () => {
    database.run("updateProvider", { name: "acme", changes: { name: "acme2" } });
    expect(provider()).toMatchObject({ url: "http://127.0.0.1:9", key: "old-key" });
  });
});

describe("prices", () => {
  test.each([
    ["10", 2_320_000, 2_552_000],
    ["+10%", 2_320_000, 2_552_000],
    ["-5.5", 2_320_000, 2_192_400],
    ["-100", 2_320_000, 0],
    ["0.000001", 1, 2],
    ["-0.000001", 2_320_000, 2_320_000],
    ["33.333333%", 3, 4],
  ])("change by %s percent, each rounded up to a whole micro", (percent, before, after) => {
    const planned = planPrices([{ id: "s", priceMicros: before }], parsePercent(percent)!);
    expect(planned).toEqual(before === after ? [] : [{ id: "s", before, after }]);
  });

  test.each(["", "ten", "-100.000001", "1e3", "1.0000001", "10 %", "--1"])(
    "%p is not a percentage",
    (text) => expect(parsePercent(text)).toBeNull(),
  );

  test("change together, count as set by hand, and are in the log; if one is too large, none changes", () => {
    for (const id of ["s1", "s2"]) database.service({ id, price: id === "s1" ? "1" : "900000000" });
    const services = ["s1", "s2"].map((id) => database.read((reader) => findService(reader, id))!);
    expect(refusalCode(() => planPrices(services, parsePercent("12")!), database)).toBe(
      "price_too_large",
    );
    const prices = planPrices(services, parsePercent("10")!);
    expect(database.run("changePrices", { prices })).toEqual({ changed: 2 });
    const after = ["s1", "s2"].map((id) => database.read((reader) => findService(reader, id))!);
    expect(after.map(({ priceMicros }) => priceMicros)).toEqual([1_100_000, 990_000_000_000_000]);
    const history = database.read((reader) =>
      listAuditEntries(reader, { subject: "s1", limit: 9 }),
    );
    expect(history.map(({ action, after }) => [action, after!["priceMicros"]])).toEqual([
      ["service.update", 1_100_000],
      ["service.create", 1_000_000],
    ]);
  });
});

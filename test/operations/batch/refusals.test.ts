// Users, keys, the catalogue and credit: what each operation refuses, having written nothing, and what it does.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RefusalCode } from "../../../src/domain/values/error-table.ts";
import { findService } from "../../../src/db/catalogue/services.ts";
import { grants, services } from "../../../src/db/tables/catalogue.ts";
import { providers } from "../../../src/db/tables/providers.ts";
import { keys, users } from "../../../src/db/tables/users.ts";
import { findUser } from "../../../src/db/users/users.ts";
import type { UnsignedInput, CommandName } from "../../../src/operations/batch/commands.ts";
import { audit } from "../../support/databases/audit.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import {
  dumpOf,
  freshDatabase,
  micros,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";

let database: TestDatabase;
let keyId: string;
let childrenKeyId: string;
let goneKeyId: string;

const grantOf = (account: number) =>
  database.read((reader) => reader.row(grants.byKey, "s1", account));

beforeAll(() => {
  database = freshDatabase();
  database.user("anna", "10");
  database.user("cleo", "1", "anna");
  database.user("bert");
  database.user("rich");
  for (let billion = 0; billion < 9; billion++) {
    database.run("creditUser", adjust("rich", "1000000000"));
  }
  database.service({ id: "s1", min: 10, max: 100 });
  database.service({ id: "s2" });
  keyId = database.key("anna", "recharge").id;
  database.user("gone");
  goneKeyId = database.key("gone", "full").id;
  database.run("setUserActive", { username: "gone", active: false });
  for (const name of ["acme", "zeta"]) {
    const provider = { name, protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
    database.run("createProvider", provider);
  }
  childrenKeyId = database.key("anna", "recharge", "children").id;
});
afterAll(() => {
  expect(audit(database)).toEqual({});
  database.close();
});

const adjust = (username: string, amount: string) => ({
  username,
  amountMicros: micros(amount),
  note: null,
  actor: OPERATOR,
});

const newService = (id: string | null) => ({
  id,
  name: "New",
  priceMicros: 1,
  per: "1" as const,
  min: 1,
  max: 1,
  private: false,
});

const newKey = (username: string) => ({
  username,
  type: "full" as const,
  reach: "all" as const,
  label: "",
  hash: "0".repeat(64),
  start: "rk_",
});

const recharge = (username: string, amount: string, key = keyId) => ({
  keyId: key,
  resellerAccount: database.read((reader) => findUser(reader, "anna"))!.account,
  username,
  amountMicros: micros(amount),
});

const row = <Name extends CommandName>(
  code: RefusalCode,
  why: string,
  name: Name,
  input: () => UnsignedInput<Name>,
) => [code, why, () => database.run(name, input())] as const;

const user = (username: string, parent: string | null = null) => ({ username, name: "x", parent });
const cross = { min: 101 };

describe("is refused, and writes nothing:", () => {
  test.each([
    row("username_taken", "a username that is there", "createUser", () => user("anna")),
    row("username_taken", "the same in another case", "createUser", () => user("ANNA")),
    row("parent_not_found", "a parent that is not there", "createUser", () => user("x", "nobody")),
    row("parent_is_child", "a parent that is a child user", "createUser", () => user("x", "cleo")),
    row("user_not_found", "a credit to nobody", "creditUser", () => adjust("nobody", "1")),
    row("user_not_found", "a debit of nobody", "debitUser", () => adjust("nobody", "1")),
    row("insufficient_balance", "a debit past the balance", "debitUser", () =>
      adjust("anna", "10.000001"),
    ),
    row("balance_too_large", "a credit past 9,000,000,000", "creditUser", () =>
      adjust("rich", "0.000001"),
    ),
    row("user_not_found", "a recharge of nobody", "recharge", () => recharge("nobody", "1")),
    row("user_out_of_reach", "a recharge out of reach", "recharge", () =>
      recharge("bert", "1", childrenKeyId),
    ),
    row("balance_too_large", "a recharge past the limit", "recharge", () =>
      recharge("rich", "0.000001"),
    ),
    row("user_not_found", "a key for nobody", "createKey", () => newKey("nobody")),
    row("child_cannot_hold_key", "a key for a child user", "createKey", () => newKey("cleo")),
    row("key_not_found", "a key that is not there", "setKeyActive", () => ({
      id: "nothing",
      active: true,
    })),
    row("service_id_taken", "a service id that is there", "createService", () => newService("s1")),
    row("service_not_found", "a change of no service", "updateService", () => ({
      id: "s9",
      changes: {},
    })),
    row("service_bounds_crossed", "a min above the max", "updateService", () => ({
      id: "s1",
      changes: cross,
    })),
    row("service_not_found", "no service to switch off", "setServiceActive", () => ({
      id: "s9",
      active: false,
    })),
    row("import_id_taken", "an import with an id that is there", "importServices", () => ({
      services: [newService("s7"), newService("s1")],
    })),
    row("import_id_taken", "an import with one id twice", "importServices", () => ({
      services: [newService("s7"), newService("s7")],
    })),
    row("service_not_found", "a grant of no service", "grantService", () => ({
      id: "s9",
      username: "anna",
      priceMicros: null,
    })),
    row("user_not_found", "a grant to nobody", "grantService", () => ({
      id: "s1",
      username: "nobody",
      priceMicros: null,
    })),
    row("child_cannot_hold_grant", "a grant to a child user", "grantService", () => ({
      id: "s1",
      username: "cleo",
      priceMicros: null,
    })),
    row("user_not_found", "a new name for nobody", "updateUser", () => ({
      username: "nobody",
      changes: { name: "x" },
    })),
    row("username_taken", "a username of another user", "updateUser", () => ({
      username: "bert",
      changes: { username: "ANNA" },
    })),
    row("user_not_found", "nobody to deactivate", "setUserActive", () => ({
      username: "nobody",
      active: false,
    })),
    row("child_has_no_keys", "a child user to deactivate", "setUserActive", () => ({
      username: "cleo",
      active: false,
    })),
    row("user_inactive", "a key for an inactive user", "createKey", () => newKey("gone")),
    row("user_inactive", "a key of an inactive user to activate", "setKeyActive", () => ({
      id: goneKeyId,
      active: true,
    })),
    row("provider_not_found", "no provider to change", "updateProvider", () => ({
      name: "nobody",
      changes: { key: "k" },
    })),
    row("provider_key_needed", "a new address without the key", "updateProvider", () => ({
      name: "acme",
      changes: { url: "https://elsewhere.example/api" },
    })),
    row("provider_name_taken", "a name of another provider", "updateProvider", () => ({
      name: "acme",
      changes: { name: "ZETA" },
    })),
    row("service_not_found", "a price of no service", "changePrices", () => ({
      prices: [{ id: "s9", before: 1, after: 2 }],
    })),
    row("catalogue_changed", "prices of which one has changed since", "changePrices", () => ({
      prices: [
        { id: "s1", before: 2_320_000, after: 1 },
        { id: "s2", before: 2_319_999, after: 1 },
      ],
    })),
    row("grant_not_found", "a grant that is not there", "revokeService", () => ({
      id: "s1",
      username: "anna",
    })),
  ])("%s: %s", (code, _why, body) => {
    const catalogue = () =>
      [services, grants, keys, users, providers].map((table) => dumpOf(database, table)).join();
    const before = catalogue();
    expect(refusalCode(body, database)).toBe(code);
    expect(catalogue()).toBe(before);
  });
});

describe("credit and debit", () => {
  test("change the balance by exactly the amount and return the previous one", () => {
    const credited = database.run("creditUser", adjust("bert", "33.333333"));
    expect([credited.previousBalanceMicros, credited.user.balanceMicros]).toEqual([
      0n,
      33_333_333n,
    ]);
    const debited = database.run("debitUser", adjust("BERT", "33.333333"));
    expect([debited.previousBalanceMicros, debited.user.balanceMicros]).toEqual([33_333_333n, 0n]);
    expect(database.balance("bert")).toBe(0);
  });

  test("of a child user do not change its reseller's balance", () => {
    const before = database.balance("anna");
    const recharged = database.run("recharge", recharge("cleo", "2", childrenKeyId));
    if ("limited" in recharged) throw new Error("the key has no limit");
    const { user: child } = recharged;
    expect(child.resellerId).toBe(database.read((reader) => findUser(reader, "anna"))!.id);
    expect([database.balance("cleo"), database.balance("anna")]).toEqual([3_000_000, before]);
  });
});

describe("the catalogue", () => {
  test("changes only the given fields", () => {
    const before = database.read((reader) => findService(reader, "s2"))!;
    database.run("updateService", { id: "s2", changes: { priceMicros: 5 } });
    expect(database.read((reader) => findService(reader, "s2"))).toEqual({
      ...before,
      priceMicros: 5,
    });
    database.run("setServiceActive", { id: "s2", active: false });
    expect(database.read((reader) => findService(reader, "s2"))).toEqual({
      ...before,
      priceMicros: 5,
      active: false,
    });
  });

  test("a grant given again replaces the price; without one it is the service's own", () => {
    const { account } = database.read((reader) => findUser(reader, "anna"))!;
    for (const priceMicros of [5, 0, null]) {
      database.run("grantService", { id: "s1", username: "anna", priceMicros });
      expect(grantOf(account)?.priceMicros).toBe(priceMicros);
    }
    database.run("revokeService", { id: "s1", username: "anna" });
    expect(grantOf(account)).toBeFalsy();
  });

  test("an import creates every row", () => {
    const services = ["i1", "i2", null].map(newService);
    expect(database.run("importServices", { services })).toMatchObject({ created: 3 });
    for (const id of ["i1", "i2"])
      expect(database.read((reader) => findService(reader, id))?.name).toBe("New");
  });
});

// The operator's lists of users, services and keys: filters, and pages that together are the whole list.

import { beforeAll, expect, test } from "bun:test";
import { listKeys } from "../../../src/db/users/keys.ts";
import {
  listGrants,
  listServicesAfter,
  type ServiceFilter,
} from "../../../src/db/catalogue/service-lists.ts";
import { listUsersBelow, type UserFilter } from "../../../src/db/users/user-lists.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

let database: TestDatabase;
let keyIds: string[];

beforeAll(() => {
  database = freshDatabase();
  for (const name of ["anna", "Bert", "cleo"]) database.user(name, "1");
  for (const name of ["dora", "emil"]) database.user(name, undefined, "anna");
  const provider = { name: "acme", protocol: "smm-api", url: "http://127.0.0.1:9", key: "k" };
  database.run("createProvider", provider);
  const acme = { name: "acme", service: "7" };
  database.service({ id: "likes", name: "Likes" });
  database.service({ id: "views", name: "Views", provider: acme });
  database.service({ id: "more-views", name: "Views", private: true });
  database.service({ id: "old", name: "Old views" });
  database.run("setServiceActive", { id: "old", active: false });
  database.run("grantService", { id: "more-views", username: "anna", priceMicros: null });
  database.run("grantService", { id: "likes", username: "Bert", priceMicros: 5 });
  database.run("grantService", { id: "likes", username: "anna", priceMicros: null });
  keyIds = ["anna", "Bert", "anna"].map(
    (name, index) => database.key(name, index === 2 ? "order" : "full").id,
  );
  database.run("setKeyActive", { id: keyIds[1]!, active: false });
});

const accountOf = (username: string) =>
  database.read((reader) => findUser(reader, username)!).account;

function users(filter: UserFilter, limit = 100): string[] {
  const names: string[] = [];
  for (let below: number | null = Number.MAX_SAFE_INTEGER; below !== null;) {
    const page: ReturnType<typeof listUsersBelow> = database.read((reader) =>
      listUsersBelow(reader, filter, below!, limit),
    );
    names.push(...page.rows.map(({ username }) => username));
    below = page.next;
  }
  return names;
}

function services(filter: ServiceFilter, limit = 100) {
  const found = [];
  for (let after: string | null | undefined; after !== null;) {
    const page: ReturnType<typeof listServicesAfter> = database.read((reader) =>
      listServicesAfter(reader, filter, after ?? null, limit),
    );
    found.push(...page.rows);
    after = page.next;
  }
  return found;
}

test("users are listed newest first, by part of their name, parent, kind and state", () => {
  const all = ["emil", "dora", "cleo", "Bert", "anna"];
  for (const limit of [1, 2, 100]) expect(users({}, limit)).toEqual(all);
  expect(users({ search: "BER" })).toEqual(["Bert"]);
  expect(users({ search: "%" })).toEqual([]);
  expect(users({ parentAccount: accountOf("anna") })).toEqual(["emil", "dora"]);
  expect(users({ isChild: true }, 1)).toEqual(["emil", "dora"]);
  expect(users({ isChild: false, search: "e" })).toEqual(["cleo", "Bert"]);
  expect(users({ active: true })).toEqual(all);
  expect(users({ active: false })).toEqual([]);
});

test("services are listed by name then id, by part of the name, provider and state", () => {
  const ids = (filter: ServiceFilter, limit?: number) =>
    services(filter, limit).map(({ id }) => id);
  const all = ["likes", "old", "more-views", "views"];
  for (const limit of [1, 2, 100]) expect(ids({}, limit)).toEqual(all);
  expect(ids({ search: "VIEWS" }, 2)).toEqual(["old", "more-views", "views"]);
  expect(ids({ search: "more-views" })).toEqual(["more-views"]);
  expect(ids({ providerId: 1 })).toEqual(["views"]);
  expect(ids({ manual: true, active: true })).toEqual(["likes", "more-views"]);
  expect(ids({ active: false })).toEqual(["old"]);
  expect(ids({ private: true })).toEqual(["more-views"]);
});

test("a reseller's price list has the services it may order, at its own prices", () => {
  const prices = (username: string) =>
    services({ resellerAccount: accountOf(username) }).map(({ id, ownPriceMicros }) => [
      id,
      ownPriceMicros,
    ]);
  expect(prices("anna")).toEqual([["likes", null], ["more-views", null], ["views", null]]); // prettier-ignore
  expect(prices("Bert")).toEqual([["likes", 5], ["views", null]]); // prettier-ignore
  const grants = database.read((reader) => listGrants(reader, "likes"));
  const byName = grants.map(({ username, priceMicros }) => [username, priceMicros]);
  expect(Object.fromEntries(byName)).toEqual({ Bert: 5, anna: null });
});

test("keys are listed oldest first, by reseller, type and state", () => {
  const ids = (...args: unknown[]) =>
    database.read((reader) => listKeys(reader, ...(args as []))).map(({ id }) => id);
  const all = ids();
  expect(all.toSorted()).toEqual(keyIds.toSorted());
  expect([...ids({}, null, 2), ...ids({}, all[1], 2)]).toEqual(all);
  expect(ids({ account: accountOf("anna") }).toSorted()).toEqual(
    [keyIds[0]!, keyIds[2]!].toSorted(),
  );
  expect(ids({ type: "order" })).toEqual([keyIds[2]!]);
  expect(ids({ active: false })).toEqual([keyIds[1]!]);
});

// The numbers of services: given once, in the order of creation, and never again.

import { expect, test } from "bun:test";
import { listServices, type Service } from "../../../src/db/catalogue/services.ts";
import { Refusal } from "../../../src/domain/values/error-table.ts";
import { planCatalogue, requireProvider } from "../../../src/operations/providers/providers.ts";
import {
  freshDatabase,
  OPERATOR,
  type TestDatabase,
} from "../../support/databases/test-database.ts";

const numbersOf = (database: TestDatabase) =>
  Object.fromEntries(
    database.read(listServices).map(({ id, number }): [string, number] => [id, number]),
  );

const row = (id: string) => ({
  id,
  name: id,
  priceMicros: 1,
  per: "1" as const,
  min: 1,
  max: 2,
  private: false,
});

test("service numbers count up within a command and across commands: created, imported, synced", () => {
  const database = freshDatabase();
  database.service({ id: "z" });
  database.run("importServices", { services: [row("y"), row("a"), row("m")] });
  const url = "http://127.0.0.1:1/";
  database.run("createProvider", { name: "acme", protocol: "smm-api", url, key: "k" });
  const upstream = ["s2", "s1"].map((service) => {
    const flags = { dripfeed: false, cancel: false, refill: false };
    const terms = { type: "Default", rate: "1", min: 1, max: 2, ...flags };
    return { service, name: service, category: `of ${service}`, ...terms };
  });
  const plan = database.read((reader) =>
    planCatalogue(reader, requireProvider(reader, "acme"), upstream, { markup: "0" }),
  );
  database.run("syncCatalogue", { name: "acme", upstream, markup: "0", plan });
  database.service({ id: "b" });
  const numbers = numbersOf(database);
  const synced = Object.fromEntries(
    database.read(listServices).map((service): [string, Service] => [service.name, service]),
  );
  expect([numbers["z"], numbers["y"], numbers["a"], numbers["m"]]).toEqual([1, 2, 3, 4]);
  expect([synced["s2"]!.number, synced["s1"]!.number, numbers["b"]]).toEqual([5, 6, 7]);
  expect([synced["s2"]!.category, synced["s2"]!.categoryByHand]).toEqual(["of s2", false]);
  database.close();
});

test("a service keeps its number through every change; a category that was set is kept by a sync", () => {
  const database = freshDatabase();
  database.service({ id: "a" });
  database.run("updateService", { id: "a", changes: { name: "b", category: "C" } });
  database.run("setServiceActive", { id: "a", active: false });
  const [service] = database.read(listServices);
  expect(service).toMatchObject({ number: 1, category: "C", categoryByHand: true, active: false });
  database.close();
});

test("a refused command gives no service another's number, and uses up none", () => {
  const database = freshDatabase();
  database.service({ id: "a" });
  const twice = [row("b"), row("b")];
  expect(() => database.run("importServices", { services: twice })).toThrow(Refusal);
  database.service({ id: "c" });
  const numbers = Object.values(numbersOf(database));
  expect(new Set(numbers).size).toBe(2);
  expect(numbers[0]!).toBeLessThan(numbers[1]!);
  database.close();
});

test("after a restore numbers continue above those that were given since", () => {
  const database = freshDatabase();
  database.service({ id: "a" });
  const floors = {
    orders: 0,
    transfers: 0,
    audit: 0,
    services: 40,
    order_requests: 0,
    service_changes: 0,
  };
  database.run("carryOver", { floors, endedKeys: [], actor: OPERATOR });
  if (database.location.database !== undefined) {
    database.service({ id: "b" });
    expect(numbersOf(database)).toEqual({ a: 1, b: 41 });
    database.close();
    return;
  }
  database.close();
  const again = freshDatabase(database.folder);
  again.service({ id: "b" });
  again.service({ id: "c" });
  expect(numbersOf(again)).toEqual({ a: 1, b: 41, c: 42 });
  again.close();
});

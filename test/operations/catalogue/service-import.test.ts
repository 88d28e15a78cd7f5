// Imports that meet what else changes a service: providers that are inactive, and routes.

import { expect, test } from "bun:test";
import { freshDatabase, OPERATOR } from "../../support/databases/test-database.ts";

function openMarket() {
  const market = freshDatabase();
  for (const name of ["acme", "bulk"]) {
    const url = "http://127.0.0.1:1/";
    market.run("createProvider", { name, protocol: "smm-api", url, key: "secret" });
  }
  market.service({ id: "likes", provider: { name: "acme", service: "7" } });
  return market;
}

test.each([
  ["no", false, { active: 0, suspended: 0 }],
  ["yes", true, { active: 1, suspended: 0 }],
  ["nothing", undefined, { active: 1, suspended: 0 }],
] as const)(
  "a suspended service that a row moves to another provider gets the row's state: active %s",
  (_, active, expected) => {
    const market = openMarket();
    market.run("setProviderActive", { name: "acme", active: false });
    const row = { id: "likes", provider: { name: "bulk", service: "8" } };
    const services = [active === undefined ? row : { ...row, active }];
    market.run("importServices", { services, update: true, actor: OPERATOR });
    const read = "SELECT active, suspended FROM services WHERE id = 'likes'";
    expect(market.query(read)).toEqual([expected]);
    // Nothing but the operator changes that.
    market.run("setProviderActive", { name: "acme", active: true });
    expect(market.query(read)).toEqual([expected]);
  },
);

test("a row that changes nothing keeps a suspended service suspended", () => {
  const market = openMarket();
  market.run("setProviderActive", { name: "acme", active: false });
  const services = [{ id: "likes", active: false, provider: { name: "acme", service: "7" } }];
  const imported = market.run("importServices", { services, update: true, actor: OPERATOR });
  expect(imported).toEqual({ created: 0, updated: 0, unchanged: 1 });
  market.run("setProviderActive", { name: "acme", active: true });
  expect(market.query("SELECT active FROM services")).toContainEqual({ active: 1 });
});

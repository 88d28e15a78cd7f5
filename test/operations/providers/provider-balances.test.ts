// Our balances at providers, as they are kept as evidence about unknown orders.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  findBalanceAfter,
  findBalanceBefore,
} from "../../../src/db/providers/provider-balances.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";

const DAY_MS = 86_400_000;

let database: TestDatabase;
beforeAll(() => {
  database = freshDatabase();
  const url = "http://127.0.0.1:1/";
  for (const name of ["acme", "bulk"]) {
    database.run("createProvider", { name, protocol: "smm-api", url, key: "k" });
  }
});
afterAll(() => database.close());

const report = (balance: number, now: number, currency = "USD", providerId = 1) =>
  database.execute("recordProviderBalance", { providerId, balance, currency }, now);
const kept = () =>
  database
    .query<Record<string, unknown>>(
      "SELECT at, balance_micros AS micros, currency FROM provider_balances WHERE provider_id = 1 ORDER BY at",
    )
    .map(({ at, micros, currency }) => [Number(at), Number(micros), currency]);

test("a balance is kept when it changes, for thirty days, for each provider by itself", () => {
  report(5, 1000);
  report(5, 2000);
  report(4.5, 3000);
  report(4.5, 4000, "");
  report(-1, 5000, "");
  report(7, 2500, "USD", 2);
  const first = [
    [1000, 5_000_000, "USD"],
    [3000, 4_500_000, "USD"],
    [4000, 4_500_000, null],
    [5000, -1_000_000, null],
  ];
  expect(kept()).toEqual(first);
  // The same millisecond again, as after a clock that was set back.
  report(6, 5000, "");
  expect(kept()).toEqual(first);
  const find = (at: number) =>
    database.read((reader) => [
      findBalanceBefore(reader, 1, at)?.at,
      findBalanceAfter(reader, 1, at)?.at,
    ]);
  expect([999, 1000, 2500, 5001].map(find)).toEqual([
    [undefined, 1000],
    [1000, 1000],
    [1000, 3000],
    [5000, undefined],
  ]);
  report(8, 3000 + 30 * DAY_MS);
  expect(kept()).toEqual([...first.slice(1), [3000 + 30 * DAY_MS, 8_000_000, "USD"]]);
});

test("the balances of a provider are deleted with it", () => {
  database.run("deleteProvider", { name: "bulk" });
  const left = database.query("SELECT 1 FROM provider_balances WHERE provider_id = 2");
  expect(left).toEqual([]);
});

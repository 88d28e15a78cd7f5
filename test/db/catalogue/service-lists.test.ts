// Lists of the catalogue: every order, in pages of any size, holds each service once and in that order.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readMargins } from "../../../src/db/catalogue/margins.ts";
import {
  BY_NAME,
  type ListedService,
  listServicesAfter,
  SERVICE_SORTS,
  type ServiceFilter,
  type ServiceOrder,
  type ServiceSort,
} from "../../../src/db/catalogue/service-lists.ts";
import { listServices } from "../../../src/db/catalogue/services.ts";
import { namesOfProviders } from "../../../src/db/providers/providers.ts";
import type { Margin } from "../../../src/domain/catalogue/margins.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { seedRates } from "../../support/seeds/rates.ts";

const CATEGORIES = ["B", "ä", "A", "C"];
/** The positions that the operator gave: `C` and `A` first, all others by name. */
const ORDER = ["C", "A"];

let database: TestDatabase;
beforeAll(() => {
  database = freshDatabase();
  database.user("alice", "100");
  const rates = ["0.5", "1", "2", "0.75"];
  const ids = Array.from({ length: 24 }, (_, index) => index);
  for (const name of ["acme", "Bulk"]) {
    seedRates(database, name, Object.fromEntries(ids.map((id) => [`${id}`, rates[id % 4]!])));
  }
  for (const id of ids) {
    const provider = { name: id % 2 === 0 ? "acme" : "bulk", service: `${id}` };
    database.service({
      id: `s${id}`,
      name: `Service ${(id * 7) % 12}`,
      price: ["0.6", "1", "0"][id % 3]!,
      min: 10 + (id % 5),
      max: 1000 + (id % 6),
      private: id % 5 === 0,
      ...(id % 7 === 0 ? {} : { provider }),
    });
    const category = CATEGORIES[id % CATEGORIES.length]!;
    database.run("updateService", { id: `s${id}`, changes: { category } });
    if (id % 4 === 1) database.run("setServiceActive", { id: `s${id}`, active: false });
  }
  database.run("orderCategories", { categories: ORDER });
  database.run("setDiscount", { username: "alice", discountPpm: 500_000 });
  database.run("grantService", { id: "s5", username: "alice", priceMicros: 1 });
  database.run("grantService", { id: "s10", username: "alice", priceMicros: 9_000_000 });
});
afterAll(() => database.close());

const pages = (filter: ServiceFilter, order: ServiceOrder, size: number): ListedService[] => {
  const rows: ListedService[] = [];
  for (let after: string | null = null, more = true; more;) {
    const page = database.read((reader) => listServicesAfter(reader, filter, after, size, order));
    expect(page.rows.length).toBeLessThanOrEqual(size);
    rows.push(...page.rows);
    after = page.next;
    more = after !== null;
  }
  return rows;
};

/** The values by which a service is sorted, written down once more. */
function keysOf(
  service: ListedService,
  by: ServiceSort,
  margins: ReadonlyMap<string, Margin>,
  providers: ReadonlyMap<number, string>,
): (string | number | null)[] {
  const { name, id, category } = service;
  const margin = margins.get(id);
  const position = ORDER.indexOf(category);
  const keys: Record<ServiceSort, (string | number | null)[]> = {
    category: [position < 0 ? ORDER.length : position, category, name],
    name: [name],
    number: [service.number],
    price: [service.priceMicros, name],
    rate: [margin?.costMicros ?? null, name],
    margin: [margin?.percent == null ? null : Number(margin.percent), name],
    provider: [providers.get(service.providerId ?? 0) ?? "", name],
  };
  return [...keys[by], id];
}

/** A value that is not known comes last in both directions, and such services by name. */
function compare(a: readonly unknown[], b: readonly unknown[], by: ServiceSort, down: boolean) {
  const isComputed = by === "rate" || by === "margin";
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (left === right) continue;
    if (left === null) return 1;
    if (right === null) return -1;
    const sign = down && (at === 0 || !isComputed) ? -1 : 1;
    return (left as string) < (right as string) ? -sign : sign;
  }
  return 0;
}

describe.each([...SERVICE_SORTS])("by %s", (by) => {
  test.each([false, true])("descending %p, in pages of every size", (descending) => {
    const whole = pages({}, { by, descending }, 1000);
    const { margins, providers } = database.read((reader) => ({
      margins: readMargins(reader, whole),
      providers: namesOfProviders(reader),
    }));
    expect(margins.size).toBeGreaterThan(20);
    const expected = whole.toSorted((a, b) => {
      const [left, right] = [a, b].map((each) => keysOf(each, by, margins, providers));
      return compare(left!, right!, by, descending);
    });
    const ids = (rows: ListedService[]) => rows.map(({ id }) => id);
    expect(ids(whole)).toEqual(ids(expected));
    expect(new Set(ids(whole)).size).toBe(database.read(listServices).length);
    for (const size of [1, 7, 24]) {
      expect(ids(pages({}, { by, descending }, size))).toEqual(ids(whole));
    }
  });
});

test("only prices below the rate of the first provider are below cost, in every order, beside other filters", () => {
  const all = pages({}, BY_NAME, 1000);
  const below = (rows: ListedService[]) =>
    database.read((reader) => {
      const margins = readMargins(reader, rows);
      return rows.filter(({ id }) => margins.get(id)?.isBelowCost).map(({ id }) => id);
    });
  const expected = below(all);
  expect(expected.length).toBeGreaterThan(5);
  expect(expected.length).toBeLessThan(all.length);
  for (const by of SERVICE_SORTS) {
    const order = { by, descending: true };
    const listed = pages({ belowCost: true }, order, 3).map(({ id }) => id);
    expect([by, listed.toSorted()]).toEqual([by, expected.toSorted()]);
    const active = all.filter((service) => service.active);
    expect(pages({ belowCost: true, active: true }, order, 3)).toHaveLength(below(active).length);
  }
  const byPrice = { by: "price", descending: true } as const;
  const prices = pages({ belowCost: true }, byPrice, 4).map((service) => service.priceMicros);
  expect(prices).toEqual(prices.toSorted((a, b) => b - a));
});

test("for a reseller, cost is compared with what that reseller pays", () => {
  const account = database.query<{ account: number }>(
    "SELECT account FROM users WHERE username = 'alice'",
  )[0]!.account;
  const filter = { resellerAccount: Number(account), belowCost: true };
  const listed = pages(filter, BY_NAME, 1000).map(({ id }) => id);
  // Its own price of s5 is below cost, that of s10 far above; s12 is below cost only with the discount.
  const [s12, catalogue] = [
    database.read((reader) => listServices(reader)).find(({ id }) => id === "s12")!,
    pages({ belowCost: true, active: true }, BY_NAME, 1000).map(({ id }) => id),
  ];
  expect(s12).toMatchObject({ priceMicros: 600_000, active: true, private: false });
  expect([listed.includes("s12"), catalogue.includes("s12")]).toEqual([true, false]);
  expect(listed).not.toContain("s10");
});

test("a page after a service that is gone begins at the first", () => {
  const first = pages({}, BY_NAME, 1000)[0]!.id;
  for (const by of ["name", "price", "margin"] as const) {
    const order = { by, descending: false };
    const page = database.read((reader) => listServicesAfter(reader, {}, "gone", 1, order));
    const start = database.read((reader) => listServicesAfter(reader, {}, null, 1, order));
    expect(page).toEqual(start);
  }
  expect(first).toBeString();
});

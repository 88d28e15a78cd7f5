// The order of categories: as the operator gave it, all others by name, in every list that uses it.

import { expect, test } from "bun:test";
import { listCategories } from "../../../src/db/catalogue/category-order.ts";
import { findCatalogueState, listNumberedServices } from "../../../src/db/catalogue/services.ts";
import { findUser } from "../../../src/db/users/users.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";

test("is replaced as a whole, may name categories without services, and changes /api/v2's list and version", () => {
  const database = freshDatabase();
  database.user("alice", "1");
  const { account } = database.read((reader) => findUser(reader, "alice"))!;
  for (const [id, category] of ["C", "A", "B", "A"].entries()) {
    database.service({ id: `s${id}` });
    database.run("updateService", { id: `s${id}`, changes: { category } });
  }
  const order = (...categories: string[]) => database.run("orderCategories", { categories });
  const listed = () => database.read(listCategories).map(({ category }) => category);
  const numbered = () =>
    database.read((reader) => listNumberedServices(reader, account)).map(({ number }) => number);
  const version = () => database.read((reader) => findCatalogueState(reader, account)).version;
  expect([listed(), numbered()]).toEqual([
    ["A", "B", "C"],
    [2, 4, 3, 1],
  ]);
  let last = version();
  for (const [names, categories, numbers] of [
    [
      ["C", "gone"],
      ["C", "A", "B"],
      [1, 2, 4, 3],
    ],
    [
      ["B", "C"],
      ["B", "C", "A"],
      [3, 1, 2, 4],
    ],
    [[], ["A", "B", "C"], [2, 4, 3, 1]],
  ] as const) {
    order(...names);
    expect([listed(), numbered()]).toEqual([[...categories], [...numbers]]);
    expect(version()).toBeGreaterThan(last);
    last = version();
  }
  order();
  expect(version()).toBe(last);
  expect(
    database.query("SELECT action, subject FROM audit WHERE action = 'category.order'"),
  ).toHaveLength(3);
  database.close();
});

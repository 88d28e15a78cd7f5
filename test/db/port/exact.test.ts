// Integers above 2^53 are exact on every engine, in rows, changes, parameters and results.

import { expect, test } from "bun:test";
import { customType, integer, sqliteTable } from "drizzle-orm/sqlite-core";
import { fields, query, select } from "../../../src/db/query.ts";
import { bigint, nullable, table } from "../../../src/db/table-definition.ts";
import { ENGINES, freshStore } from "../../support/stores.ts";

const large = customType<{ data: bigint; driverData: bigint }>({ dataType: () => "integer" });
const amounts = table(
  sqliteTable("amounts", {
    id: integer().primaryKey(),
    amount: large().notNull(),
    other: large(),
  }),
  { key: ["id"] },
);

const SUM = query({
  takes: { above: bigint },
  gives: { ...fields(amounts, "id", "amount"), total: nullable(bigint) },
  text: `SELECT ${select(amounts, "id", "amount")}, CAST((SELECT sum(amount) FROM amounts) AS TEXT) AS total
    FROM amounts WHERE amounts.amount > :above ORDER BY amounts.id`,
});

const LARGEST = 9_223_372_036_854_775_807n;

for (const engine of ENGINES) {
  test(`64-bit integers on ${engine} keep every digit`, async () => {
    const store = await freshStore(engine);
    await store.query(
      "CREATE TABLE amounts (id bigint PRIMARY KEY, amount bigint NOT NULL, other bigint)",
    );
    if (engine === "postgres") await store.query("GRANT ALL ON amounts TO reseller");
    await store.run((tx) => {
      tx.insert(amounts, { id: 1, amount: 2n ** 53n + 1n });
      tx.insert(amounts, { id: 2, amount: -LARGEST, other: LARGEST });
    });
    await store.batch(
      (tx) => tx.update(amounts, { id: 1 }, { amount: tx.row(amounts.byKey, 1)!.amount + 2n }),
      (tx) => tx.update(amounts, { id: 2 }, { amount: LARGEST - 2n ** 54n }),
    );
    const read = await store.read((reader) => ({
      rows: [reader.row(amounts.byKey, 1), reader.row(amounts.byKey, 2)],
      sums: reader.all(SUM, { above: 2n ** 53n + 2n }),
    }));
    expect(read.rows).toEqual([
      { id: 1, amount: 2n ** 53n + 3n, other: null },
      { id: 2, amount: LARGEST - 2n ** 54n, other: LARGEST },
    ]);
    const total = LARGEST - 2n ** 53n + 3n;
    expect(read.sums).toEqual([
      { id: 1, amount: 2n ** 53n + 3n, total },
      { id: 2, amount: LARGEST - 2n ** 54n, total },
    ]);
    await store.close();
  });
}

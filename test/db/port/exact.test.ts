// Integers above 2^53 and texts of any characters are exact on every engine, in rows, changes, parameters and results.

import { expect, test } from "bun:test";
import { integer, text as textColumn } from "drizzle-orm/sqlite-core";
import { fields, query, select } from "../../../src/db/port/query.ts";
import { bigint, bigInteger, nullable, table } from "../../../src/db/port/table-definition.ts";
import { ENGINES, freshStore } from "../../support/databases/stores.ts";

const amounts = table(
  "amounts",
  { id: integer().primaryKey(), amount: bigInteger().notNull(), other: bigInteger() },
  { key: ["id"] },
);

const SUM = query({
  parameters: { above: bigint },
  columns: { ...fields(amounts, "id", "amount"), total: nullable(bigint) },
  text: `SELECT ${select(amounts, "id", "amount")}, CAST((SELECT sum(amount) FROM amounts) AS TEXT) AS total
    FROM amounts WHERE amounts.amount > :above ORDER BY amounts.id`,
});

const texts = table(
  "texts",
  { id: integer().primaryKey(), text: textColumn().notNull() },
  { key: ["id"] },
);

const TEXTS = query({
  columns: fields(texts, "text"),
  text: `SELECT ${select(texts, "text")} FROM texts ORDER BY texts.id`,
});

/** Every character but NUL, which PostgreSQL lacks, and surrogates, which UTF-8 lacks; beside escaped ones. */
function everyCharacter(): string[] {
  const parts = ["", "NULL", "{}", '"', "\\", '\\"', '\u{1f600}\\\u{1f600}"'];
  for (let code = 1; code < 0x10000; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue;
    const character = String.fromCharCode(code);
    // Alone where most is escaped, then by their pages.
    if (code < 0x100) parts.push(`${character}"\\${character}`);
    else if (code % 0x100 === 0) parts.push(character);
    else parts.push(parts.pop()! + character);
  }
  return parts;
}

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

  test(`texts on ${engine} keep every character`, async () => {
    const store = await freshStore(engine);
    await store.query("CREATE TABLE texts (id bigint PRIMARY KEY, text text NOT NULL)");
    if (engine === "postgres") await store.query("GRANT ALL ON texts TO reseller");
    const written = everyCharacter();
    await store.run((tx) => {
      for (const [id, text] of written.entries()) tx.insert(texts, { id, text: `was ${text}` });
    });
    await store.run((tx) => {
      tx.each(written, (text, id) => tx.update(texts, { id }, { text }));
    });
    const read = await store.read((reader) => reader.all(TEXTS));
    expect(read.map(({ text }) => text)).toEqual(written);
    await store.close();
  });
}

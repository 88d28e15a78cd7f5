// The order in which the operator lists categories. Categories without a position follow by name.

import type { Reader, Tx } from "../port/port.ts";
import { fields, query, select } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";
import { categoryOrder } from "../tables/catalogue.ts";

/** Position of categories without one: after all others. */
const LAST = 1_000_000_000;

/** SQL for the position of the category of the services in `table`. */
export function categoryPosition(table: string): string {
  return `coalesce((SELECT position FROM category_order WHERE category_order.category = ${table}.category), ${LAST})`;
}

export interface Category {
  category: string;
  services: number;
  /** Null: it has none, and follows by name. */
  position: number | null;
}

const CATEGORIES = query({
  columns: { category: text, services: number, position: nullable(number) },
  text: `SELECT services.category AS "category", count(*) AS "services", min(category_order.position) AS "position"
    FROM services LEFT JOIN category_order ON category_order.category = services.category
    GROUP BY services.category
    ORDER BY coalesce(min(category_order.position), ${LAST}), services.category`,
});

const ROWS = query({
  columns: fields(categoryOrder),
  text: `SELECT ${select(categoryOrder)} FROM category_order ORDER BY position`,
});

/** The categories of the catalogue in the order in which they are listed. */
export function listCategories(reader: Reader): Category[] {
  return reader.all(CATEGORIES);
}

/** The categories with a position, in their order. */
export function readCategoryOrder(reader: Reader): string[] {
  return reader.all(ROWS).map(({ category }) => category);
}

/** Replaces the order. */
export function writeCategoryOrder(tx: Tx, categories: readonly string[]): void {
  const before = new Map(tx.all(ROWS).map((row) => [row.category, row]));
  const kept = new Set(categories);
  tx.each(
    [...before.values()].filter(({ category }) => !kept.has(category)),
    (row) => tx.delete(categoryOrder, row),
  );
  tx.each(categories, (category, index) => {
    const row = before.get(category);
    const position = index + 1;
    if (!row) tx.insert(categoryOrder, { category, position });
    else if (row.position !== position) tx.update(categoryOrder, row, { position });
  });
}

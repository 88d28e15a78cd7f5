// Orders the categories of the catalogue for lists.

import { readCategoryOrder, writeCategoryOrder } from "../../db/catalogue/category-order.ts";
import type { Tx } from "../../db/port/port.ts";
import { CATALOGUE_LOCK } from "../../db/tables/locks.ts";
import type { Actor } from "../../domain/ledger/ledger.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";

export interface OrderCategories {
  /** Each once, the first one first. All others follow by name. */
  categories: string[];
  actor: Actor;
}

/** Replaces the order of categories. A category need not have services. */
export function orderCategories(tx: Tx, command: OrderCategories, context: Context): null {
  const { categories, actor } = command;
  tx.lock(CATALOGUE_LOCK);
  const before = readCategoryOrder(tx);
  writeCategoryOrder(tx, categories);
  audit(tx, context, {
    actor,
    action: "category.order",
    subject: "categories",
    account: null,
    before: { order: before.join(", ") },
    after: { order: categories.join(", ") },
  });
  return null;
}

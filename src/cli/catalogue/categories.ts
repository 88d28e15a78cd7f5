// `admin category …`: lists the categories of the catalogue, and sets the order in which they are listed.

import type { Command } from "commander";
import { listCategories } from "../../db/catalogue/category-order.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { print } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { category } from "../kernel/values.ts";

export function declareCategories(admin: Command): void {
  const group = declareGroup(admin, "category", "categories of the catalogue and their order");
  declare(
    group,
    "list",
    "list categories in their order, with the number of their services",
    "reseller admin category list",
  ).action((options: CommonOptions) => printCategories(options));

  declare(
    group,
    "order",
    "list these categories first, in this sequence; all others follow by name",
    'reseller admin category order "Instagram Followers" "YouTube Views"',
  )
    .argument("[categories...]", "the categories; none: all are listed by name", categoryNames)
    .action(async (categories: string[], options: CommonOptions) => {
      await withDatabase(options, ({ execute }) =>
        execute("orderCategories", { categories: [...new Set(categories)] }),
      );
      await printCategories(options);
    });
}

function categoryNames(text: string, before: readonly string[] = []): string[] {
  return [...before, category(text)];
}

async function printCategories(options: CommonOptions): Promise<void> {
  const categories = await withDatabase(options, ({ store }) => store.read(listCategories));
  print(options.json, categories, () =>
    table(
      categories.map(({ position, ...row }) => ({ position, ...row })),
      "no services yet: create one with `reseller admin service create`",
    ),
  );
}

// `admin import …`: the commands about another panel whose customers move in. docs/moving-in.md.

import type { Command } from "commander";
import { countImported, countKeysToRotate, findPanelImport } from "../../db/imports/imports.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { isoTime, print } from "../output/output.ts";
import { fields } from "../output/text-table.ts";
import { declarePanelImport } from "./panel-import.ts";
import { declarePastOrders } from "./past-orders.ts";

export function declareImports(admin: Command): void {
  const group = declareGroup(admin, "import", "move in from another panel");
  declarePanelImport(group);
  declarePastOrders(group);
  declare(
    group,
    "show",
    "show what was imported, which keys to rotate and which orders are still open",
    "reseller admin import show",
  ).action(async (options: CommonOptions) => {
    const shown = await withDatabase(options, ({ store }) =>
      store.read((reader) => {
        const { balance, ...counts } = countImported(reader);
        const found = findPanelImport(reader);
        return {
          startedAt: isoTime(found?.startedAt ?? null),
          finishedAt: isoTime(found?.finishedAt ?? null),
          ordersThrough: found?.ordersThrough ?? 0,
          ...counts,
          openingBalances: jsonAmount(balance),
          keysToRotate: countKeysToRotate(reader),
        };
      }),
    );
    print(options.json, shown, () => fields(shown));
  });
}

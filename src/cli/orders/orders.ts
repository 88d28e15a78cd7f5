// `admin order …`: the commands for orders.

import type { Command } from "commander";
import { findCost } from "../../db/delivery/costs.ts";
import { findPastOrder, type ListedPastOrder } from "../../db/imports/imports.ts";
import { findOrder, findResends } from "../../db/orders/orders.ts";
import type { Reader } from "../../db/port/port.ts";
import { usernameOf } from "../../db/users/users.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { pastJson } from "../imports/past-orders.ts";
import { declareOperatorOrders } from "./operator-orders.ts";
import { declareOrderChanges } from "./order-changes.ts";
import { declareOrderList } from "./order-lists.ts";
import { changeOrder, costJson, orderJson, withNames } from "./order-output.ts";
import { declareSettle } from "./order-settlement.ts";
import { readTimeline } from "./order-timeline.ts";
import { print } from "../output/output.ts";
import { fields, table } from "../output/text-table.ts";
import { count, note } from "../kernel/values.ts";

export function declareOrders(admin: Command): void {
  const group = declareGroup(admin, "order", "list orders, and deliver them by hand");
  declareOrderList(group);
  declareShow(group);
  declareProgress(group);
  declareOrderChanges(group);
  declareSettle(group);
  declareNote(group);
  declareOperatorOrders(group);
}

function declareShow(group: Command): void {
  declare(group, "show", "show one order and its history", "reseller admin order show 12")
    .argument("<id>", "the order, by number or id")
    .action(async (id: string, options: CommonOptions) => {
      const found = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const order = findOrder(reader, id);
          if (!order) return requirePastOrder(reader, id);
          return {
            order: withNames(reader, order),
            cost: findCost(reader, order.orderId),
            resent: findResends(reader, order.orderId),
            timeline: readTimeline(reader, order),
          };
        }),
      );
      if ("past" in found) return printPast(options, found.past);
      const { order, cost, resent, timeline } = found;
      const result = { ...orderJson(order), ...costJson(cost), ...resent, timeline };
      print(options.json, result, ({ timeline: rows, ...shown }) =>
        [fields(shown), "", table(rows, "no status changes yet")].join("\n"),
      );
    });
}

/** Finds an order that ended in the panel from which everything was moved in. Refuses: order_not_found. */
function requirePastOrder(reader: Reader, id: string): { past: ListedPastOrder } {
  const past = findPastOrder(reader, id);
  if (!past) throw refusal("order_not_found");
  return { past: { ...past, username: usernameOf(reader, past.resellerAccount) } };
}

function printPast(options: CommonOptions, past: ListedPastOrder): void {
  print(options.json, { past: true, ...pastJson(past) }, (shown) =>
    [fields(shown), "", "It ended in another panel: it moved no money here."].join("\n"),
  );
}

function declareProgress(group: Command): void {
  declare(
    group,
    "progress",
    "record the progress of a delivery",
    "reseller admin order progress 12 --start-count 3572 --remains 157",
  )
    .argument("<id>", "the order, by number or id")
    .option(
      "--start-count <number>",
      "count at the link before the delivery began, such as its followers",
      count,
    )
    .option("--remains <number>", "quantity not delivered yet", count)
    .action(
      async (
        id: string,
        options: CommonOptions & { startCount?: number; remains?: number },
        command: Command,
      ) => {
        const { startCount = null, remains = null } = options;
        if (startCount === null && remains === null) {
          command.error("error: give --start-count, --remains, or both.");
        }
        await changeOrder(options, ({ execute }) =>
          execute("progressOrder", { id, startCount, remains }),
        );
      },
    );
}

function declareNote(group: Command): void {
  declare(
    group,
    "note",
    "leave a note on an order for other operators",
    'reseller admin order note 12 "asked the provider"',
  )
    .argument("<id>", "the order, by number or id")
    .argument("<text>", "text to store with the order", note)
    .action(async (id: string, text: string, options: CommonOptions) => {
      await changeOrder(options, async ({ execute, store }) => {
        await execute("noteOrder", { id, note: text });
        return store.read((reader) => findOrder(reader, id)!);
      });
    });
}

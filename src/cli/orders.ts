// `admin order …`

import { type Command, Option } from "commander";
import { findOrder } from "../db/orders.ts";
import { refusal } from "../domain/refusals.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "./command.ts";
import { changeOrder, changeOrders, orderIdsArgument } from "./several-orders.ts";
import { declareOrderList } from "./order-lists.ts";
import { orderJson, withNames } from "./order-output.ts";
import { timelineOf } from "./order-timeline.ts";
import { print } from "./output.ts";
import { fields, table } from "./text-table.ts";
import { count, note, providerOrder } from "./values.ts";

type TransitionVerb = "complete" | "fail" | "cancel" | "refund";

const TRANSITIONS: Record<TransitionVerb, { to: TransitionTarget; description: string }> = {
  complete: { to: "COMPLETED", description: "mark orders as delivered" },
  fail: { to: "FAILED", description: "mark orders as failed and refund their charges" },
  cancel: { to: "CANCELLED", description: "cancel orders and refund their charges" },
  refund: { to: "REFUNDED", description: "refund what is left of the charges of delivered orders" },
};

type TransitionTarget = "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

export function declareOrders(admin: Command): void {
  const group = declareGroup(admin, "order", "orders, and delivering them by hand");
  declareOrderList(group);
  declareShow(group);
  declareProgress(group);
  for (const verb of Object.keys(TRANSITIONS) as TransitionVerb[]) declareTransition(group, verb);
  declarePartial(group);
  declareSettle(group);
  declareNote(group);
}

function declareShow(group: Command): void {
  declare(group, "show", "show one order and what happened to it", "reseller admin order show 12")
    .argument("<id>", "either of the order's ids")
    .action(async (id: string, options: CommonOptions) => {
      const { order, timeline } = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = findOrder(reader, id);
          if (!found) throw refusal("order_not_found");
          return { order: withNames(reader, found), timeline: timelineOf(reader, found) };
        }),
      );
      print(options.json, { ...orderJson(order), timeline }, ({ timeline: rows, ...shown }) =>
        [fields(shown), "", table(rows, "no change of status yet")].join("\n"),
      );
    });
}

function declareProgress(group: Command): void {
  declare(
    group,
    "progress",
    "note how far a delivery is",
    "reseller admin order progress 12 --start-count 3572 --remains 157",
  )
    .argument("<id>", "either of the order's ids")
    .option("--start-count <number>", "the count before the delivery began", count)
    .option("--remains <number>", "what is not delivered yet", count)
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

function declareTransition(group: Command, verb: TransitionVerb): void {
  const { to, description } = TRANSITIONS[verb];
  declare(group, verb, description, `reseller admin order ${verb} 12 --note "by mail"`)
    .argument(
      "<ids...>",
      "orders by either of their ids; each is decided by itself",
      orderIdsArgument,
    )
    .option("--note <text>", "why, kept with the order", note)
    .action(async (ids: string[], options: CommonOptions & { note?: string }) => {
      await changeOrders(options, ids, ({ execute }, id) =>
        execute("transitionOrder", { id, to, note: options.note ?? null }),
      );
    });
}

function declarePartial(group: Command): void {
  declare(
    group,
    "partial",
    "end deliveries early and refund what remains",
    "reseller admin order partial 12 --remains 157",
  )
    .argument(
      "<ids...>",
      "orders by either of their ids; each is decided by itself",
      orderIdsArgument,
    )
    .addOption(
      new Option(
        "--remains <number>",
        "what was not delivered, 0 to the quantity; of several orders the same",
      )
        .argParser(count)
        .makeOptionMandatory(),
    )
    .option("--note <text>", "why, kept with the order", note)
    .action(async (ids: string[], options: CommonOptions & { remains: number; note?: string }) => {
      await changeOrders(options, ids, ({ execute }, id) =>
        execute("transitionOrder", {
          id,
          to: "PARTIAL",
          remains: options.remains,
          note: options.note ?? null,
        }),
      );
    });
}

function declareSettle(group: Command): void {
  declare(
    group,
    "settle",
    "say what became of an order whose placement is unknown",
    "reseller admin order settle 12 --placed 23501",
  )
    .argument("<id>", "either of the order's ids")
    .option("--placed <number>", "the provider has it under this number: follow it", providerOrder)
    .addOption(
      new Option("--not-placed", "the provider never had it: refund it").conflicts("placed"),
    )
    .action(
      async (
        id: string,
        options: CommonOptions & { placed?: string; notPlaced?: true },
        command: Command,
      ) => {
        const { placed = null, notPlaced } = options;
        if (placed === null && !notPlaced) {
          command.error("error: give --placed with the provider's order number, or --not-placed.");
        }
        await changeOrder(options, ({ execute }) =>
          execute("settleOrder", { id, providerOrder: placed }),
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
    .argument("<id>", "either of the order's ids")
    .argument("<text>", "what to keep with the order", note)
    .action(async (id: string, text: string, options: CommonOptions) => {
      await changeOrder(options, async ({ execute, store }) => {
        await execute("noteOrder", { id, note: text });
        return store.read((reader) => findOrder(reader, id)!);
      });
    });
}

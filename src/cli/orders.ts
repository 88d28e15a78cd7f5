// `admin order …`

import { type Command, Option } from "commander";
import { findCost } from "../db/costs.ts";
import type { Awaitable } from "../db/port.ts";
import { findOrder, type Order } from "../db/orders.ts";
import { refusal } from "../domain/refusals.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { declareOrderList } from "./order-lists.ts";
import { costJson, orderJson, withNames } from "./order-output.ts";
import { timelineOf } from "./order-timeline.ts";
import { print } from "./output.ts";
import { fields, table } from "./text-table.ts";
import { count, note, providerOrder } from "./values.ts";

type TransitionVerb = "complete" | "fail" | "cancel" | "refund";

const TRANSITIONS: Record<TransitionVerb, { to: TransitionTarget; description: string }> = {
  complete: { to: "COMPLETED", description: "mark an order as delivered" },
  fail: { to: "FAILED", description: "mark an order as failed and refund its charge" },
  cancel: { to: "CANCELLED", description: "cancel an order and refund its charge" },
  refund: { to: "REFUNDED", description: "refund what is left of a delivered order's charge" },
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
      const { order, cost, timeline } = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = findOrder(reader, id);
          if (!found) throw refusal("order_not_found");
          return {
            order: withNames(reader, found),
            cost: findCost(reader, found.orderId),
            timeline: timelineOf(reader, found),
          };
        }),
      );
      const result = { ...orderJson(order), ...costJson(cost), timeline };
      print(options.json, result, ({ timeline: rows, ...shown }) =>
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
    .argument("<id>", "either of the order's ids")
    .option("--note <text>", "why, kept with the order", note)
    .action(async (id: string, options: CommonOptions & { note?: string }) => {
      await changeOrder(options, ({ execute }) =>
        execute("transitionOrder", { id, to, note: options.note ?? null }),
      );
    });
}

function declarePartial(group: Command): void {
  declare(
    group,
    "partial",
    "end a delivery early and refund what remains",
    "reseller admin order partial 12 --remains 157",
  )
    .argument("<id>", "either of the order's ids")
    .addOption(
      new Option("--remains <number>", "what was not delivered, 0 to the quantity")
        .argParser(count)
        .makeOptionMandatory(),
    )
    .option("--note <text>", "why, kept with the order", note)
    .action(async (id: string, options: CommonOptions & { remains: number; note?: string }) => {
      await changeOrder(options, ({ execute }) =>
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

async function changeOrder(
  options: CommonOptions,
  change: (session: Session) => Awaitable<Order>,
): Promise<void> {
  const order = await withDatabase(options, async (session) => {
    const changed = await change(session);
    return session.store.read((reader) => withNames(reader, changed));
  });
  print(options.json, orderJson(order), fields);
}

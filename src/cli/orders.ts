// `admin order …`

import { type Command, Option } from "commander";
import type { Awaitable, Reader } from "../db/port.ts";
import { findOrder, listOrders, type ListedOrder, type Order } from "../db/orders.ts";
import { findUser, findUserByAccount } from "../db/users.ts";
import { placementOf } from "../domain/deliveries.ts";
import { orderStatus } from "../domain/responses.ts";
import { refusal } from "../domain/refusals.ts";
import { jsonAmount } from "../domain/money.ts";
import { ORDER_STATUSES, type OrderStatus } from "../domain/orders.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { timelineOf } from "./order-timeline.ts";
import { type ProviderNames, providerNames } from "./provider-names.ts";
import { dollars, print } from "./output.ts";
import { fields, table } from "./text-table.ts";
import { count, limit, note, providerOrder, username } from "./values.ts";

const LIST_DEFAULT = 50;

interface ListOptions extends CommonOptions {
  status?: OrderStatus;
  user?: string;
  unknown?: true;
  late?: true;
  limit: number;
}

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
  declareList(group);
  declareShow(group);
  declareProgress(group);
  for (const verb of Object.keys(TRANSITIONS) as TransitionVerb[]) declareTransition(group, verb);
  declarePartial(group);
  declareSettle(group);
  declareNote(group);
}

function declareList(group: Command): void {
  declare(
    group,
    "list",
    "list orders, newest first",
    "reseller admin order list --status PROCESSING",
  )
    .addOption(new Option("--status <status>", "only these").choices(ORDER_STATUSES))
    .option("--user <username>", "only this reseller's", username)
    .addOption(
      new Option("--limit <number>", "at most this many").argParser(limit).default(LIST_DEFAULT),
    )
    .option("--unknown", "only PENDING ones of which it is not known whether they were placed")
    .option("--late", "only those of which a change was reported after their end")
    .action(async (options: ListOptions) => {
      const orders = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const user = options.user === undefined ? undefined : findUser(reader, options.user);
          if (options.user !== undefined && !user) throw refusal("user_not_found");
          const found = listOrders(reader, {
            status: options.status,
            resellerAccount: user?.account,
            unknown: options.unknown,
            late: options.late,
            limit: options.limit,
          });
          const names = providerNames(reader);
          return found.map((order) => withProvider(names, order));
        }),
      );
      print(options.json, orders.map(orderJson), () => orderTable(orders));
    });
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

/** An order with the names of its reseller and its provider. */
interface NamedOrder extends ListedOrder {
  provider: string | null;
}

function withNames(reader: Reader, order: Order): NamedOrder {
  const reseller = findUserByAccount(reader, order.resellerAccount)!;
  return withProvider(providerNames(reader), { ...order, username: reseller.username });
}

function withProvider(names: ProviderNames, order: ListedOrder): NamedOrder {
  return { ...order, provider: names(order.delivery?.providerId ?? null) };
}

/** The members of `GET /orders/:id`, and those that only the operator sees. */
function orderJson(order: NamedOrder) {
  return {
    ...orderStatus(order),
    username: order.username,
    refunded: jsonAmount(order.refundedMicros),
    provider: order.provider,
    providerOrder: order.delivery?.providerOrder ?? null,
    placement: placementOf(order.delivery),
  };
}

function orderTable(orders: NamedOrder[]): string {
  const rows = orders.map((order) => ({
    order: order.orderId,
    status: order.status,
    placement: placementOf(order.delivery),
    user: order.username,
    service: order.serviceName,
    quantity: order.quantity,
    remains: order.remains,
    "charge usd": dollars(order.chargeMicros),
    "refunded usd": dollars(order.refundedMicros),
    created: new Date(order.createdAt).toISOString(),
    link: order.link,
  }));
  return table(rows, "no orders to list");
}

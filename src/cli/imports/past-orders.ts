// `admin import orders`: the orders that ended in another panel. docs/specification/imports.md#past-orders.

import type { Command } from "commander";
import { type ListedPastOrder, listPastOrdersBefore } from "../../db/imports/imports.ts";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import { csvText } from "../../domain/values/csv.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { limit as listSize, orderNumber, username } from "../kernel/values.ts";
import { isoTime, print } from "../output/output.ts";
import { table } from "../output/text-table.ts";

const LIMIT_DEFAULT = 50;
/** Rows that are read at once for a CSV. */
const PIECE_ROWS = 5000;

interface PastOptions extends CommonOptions {
  user?: string;
  limit?: number;
  before?: number;
  csv?: true;
}

const HEADER =
  "number,user,service,serviceName,link,quantity,charge,status,startCount,remains,createdAt,provider,providerOrder";

export function declarePastOrders(group: Command): void {
  declare(
    group,
    "orders",
    "list orders that ended in the other panel, newest first",
    "reseller admin import orders --user alice --csv > past-orders.csv",
  )
    .option("--user <username>", "only those of this reseller", username)
    .option("--before <number>", "only orders with numbers below this", orderNumber)
    .option("--limit <count>", `how many (default: ${LIMIT_DEFAULT}; with --csv all)`, listSize)
    .option("--csv", "print CSV")
    .action(async (options: PastOptions) => {
      await withDatabase(options, async ({ store }) => {
        const account =
          options.user === undefined
            ? null
            : (await store.read((reader) => requireUser(reader, options.user!))).account;
        if (options.csv) process.stdout.write(`${HEADER}\n`);
        let left = options.limit ?? (options.csv ? Infinity : LIMIT_DEFAULT);
        let before = options.before ?? Number.MAX_SAFE_INTEGER;
        const listed: ListedPastOrder[] = [];
        while (left > 0) {
          const limit = Math.min(left, PIECE_ROWS);
          const rows = await store.read((reader) =>
            listPastOrdersBefore(reader, { account, before, limit }),
          );
          if (options.csv) process.stdout.write(rows.map(csvLine).join(""));
          else listed.push(...rows);
          if (rows.length < limit) break;
          left -= rows.length;
          before = rows.at(-1)!.orderId;
        }
        if (!options.csv) print(options.json, listed.map(pastJson), () => pastText(listed));
      });
    });
}

/** What `order show` and `import orders` print of a past order. */
export function pastJson(order: ListedPastOrder) {
  const { orderId, username: user, serviceNumber, serviceName, link, quantity, status } = order;
  const { startCount, remains, provider, providerOrder } = order;
  return {
    orderId,
    username: user,
    service: serviceNumber,
    serviceName,
    link,
    quantity,
    charge: jsonAmount(order.chargeMicros),
    status,
    startCount,
    remains,
    createdAt: isoTime(order.createdAt),
    provider,
    providerOrder,
  };
}

function pastText(orders: readonly ListedPastOrder[]): string {
  const rows = orders.map((order) => ({
    number: order.orderId,
    username: order.username,
    service: order.serviceNumber,
    quantity: order.quantity,
    "charge usd": formatMicros(order.chargeMicros),
    status: order.status,
    created: isoTime(order.createdAt),
    link: order.link,
  }));
  return table(rows, "no orders of another panel were imported");
}

function csvLine(order: ListedPastOrder): string {
  const cells = [
    order.orderId,
    csvText(order.username),
    order.serviceNumber,
    csvText(order.serviceName),
    csvText(order.link),
    order.quantity,
    formatMicros(order.chargeMicros),
    order.status,
    order.startCount,
    order.remains,
    isoTime(order.createdAt),
    csvText(order.provider ?? ""),
    csvText(order.providerOrder ?? ""),
  ];
  return `${cells.join()}\n`;
}

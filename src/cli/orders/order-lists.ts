// `admin order list`: lists orders with the same filters as the panel's page.

import { type Command, Option } from "commander";
import { lastCosts } from "../../db/delivery/costs.ts";
import { lastLateReports } from "../../db/orders/late-reports.ts";
import { listOperatorOrders } from "../../db/orders/operator-orders.ts";
import type { OperatorOrderFilter } from "../../db/orders/operator-order-filter.ts";
import type { Reader } from "../../db/port/port.ts";
import { accountOfOrders, findUser } from "../../db/users/users.ts";
import { type Placement, PLACEMENTS } from "../../domain/delivery/deliveries.ts";
import { ORDER_STATUSES, type OrderStatus } from "../../domain/orders/order-statuses.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { requireProvider } from "../../operations/providers/providers.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import {
  addPaging,
  addWindow,
  type PageOptions,
  printMore,
  readPages,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { addColumns, type ColumnOptions, listTable } from "../output/list-columns.ts";
import {
  costJson,
  lateJson,
  orderJson,
  ORDER_LIST,
  withCost,
  withProvider,
} from "./order-output.ts";
import { print } from "../output/output.ts";
import { providerNames } from "../providers/provider-names.ts";
import {
  linkPart,
  orderIds,
  firstNumber,
  providerName,
  providerOrder,
  reference,
  serviceId,
  username,
} from "../kernel/values.ts";

const LIST_DEFAULT = 50;
/**
 * The list for --unknown. All its orders are PENDING, so it shows no status. It shows the provider, where the operator
 * looks the order up.
 */
const UNKNOWN_LIST: typeof ORDER_LIST = {
  ...ORDER_LIST,
  shown: ORDER_LIST.shown.map((column) => (column === "status" ? "provider" : column)),
};
/** The list of late reports, which shows the order's status beside the reported one. */
const LATE_LIST: typeof ORDER_LIST = {
  ...ORDER_LIST,
  shown: ["order", "status", "reported late", "provider", "user", "charge usd", "age", "link"],
};

interface ListOptions extends CommonOptions, PageOptions, ColumnOptions, WindowOptions {
  status?: OrderStatus;
  user?: string;
  service?: string;
  provider?: string;
  placement?: Placement;
  id?: string[];
  reference?: string;
  providerOrder?: string;
  link?: string;
  unknown?: true;
  late?: true;
  test?: true;
  cursor?: number;
}

export function declareOrderList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list orders, newest first",
    "reseller admin order list --status PROCESSING --provider acme --since 7d",
  )
    .addOption(
      new Option("--status <status>", "only orders with this status").choices(ORDER_STATUSES),
    )
    .option("--user <username>", "only orders of this reseller", username)
    .option("--service <id>", "only orders of this service", serviceId)
    .option("--provider <name>", "only orders that this provider delivers", providerName)
    .addOption(
      new Option("--placement <state>", "only orders in this submission state").choices(PLACEMENTS),
    )
    .option("--id <ids>", "only these numbers and ids, separated by commas", orderIds)
    .option("--reference <text>", "only orders with this caller's reference", reference)
    .option(
      "--provider-order <number>",
      "only orders with this number at the provider",
      providerOrder,
    )
    .option("--link <text>", "only orders with this text in the link, ignoring case", linkPart)
    .option("--unknown", "only orders whose submission is unknown")
    .option("--late", "only orders with an undecided late report")
    .option("--test", "only test orders; other lists do not show them");
  addWindow(command);
  addColumns(command, ORDER_LIST);
  addPaging(command, { what: "order", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const orders = await withDatabase(options, async ({ store }) => {
        const { filter, names } = await store.read((reader) => ({
          filter: filterOf(reader, options),
          names: providerNames(reader),
        }));
        return readPages(options, options.cursor ?? Number.MAX_SAFE_INTEGER, (below, most) =>
          store.read((reader) => {
            const { rows, next } = listOperatorOrders(reader, filter, below, most);
            const ids = rows.map(({ orderId }) => orderId);
            const costs = lastCosts(reader, ids);
            const late = lastLateReports(reader, ids);
            const listed = rows.map((order) => ({
              ...withCost(costs, withProvider(names, order)),
              late: late.get(order.orderId) ?? null,
            }));
            return { rows: listed, next };
          }),
        );
      });
      const json = orders.map((order) => ({
        ...orderJson(order),
        ...costJson(order.cost),
        reportedLate: lateJson(order.late),
      }));
      const list = options.unknown ? UNKNOWN_LIST : options.late ? LATE_LIST : ORDER_LIST;
      print(options.json, json, () => listTable(list, orders, options));
      printMore(options, orders, () => orders.at(-1)!.orderId);
    },
  );
}

/** Turns options into a filter. Refuses: user_not_found, provider_not_found. */
function filterOf(reader: Reader, options: ListOptions): OperatorOrderFilter {
  const { user, provider } = options;
  const owner = user === undefined ? undefined : findUser(reader, user);
  if (user !== undefined && !owner) throw refusal("user_not_found");
  return {
    status: options.unknown ? "PENDING" : options.status,
    resellerAccount: owner && accountOfOrders(reader, owner.account, options.test ?? false),
    service: options.service,
    providerId: provider === undefined ? null : requireProvider(reader, provider).providerId,
    placement: options.unknown ? "unknown" : options.placement,
    late: options.late,
    test: options.test,
    window: windowOf(options),
    ids: options.id,
    reference: options.reference,
    providerOrder: options.providerOrder,
    link: options.link,
  };
}

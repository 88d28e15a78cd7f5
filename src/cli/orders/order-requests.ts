// `admin request …`: lists and decides the requests of resellers to cancel or refill orders.

import { type Command, Option } from "commander";
import { type ListedRequest, listOrderRequests } from "../../db/orders/order-request-lists.ts";
import { findOrder } from "../../db/orders/orders.ts";
import {
  REQUEST_DECISIONS,
  REQUEST_KINDS,
  type RequestDecision,
  type RequestKind,
} from "../../domain/orders/order-requests.ts";
import { refusal } from "../../domain/values/error-table.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import {
  addPaging,
  addWindow,
  printMore,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { ageText, print } from "../output/output.ts";
import { type ProviderNames, providerNames } from "../providers/provider-names.ts";
import { fields, table } from "../output/text-table.ts";
import { note, firstNumber } from "../kernel/values.ts";

const LIST_DEFAULT = 50;

const DESCRIPTIONS: Record<RequestDecision, string> = {
  approve: "approve a request: cancel and refund the order, or accept the refill",
  decline: "decline a request; the order does not change",
  complete: "mark a refill as delivered",
};

interface ListOptions extends CommonOptions, WindowOptions {
  open?: true;
  kind?: RequestKind;
  order?: string;
  test?: true;
  limit: number;
  cursor?: number;
}

export function declareOrderRequests(admin: Command): void {
  const group = declareGroup(
    admin,
    "request",
    "requests of resellers to cancel or refill an order",
  );
  declareList(group);
  for (const decision of REQUEST_DECISIONS) declareDecision(group, decision);
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list requests, newest first",
    "reseller admin request list --open",
  )
    .option("--open", "only open requests")
    .addOption(new Option("--kind <kind>", "only requests of this kind").choices(REQUEST_KINDS))
    .option("--order <id>", "only requests for this order, by its number or id")
    .option("--test", "only requests for test orders");
  addWindow(command);
  addPaging(command, { what: "number", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const { open, kind, cursor: below, test, limit } = options;
      const requests = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const order = options.order === undefined ? null : findOrder(reader, options.order);
          if (order === undefined) throw refusal("order_not_found");
          const window = windowOf(options);
          const filter = { open, kind, below, test, orderId: order?.orderId, window };
          const names = providerNames(reader);
          return listOrderRequests(reader, filter, limit).map((each) => requestJson(each, names));
        }),
      );
      print(options.json, requests, (rows) => table(rows.map(rowOf), "no requests to list"));
      printMore(options, requests, () => requests.at(-1)!.number);
    },
  );
}

function declareDecision(group: Command, decision: RequestDecision): void {
  declare(group, decision, DESCRIPTIONS[decision], `reseller admin request ${decision} 12`)
    .argument("<id>", "the request, by its number or its id")
    .option("--note <text>", "reason, stored with the request", note)
    .action(async (id: string, options: CommonOptions & { note?: string }) => {
      const request = await withDatabase(options, async ({ execute, store }) => {
        const { requestId } = await execute("decideRequest", {
          id,
          decision,
          note: options.note ?? null,
        });
        return store.read((reader) => {
          const filter = { below: requestId + 1 };
          const [live] = listOrderRequests(reader, filter, 1);
          const [found] =
            live?.requestId === requestId
              ? [live]
              : listOrderRequests(reader, { ...filter, test: true }, 1);
          return requestJson(found!, providerNames(reader));
        });
      });
      print(options.json, request, fields);
    });
}

function requestJson(request: ListedRequest, names: ProviderNames) {
  const { id, requestId, kind, state, unknown, orderId, status, username, serviceName } = request;
  return {
    id,
    number: requestId,
    kind,
    state,
    unknown,
    orderId,
    status,
    username,
    service: serviceName,
    provider: names(request.providerId),
    providerRefill: request.providerRefill,
    note: request.note,
    createdAt: new Date(request.createdAt).toISOString(),
  };
}

function rowOf(request: ReturnType<typeof requestJson>) {
  const { number, kind, state, unknown, orderId, status, username, provider } = request;
  return {
    number,
    kind,
    state: unknown ? "sent, unknown" : state,
    order: orderId,
    "order is": status,
    user: username,
    provider,
    age: ageText(Date.now() - Date.parse(request.createdAt)),
    note: request.note,
  };
}

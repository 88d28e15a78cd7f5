// GET /services. docs/specification/endpoints.md#get-services.

import type { Awaitable, Reader, ReadStore } from "../../db/port/port.ts";
import { type ListedOpenService, listOpenServices } from "../../db/catalogue/services.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import type { Call, PreparedResponse } from "../server/endpoint.ts";
import { fieldsFilter } from "../read/query.ts";
import { createServiceListCache } from "./service-list-cache.ts";
import { listServices } from "../../api-docs/endpoints/services.ts";
import { ORDER, type Route } from "../server/api-route.ts";

const cachedServiceList = createServiceListCache((reader, account) =>
  serviceList(reader, account, contractMembers),
);
const cachedFullList = createServiceListCache((reader, account) =>
  serviceList(reader, account, allMembers),
);

function getServices(
  { store }: { store: ReadStore },
  { request, key: { testOf, resellerAccount } }: Call,
): Awaitable<PreparedResponse> {
  const list = fieldsFilter(request) === "all" ? cachedFullList : cachedServiceList;
  return list(store, testOf ?? resellerAccount);
}

/** The catalogue_version triggers must watch every column that is read here and in the choice of services. */
function serviceList(
  reader: Reader,
  account: number,
  membersOf: (service: ListedOpenService) => object,
): object {
  return { status: "success", services: listOpenServices(reader, account).map(membersOf) };
}

function contractMembers(service: ListedOpenService): object {
  return {
    id: service.id,
    name: service.name,
    price: jsonAmount(service.priceMicros),
    min: service.min,
    max: service.max,
  };
}

/** Members that only `fields=all` shows, in this order. */
const EXTRA_MEMBERS: Readonly<Record<string, (service: ListedOpenService) => unknown>> = {
  per: ({ per }) => per,
  type: ({ type }) => type,
  dripfeed: ({ dripfeed }) => dripfeed,
  cancel: ({ cancel }) => cancel,
  refill: ({ refill }) => refill,
  refillDays: ({ refillDays }) => refillDays,
};

function allMembers(service: ListedOpenService): object {
  const extra = Object.entries(EXTRA_MEMBERS).map(([name, read]) => [name, read(service)]);
  return { ...contractMembers(service), ...Object.fromEntries(extra) };
}

export const routes: readonly Route<{ store: ReadStore }>[] = [
  ["GET", "/api/v1/services", ORDER, getServices, listServices],
];

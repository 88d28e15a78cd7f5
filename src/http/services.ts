// GET /services. docs/specification.md#get-services.

import type { Awaitable, Reader, ReadStore } from "../db/port.ts";
import { type ListedOpenService, listOpenServices } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Call, PreparedResponse } from "./endpoint.ts";
import { fieldsFilter } from "./query.ts";
import { createServiceListCache } from "./service-list-cache.ts";

const cachedServiceList = createServiceListCache((reader, account) =>
  serviceList(reader, account, contractMembers),
);
const cachedFullList = createServiceListCache((reader, account) =>
  serviceList(reader, account, allMembers),
);

export function getServices(
  { store }: { store: ReadStore },
  { request, key: { testOf, resellerAccount } }: Call,
): Awaitable<PreparedResponse> {
  const list = fieldsFilter(request) === "all" ? cachedFullList : cachedServiceList;
  return list(store, testOf ?? resellerAccount);
}

/** Every column read here, and in the choice of services, must be watched by the catalogue_version triggers. */
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

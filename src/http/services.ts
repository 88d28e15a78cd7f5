// GET /services. docs/specification.md#get-services.

import type { Awaitable, Reader, ReadStore } from "../db/port.ts";
import { listOpenServices } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Call, PreparedResponse } from "./endpoint.ts";
import { createServiceListCache } from "./service-list-cache.ts";

const cachedServiceList = createServiceListCache(serviceList);

export function getServices(
  { store }: { store: ReadStore },
  { key: { testOf, resellerAccount } }: Call,
): Awaitable<PreparedResponse> {
  return cachedServiceList(store, testOf ?? resellerAccount);
}

/** Every column read here, and in the choice of services, must be watched by the catalogue_version triggers. */
function serviceList(reader: Reader, account: number): object {
  const services = listOpenServices(reader, account).map((service) => ({
    id: service.id,
    name: service.name,
    price: jsonAmount(service.priceMicros),
    min: service.min,
    max: service.max,
  }));
  return { status: "success", services };
}

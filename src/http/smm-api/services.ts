// `services`: the services that the reseller may order, in the terms of panels.
// docs/specification/smm-api.md#v2-services.

import type { Awaitable, Reader } from "../../db/port/port.ts";
import { listNumberedServices } from "../../db/catalogue/services.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { smmTerms } from "../../domain/catalogue/services.ts";
import { createServiceListCache } from "../api/service-list-cache.ts";
import type { ActionDeps, SmmCall } from "./call.ts";

const cachedServices = createServiceListCache(listSmmServices);

export function getServices({ store }: ActionDeps, { key }: SmmCall): Awaitable<object> {
  return cachedServices(store, key.testOf ?? key.resellerAccount);
}

/** The catalogue_version triggers must watch every column that is read here and in the choice of services. */
function listSmmServices(reader: Reader, account: number): object[] {
  return listNumberedServices(reader, account).flatMap((service) => {
    const terms = smmTerms(service);
    if (!terms) return [];
    return {
      service: service.number,
      name: service.name,
      type: terms.type,
      category: service.category,
      rate: formatMicros(terms.rateMicros),
      min: String(service.min),
      max: String(service.max),
      dripfeed: service.dripfeed,
      refill: service.refill,
      cancel: service.cancel,
    };
  });
}

// GET /services. docs/specification.md#get-services.

import type { Connection } from "../db/sqlite/connection.ts";
import { listOpenServices } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Call, PreparedResponse } from "./endpoint.ts";
import { cachedServiceList } from "./response-cache.ts";

export function getServices(
  { connection }: { connection: Connection },
  { key: { resellerAccount } }: Call,
): PreparedResponse {
  return cachedServiceList(connection, resellerAccount, () =>
    serviceList(connection, resellerAccount),
  );
}

/** Every column read here, and in the choice of services, must be watched by the catalogue_version triggers. */
function serviceList(connection: Connection, account: number): object {
  const services = listOpenServices(connection, account).map((service) => ({
    id: service.id,
    name: service.name,
    price: jsonAmount(service.priceMicros),
    min: service.min,
    max: service.max,
  }));
  return { status: "success", services };
}

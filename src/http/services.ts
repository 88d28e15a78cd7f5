// GET /services. Specification 4.

import { listOpenServices } from "../db/services.ts";
import { jsonAmount } from "../domain/money.ts";
import type { Api, Call } from "./endpoint.ts";

export function getServices({ connection }: Api, { key }: Call): object {
  const services = listOpenServices(connection, key.resellerAccount).map((service) => ({
    id: service.id,
    name: service.name,
    price: jsonAmount(service.priceMicros),
    min: service.min,
    max: service.max,
  }));
  return { status: "success", services };
}

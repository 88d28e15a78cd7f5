// The operator's lists of grants, and what a reseller pays.

import { priceFor } from "../../domain/catalogue/prices.ts";
import type { Reader } from "../port/port.ts";
import { grants } from "../tables/catalogue.ts";
import type { User } from "../users/users.ts";
import type { Service } from "./services.ts";
import { query } from "../port/query.ts";
import { nullable, number, text } from "../port/table-definition.ts";

export interface ListedGrant {
  serviceId: string;
  serviceName: string;
  username: string;
  /** Null: the list price applies. */
  priceMicros: number | null;
  listPriceMicros: number;
}

const COLUMNS = {
  serviceId: text,
  serviceName: text,
  username: text,
  priceMicros: nullable(number),
  listPriceMicros: number,
};

const listWhere = (where: string) => `SELECT grants.service_id AS "serviceId",
    services.name AS "serviceName", users.username AS "username",
    grants.price_micros AS "priceMicros", services.price_micros AS "listPriceMicros"
  FROM grants JOIN services ON services.id = grants.service_id
    JOIN users ON users.account = grants.reseller_account
  ${where} ORDER BY grants.service_id, users.username`;

const ALL = query({ columns: COLUMNS, text: listWhere("") });
const OF_SERVICE = query({
  parameters: { service: text },
  columns: COLUMNS,
  text: listWhere("WHERE grants.service_id = :service"),
});
const OF_RESELLER = query({
  parameters: { account: number },
  columns: COLUMNS,
  text: listWhere("WHERE grants.reseller_account = :account"),
});

/** Lists grants by service, then username. Null means any service or any account. */
export function listAllGrants(
  reader: Reader,
  service: string | null,
  account: number | null,
): ListedGrant[] {
  if (service !== null) {
    const found = reader.all(OF_SERVICE, { service });
    if (account === null) return found;
    const own = new Set(reader.all(OF_RESELLER, { account }).map(({ username }) => username));
    return found.filter(({ username }) => own.has(username));
  }
  return account === null ? reader.all(ALL) : reader.all(OF_RESELLER, { account });
}

/** Returns what a reseller pays for a service now, whether it may order it or not. */
export function paidPrice(
  reader: Reader,
  { id, priceMicros }: Pick<Service, "id" | "priceMicros">,
  { account, discountPpm }: Pick<User, "account" | "discountPpm">,
): number {
  return priceFor(priceMicros, reader.row(grants.byKey, id, account)?.priceMicros, discountPpm);
}

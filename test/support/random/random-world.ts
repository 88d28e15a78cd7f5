// What a database holds after random commands: all rows, the names for the next commands, and what is out of order.

import type { Reader } from "../../../src/db/port/port.ts";
import { fields, query, select } from "../../../src/db/port/query.ts";
import type { AnyTable } from "../../../src/db/port/table-definition.ts";
import { TABLES } from "../../../src/db/tables/tables.ts";
import { type Problem, runChecks } from "../../../src/db/verify/verify.ts";
import { QUERY_CHECKS } from "../../../src/db/verify/verify-queries.ts";
import { SCAN_CHECKS } from "../../../src/db/verify/verify-scans.ts";
import type { Names } from "./random-parts.ts";

const everything = TABLES.map((table: AnyTable) => ({
  name: table.name,
  all: query({
    columns: fields(table),
    text: `SELECT ${select(table)} FROM ${table.name} ORDER BY ${table.key
      .map((field) => table.columns.find((each) => each.field === field)!.name)
      .join()}`,
  }),
}));

export type Rows = Record<string, Row[]>;
/** Rows of any table: a field that a table has not is never asked for. */
type Row = Record<string, never>;

export const readAll = (reader: Reader): Rows =>
  Object.fromEntries(everything.map(({ name, all }) => [name, reader.all(all) as never]));

export function namesIn(rows: Rows): Names {
  const map = (table: string, key: string, value: string) =>
    new Map(rows[table]!.map((row): [string, never] => [String(row[key]), row[value]!]));
  const orders = map("orders", "id", "orderId");
  const idOf = map("orders", "orderId", "id") as ReadonlyMap<string, string>;
  const attempts = map("attempts", "orderId", "attemptId");
  const accounts = map("users", "username", "account");
  return {
    accounts: new Map([...accounts].map(([username, each]) => [username.toLowerCase(), each])),
    orders,
    attempts: new Map([...attempts].map(([orderId, each]) => [idOf.get(orderId)!, each])),
    placements: map("orders", "id", "placement"),
    orderProviders: map("orders", "id", "providerId"),
    providers: map("providers", "name", "providerId"),
    requests: map("order_requests", "id", "requestId"),
  };
}

/** All but that stored responses fit their orders, which random ones do not. */
const CHECKS = [...QUERY_CHECKS, ...SCAN_CHECKS].filter(
  ({ name }) => !/stored response/.test(name),
);

/** What `verify` finds, the plain model of what the ledger and orders must add up to. */
export async function problemsIn(
  read: <T>(body: (reader: Reader) => T) => Promise<T>,
): Promise<Problem[]> {
  const { problems } = await runChecks(
    { read: read as never },
    { checks: CHECKS, isUnreadable: () => false, progress() {} },
  );
  return problems;
}

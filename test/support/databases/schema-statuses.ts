// Finds the lists of order statuses in the text of a schema, which cannot derive them from the table of statuses.

import {
  ENDED_STATUSES,
  OPEN_STATUSES,
  ORDER_STATUSES,
  type OrderStatus,
  refundIn,
} from "../../../src/domain/orders/order-statuses.ts";
import { FINAL_STATUSES } from "../../../src/domain/orders/order-transitions.ts";

const STATUS = `'(?:${ORDER_STATUSES.join("|")})'(?:::text)?`;
const OPERATOR = String.raw`(?:=|<>|IN|NOT IN|= ANY|<> ALL)`;
/** A condition on the column `status` with several statuses, as it is written for SQLite or printed by PostgreSQL. */
const LIST = new RegExp(
  String.raw`\bstatus\)? ${OPERATOR} *\(*(?:ARRAY\[)?${STATUS}(?:\s*(?:,|\)* *(?:OR|AND) \(?[\w.]+ ${OPERATOR})\s*${STATUS})+`,
  "g",
);

const sorted = (statuses: readonly string[]) => statuses.toSorted().join(" ");

/** The different lists of statuses in a schema's text. */
export function statusListsIn(schema: readonly string[]): string[] {
  const found = schema.flatMap((text) =>
    [...text.matchAll(LIST)].map(([list]) =>
      sorted([...list.matchAll(/'(\w+)'/g)].map(([, status]) => status!)),
    ),
  );
  return [...new Set(found)].sort();
}

/** The lists that the schema of each engine must have, no more and no fewer. */
export function requiredStatusLists(): string[] {
  const refunding = (part: string) => ORDER_STATUSES.filter((status) => refundIn(status) === part);
  // Orders that were never sent, or perhaps.
  const unplaced: OrderStatus[] = ["PENDING", "CANCELLED"];
  const lists = [
    ORDER_STATUSES,
    OPEN_STATUSES,
    // Past orders.
    ENDED_STATUSES,
    FINAL_STATUSES,
    refunding("nothing"),
    refunding("everything"),
    unplaced,
  ];
  return [...new Set(lists.map(sorted))].sort();
}

// Filters of the list of orders, and the tabs of their states.

import type { OrderListQuery } from "../../db/orders/order-lists.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { parseTime } from "../../domain/values/times.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import type { Call } from "../server/call.ts";

/** Reads the filters from the query string. Wrong ones are noted in the form, and left out. */
export function readFilters({ filters, visitor }: Call): OrderListQuery {
  const status = filters.optionalChoice("status", ORDER_STATUSES);
  const day = (name: string, isEnd: boolean) => {
    const text = filters.raw(name);
    if (text === "") return null;
    const at = /^\d{4}-\d{2}-\d{2}$/.test(text) ? parseTime(text, isEnd ? DAY_MS - 1 : 0) : null;
    if (at === null) filters.addError(name, visitor.t("field.wrong"));
    return at;
  };
  const window = { from: day("from", false), to: day("to", true) };
  return {
    resellerAccount: visitor.account,
    status: filters.errors.has("status") ? null : status,
    service: null,
    window,
  };
}

// Filters of the list of orders: state, days, and a part of the link.

import type { OrderListQuery } from "../../db/orders/order-lists.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { LINK_PART } from "../../domain/values/kinds.ts";
import { dayWindow } from "../parts/day-window.ts";
import type { Call } from "../server/call.ts";

/** Reads the filters from the query string. Wrong ones are noted in the form, and left out. */
export function readFilters(call: Call): OrderListQuery & { link: string | null } {
  const { filters, visitor } = call;
  const status = filters.optionalChoice("status", ORDER_STATUSES);
  return {
    resellerAccount: visitor.account,
    status: filters.errors.has("status") ? null : status,
    service: null,
    link: filters.optional("q", LINK_PART, ""),
    window: dayWindow(call),
  };
}

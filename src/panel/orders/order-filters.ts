// Reads the filters of the order list from the query string.

import { REFERENCE, LINK_PART } from "../../domain/values/kinds.ts";
import type { OperatorOrderFilter } from "../../db/orders/operator-order-filter.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { isCuid } from "../../domain/values/text.ts";
import type { Reader, TimeWindow } from "../../db/port/port.ts";
import { findProvider } from "../../db/providers/providers.ts";
import { findService } from "../../db/catalogue/services.ts";
import { accountOfOrders, findUser } from "../../db/users/users.ts";
import { PLACEMENTS } from "../../domain/delivery/deliveries.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import { startOfDay } from "../../reports/activity.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import type { Form } from "../../web/server/form.ts";

const IDS_LIMIT = 200;

/** Periods that end now, in UTC days including today, with their names. */
export const PERIODS = [
  ["1", "Today"],
  ["7", "7 days"],
  ["30", "30 days"],
] as const;
const DAYS = PERIODS.map(([days]) => days);

/** Returns the filter, or null if a field is wrong. Errors are shown beside their fields. */
export function readOrderFilter(
  filters: Form,
  reader: Reader,
  now: number,
): OperatorOrderFilter | null {
  const found = <T>(name: string, given: string | null, find: (text: string) => T | undefined) => {
    if (given === null) return null;
    const row = find(given);
    if (row === undefined) filters.addError(name, "Not found");
    return row ?? null;
  };
  const user = found("user", filters.optionalUsername("user"), (name) => findUser(reader, name));
  const provider = found("provider", filters.optionalIdentifier("provider"), (name) =>
    findProvider(reader, name),
  );
  const service = found("service", filters.optionalIdentifier("service"), (id) =>
    findService(reader, id),
  );
  const test = filters.isChecked("test");
  const filter = {
    test,
    status: filters.optionalChoice("status", ORDER_STATUSES),
    resellerAccount: user && accountOfOrders(reader, user.account, test),
    service: service?.id,
    providerId: provider?.providerId,
    placement: filters.optionalChoice("placement", PLACEMENTS),
    late: filters.isChecked("late"),
    window: windowOf(filters, now),
    ids: idsOf(filters),
    reference: filters.optional("reference", REFERENCE, ""),
    providerOrder: filters.optionalText("provider-order"),
    link: filters.optional("link", LINK_PART, ""),
  };
  return filters.errors.size > 0 ? null : filter;
}

/** Returns the time window: the chosen period, or the dates. */
function windowOf(filters: Form, now: number): TimeWindow {
  const { from, to } = filters.window();
  const days = filters.optionalChoice("days", DAYS);
  if (days === null) return { from, to };
  const since = startOfDay(now) - (Number(days) - 1) * DAY_MS;
  return { from: Math.max(since, from ?? 0), to };
}

/** Returns the order numbers and ids, which are separated by spaces, commas or semicolons. */
function idsOf(filters: Form): string[] | null {
  const given = filters.raw("ids");
  if (given === "") return null;
  const ids = given.split(/[\s,;]+/).filter((id) => id !== "");
  const wrong = ids.find((id) => !isOrderNumber(id) && !isCuid(id));
  if (wrong !== undefined) filters.refuse("ids", "order numbers or ids, separated by spaces");
  if (ids.length > IDS_LIMIT) filters.refuse("ids", `at most ${IDS_LIMIT}`);
  return ids;
}

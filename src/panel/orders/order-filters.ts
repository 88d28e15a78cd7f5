// Reads the filters of the order list from the query string.

import { REFERENCE, LINK_PART } from "../../domain/values/kinds.ts";
import type { OperatorOrderFilter } from "../../db/orders/operator-order-filter.ts";
import { isOrderNumber } from "../../domain/orders/orders.ts";
import { isCuid } from "../../domain/values/text.ts";
import type { Reader } from "../../db/port/port.ts";
import { findProvider } from "../../db/providers/providers.ts";
import { findService } from "../../db/catalogue/services.ts";
import { accountOfOrders, findUser } from "../../db/users/users.ts";
import { PLACEMENTS } from "../../domain/delivery/deliveries.ts";
import { ORDER_STATUSES } from "../../domain/orders/order-statuses.ts";
import type { Form } from "../../web/server/form.ts";

const IDS_LIMIT = 200;

/** Returns the filter, or null if a field is wrong. Errors are shown beside their fields. */
export function readOrderFilter(filters: Form, reader: Reader): OperatorOrderFilter | null {
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
    window: filters.window(),
    ids: idsOf(filters),
    reference: filters.optional("reference", REFERENCE, ""),
    providerOrder: filters.optionalText("provider-order"),
    link: filters.optional("link", LINK_PART, ""),
  };
  return filters.errors.size > 0 ? null : filter;
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

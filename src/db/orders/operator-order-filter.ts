// The filters of the operator's list of orders.

import type { TimeWindow } from "../port/port.ts";
import type { Placement } from "../../domain/delivery/deliveries.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";

/** Filters of the list. Absent or null means any value. */
export interface OperatorOrderFilter {
  status?: OrderStatus | null | undefined;
  resellerAccount?: number | null | undefined;
  /** The id of a service. */
  service?: string | null | undefined;
  providerId?: number | null | undefined;
  placement?: Placement | null | undefined;
  /** Only orders with an undecided late report. */
  late?: boolean | undefined;
  window?: TimeWindow | undefined;
  ids?: readonly string[] | null | undefined;
  /** The caller's reference. */
  reference?: string | null | undefined;
  /** The order's number at the provider. */
  providerOrder?: string | null | undefined;
  /** A part of the link, ignoring the case of ASCII letters. */
  link?: string | null | undefined;
  /** True: only test orders. Otherwise: only live orders. */
  test?: boolean | undefined;
}

// The statuses of orders, each with its refund. Which statuses are open or delivered follows from this table everywhere.
// Which status may follow another: order-transitions.ts. docs/specification/orders.md#order-transitions.

export type OrderStatus =
  "PENDING" | "PROCESSING" | "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

interface StatusRules {
  /** Whether delivery has not ended. */
  isOpen: boolean;
  /** The part of the charge that is refunded when an order changes to the status. */
  refund: "nothing" | "remains" | "everything";
  /** The meaning for the reseller, in the documentation of the API. */
  meaning: string;
}

const STATUSES: Record<OrderStatus, StatusRules> = {
  PENDING: {
    isOpen: true,
    refund: "nothing",
    meaning: "Charged, waiting to be placed with the provider.",
  },
  PROCESSING: {
    isOpen: true,
    refund: "nothing",
    meaning: "Being delivered. remains counts down.",
  },
  COMPLETED: {
    isOpen: false,
    refund: "nothing",
    meaning: "Delivered. remains is 0.",
  },
  PARTIAL: {
    isOpen: false,
    refund: "remains",
    meaning: "Delivered in part; the part that remains was refunded.",
  },
  FAILED: {
    isOpen: false,
    refund: "everything",
    meaning: "Could not be delivered; the charge was refunded.",
  },
  CANCELLED: {
    isOpen: false,
    refund: "everything",
    meaning: "Called off; what was left of the charge was refunded.",
  },
  REFUNDED: { isOpen: false, refund: "everything", meaning: "Refunded after delivery." },
};

export const ORDER_STATUSES = Object.keys(STATUSES) as readonly OrderStatus[];
export const OPEN_STATUSES = ORDER_STATUSES.filter(isOpenStatus);
export const ENDED_STATUSES = ORDER_STATUSES.filter((status) => !isOpenStatus(status));
export const DELIVERED_STATUSES = ORDER_STATUSES.filter(hasDelivered);

/** A status that the operator may give an order. */
export type OperatorTarget = Exclude<OrderStatus, "PENDING" | "PROCESSING">;

export function isOpenStatus(status: OrderStatus): boolean {
  return STATUSES[status].isOpen;
}

/** Returns whether an order in this status was delivered, at least in part. Only such an order can be refilled. */
export function hasDelivered(status: OrderStatus): boolean {
  const { isOpen, refund } = STATUSES[status];
  return !isOpen && refund !== "everything";
}

/** Returns the part of the charge that is refunded when an order changes to this status. */
export function refundIn(status: OrderStatus): StatusRules["refund"] {
  return STATUSES[status].refund;
}

export function meaningOf(status: OrderStatus): string {
  return STATUSES[status].meaning;
}

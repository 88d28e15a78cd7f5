// The statuses of orders, each with its transitions and its refund. Which statuses are open, delivered or final follows
// from this table everywhere. docs/specification/orders.md#order-transitions.

export type OrderStatus =
  "PENDING" | "PROCESSING" | "COMPLETED" | "PARTIAL" | "FAILED" | "CANCELLED" | "REFUNDED";

interface StatusRules {
  /** The statuses to which an order may change. A status without any is final. */
  next: readonly OrderStatus[];
  /** The statuses to which an order may change when the operator accepts a late report. */
  late?: readonly OrderStatus[];
  /** Whether delivery has not ended. */
  isOpen: boolean;
  /** The part of the charge that is refunded when an order changes to the status. */
  refund: "nothing" | "remains" | "everything";
  /** The meaning for the reseller, in the documentation of the API. */
  meaning: string;
}

const STATUSES: Record<OrderStatus, StatusRules> = {
  PENDING: {
    next: ["PROCESSING", "FAILED", "CANCELLED"],
    isOpen: true,
    refund: "nothing",
    meaning: "Charged, waiting to be placed with the provider.",
  },
  PROCESSING: {
    next: ["COMPLETED", "PARTIAL", "FAILED", "CANCELLED"],
    isOpen: true,
    refund: "nothing",
    meaning: "Being delivered. remains counts down.",
  },
  COMPLETED: {
    next: ["REFUNDED"],
    late: ["PARTIAL", "REFUNDED"],
    isOpen: false,
    refund: "nothing",
    meaning: "Delivered. remains is 0.",
  },
  PARTIAL: {
    next: ["REFUNDED"],
    late: ["REFUNDED"],
    isOpen: false,
    refund: "remains",
    meaning: "Delivered in part; the part that remains was refunded.",
  },
  FAILED: {
    next: [],
    isOpen: false,
    refund: "everything",
    meaning: "Could not be delivered; the charge was refunded.",
  },
  CANCELLED: {
    next: [],
    isOpen: false,
    refund: "everything",
    meaning: "Called off; what was left of the charge was refunded.",
  },
  REFUNDED: { next: [], isOpen: false, refund: "everything", meaning: "Refunded after delivery." },
};

export const ORDER_STATUSES = Object.keys(STATUSES) as readonly OrderStatus[];
export const OPEN_STATUSES = ORDER_STATUSES.filter(isOpenStatus);
export const ENDED_STATUSES = ORDER_STATUSES.filter((status) => !isOpenStatus(status));
export const FINAL_STATUSES = ORDER_STATUSES.filter((status) => STATUSES[status].next.length === 0);
export const DELIVERED_STATUSES = ORDER_STATUSES.filter(hasDelivered);

/** A status that the operator may give an order. */
export type OperatorTarget = Exclude<OrderStatus, "PENDING" | "PROCESSING">;

/** Returns the statuses to which an order in this status may change. */
export function transitionsFrom(status: OrderStatus): readonly OrderStatus[] {
  return STATUSES[status].next;
}

/** Returns the statuses that an accepted late report may give an order in this status. */
export function lateTransitionsFrom(status: OrderStatus): readonly OrderStatus[] {
  return STATUSES[status].late ?? [];
}

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

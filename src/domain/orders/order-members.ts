// The public members of an order. Responses, webhook events, OpenAPI schemas, the columns that the API reads and CSV
// files are made from this description. The command line and the panel list the caller's texts by it.
// docs/specification/endpoints.md#objects.

import { formatMicros, jsonAmount } from "../ledger/money.ts";
import { csvText } from "../values/csv.ts";
import { extraFields, orderedQuantity } from "./order-fields.ts";
import { QUANTITY_LIMIT, REFERENCE_LENGTH_LIMIT } from "./orders.ts";
import type { OrderStatus } from "./order-statuses.ts";

/** Texts that a caller may add to its order; null: none was given. They are erased with the user's personal data. */
export interface CallerTexts {
  reference: string | null;
}

/** The fields of an order from which its members are made. */
export interface PublicOrder extends CallerTexts {
  id: string;
  orderId: number;
  serviceName: string;
  link: string;
  quantity: number;
  chargeMicros: number;
  status: OrderStatus;
  startCount: number;
  remains: number;
  createdAt: number;
  /** OrderExtra as JSON; null when the order has no extra fields. */
  extra: string | null;
}

interface MemberTerms {
  /** The name of the member; absent: the name of its field. */
  name?: string;
  kind: "id" | "text" | "number" | "quantity" | "amount" | "status" | "time";
  /** The description in the API's documentation. */
  meaning: string;
  /** Bounds of a number. */
  least?: number;
  most?: number;
  /** Length limit of a text, in characters. */
  longest?: number;
  /** Whether the response to the order's creation has it. */
  isCreated?: true;
}

/** The members that every order has, in the order of the CSV file. */
const MEMBERS: Record<Exclude<keyof PublicOrder, keyof CallerTexts | "extra">, MemberTerms> = {
  id: { kind: "id", meaning: "Internal identifier.", isCreated: true },
  orderId: { kind: "number", meaning: "Order number. Only grows.", least: 1, isCreated: true },
  serviceName: {
    name: "service",
    kind: "text",
    meaning: "Name of the service (not its id).",
    isCreated: true,
  },
  link: { kind: "text", meaning: "Target link or username, as given, trimmed.", isCreated: true },
  quantity: {
    kind: "quantity",
    meaning: "Ordered quantity; with `runs` that of one run.",
    least: 1,
    most: QUANTITY_LIMIT,
    isCreated: true,
  },
  chargeMicros: {
    name: "charge",
    kind: "amount",
    meaning: "What was charged. Refunds do not change it.",
    isCreated: true,
  },
  status: { kind: "status", meaning: "Its status.", isCreated: true },
  startCount: {
    kind: "number",
    meaning: "Count before delivery began; 0 until it is known.",
    least: 0,
  },
  remains: { kind: "number", meaning: "Quantity not yet delivered, of all runs.", least: 0 },
  createdAt: { kind: "time", meaning: "When it was placed.", isCreated: true },
};

/** The members that an order has only if the caller gave them. */
const CALLER_TEXTS: Record<keyof CallerTexts, MemberTerms & { longest: number }> = {
  reference: {
    kind: "text",
    meaning:
      "Your own name for the order. Unique among your orders, so that an order sent twice is placed once.",
    longest: REFERENCE_LENGTH_LIMIT,
  },
};

export type OrderMember = MemberTerms & { name: string; field: keyof PublicOrder };

function listMembers<Field extends keyof PublicOrder, Terms extends MemberTerms>(
  terms: Record<Field, Terms>,
): (Terms & { name: string; field: Field })[] {
  const entries = Object.entries(terms) as [Field, Terms][];
  return entries.map(([field, term]) => ({ name: field, field, ...term }));
}

export const CALLER_MEMBERS = listMembers(CALLER_TEXTS);
const CSV_MEMBERS: readonly OrderMember[] = [...listMembers(MEMBERS), ...CALLER_MEMBERS];
/** The members of the object "Order creation". */
export const CREATED_MEMBERS = CSV_MEMBERS.filter(({ isCreated }) => isCreated);
/** The members of the object "Order status", without the fields that depend on the type of the service. */
export const STATUS_MEMBERS = [
  ...CREATED_MEMBERS,
  ...CSV_MEMBERS.filter(({ isCreated }) => !isCreated),
];
export const PUBLIC_FIELDS: readonly (keyof PublicOrder)[] = [
  ...CSV_MEMBERS.map(({ field }) => field),
  "extra",
];

/** Returns the caller's texts of a command or an order, with null for missing ones. */
export function callerTexts(given: Partial<CallerTexts>): CallerTexts {
  const texts: Partial<CallerTexts> = {};
  for (const { field } of CALLER_MEMBERS) texts[field] = given[field] ?? null;
  return texts as CallerTexts;
}

export type OrderBody = { orderId: number } & Record<string, string | number>;

/** Returns the object "Order creation". */
export function orderCreated(order: PublicOrder): OrderBody {
  return bodyOf(order, CREATED_MEMBERS);
}

/** Returns the object "Order status". The caller's texts and extra fields are present only when the order has them. */
export function orderStatus(order: PublicOrder): OrderBody {
  const status = bodyOf(order, STATUS_MEMBERS);
  return order.extra === null ? status : { ...status, ...extraFields(order) };
}

function bodyOf(order: PublicOrder, members: readonly OrderMember[]): OrderBody {
  const body = {} as OrderBody;
  for (const member of members) {
    const value = valueOf(order, member);
    if (value !== null) body[member.name] = value;
  }
  return body;
}

function valueOf(order: PublicOrder, { field, kind }: OrderMember): string | number | null {
  const value = order[field];
  switch (kind) {
    case "quantity":
      return orderedQuantity(order);
    case "amount":
      return jsonAmount(value as number);
    case "time":
      return new Date(value as number).toISOString();
    default:
      return value;
  }
}

export const ORDER_CSV_HEADER = [...CSV_MEMBERS.map(({ name }) => name), "fields"].join(",");

/** Returns the cells of an order's line. The last one contains the extra fields as JSON. */
export function orderCells(order: PublicOrder): (string | number)[] {
  const cells = CSV_MEMBERS.map((member) => cellOf(order, member));
  return [...cells, order.extra === null ? "" : csvText(JSON.stringify(extraFields(order)))];
}

function cellOf(order: PublicOrder, member: OrderMember): string | number {
  if (member.kind === "amount") return formatMicros(order[member.field] as number);
  const value = valueOf(order, member) ?? "";
  return member.kind === "text" ? csvText(String(value)) : value;
}

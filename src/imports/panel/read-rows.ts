// Makes our users, services, orders and keys of another panel's rows. docs/specification/imports.md#import-values.

import {
  DEFAULT_SERVICE_TYPE,
  isPackage,
  mayDripFeed,
  parseServiceType,
  standardUnit,
} from "../../domain/catalogue/service-types.ts";
import { AMOUNT_LIMIT_MICROS, formatMicros } from "../../domain/ledger/money.ts";
import { isProviderOrder } from "../../domain/delivery/deliveries.ts";
import type { OrderStatus } from "../../domain/orders/order-statuses.ts";
import { QUANTITY_LIMIT } from "../../domain/orders/orders.ts";
import { hashKey } from "../../domain/users/keys.ts";
import { importedKeyProblem, startOfImportedKey } from "../../domain/users/imported-keys.ts";
import {
  CATEGORY,
  DISCOUNT,
  EMAIL,
  IDENTIFIER,
  KEY_LABEL,
  label,
  LINK,
  SERVICE_NAME,
  USER_NAME,
  USERNAME,
} from "../../domain/values/kinds.ts";
import { DEFAULT_CATEGORY } from "../../domain/catalogue/services.ts";
import type { ImportedOrder } from "../../operations/imports/orders.ts";
import type { ImportedService } from "../../operations/imports/services.ts";
import type { ImportedKey, ImportedUser } from "../../operations/imports/users.ts";
import type { RowReader } from "./cells.ts";
import type { PanelMap } from "./map.ts";

/** An id in the other panel, or of one of its providers. */
const SOURCE = label(64);
/** The label of imported keys without one. */
const KEY_LABEL_DEFAULT = "imported";

/** Records that a rule of the mapping changed a value. */
export type Note = (what: string) => void;

export function readUser(row: RowReader, note: Note): ImportedUser {
  const { negativeBalance, usernameForm } = row.rules;
  const source = row.kind("id", SOURCE);
  const given = row.required("username");
  const username =
    usernameForm === "replace" ? given.replaceAll(/[^A-Za-z0-9._@+-]/g, "_").slice(0, 64) : given;
  if (username !== given) note(`user ${source} is ${username}`);
  const read = USERNAME.read(username);
  if ("must" in read) {
    row.fail(
      `username must be ${read.must}: correct it, map it under [users.values.username], or set \`usernameForm = "replace"\` under [rules]`,
    );
  }
  const balance = row.text("balance") === "" ? 0 : row.amount("balance");
  if (balance < 0 && negativeBalance === "refuse") {
    row.fail(
      `the user owes ${formatMicros(-balance)} USD: settle it in the other panel, or set \`negativeBalance = "zero"\` under [rules] to import it with 0`,
    );
  }
  if (balance < 0)
    note(`user ${source} owes ${formatMicros(-balance)} USD and gets a balance of 0`);
  if (balance > AMOUNT_LIMIT_MICROS) {
    row.fail(`balance must be at most ${formatMicros(AMOUNT_LIMIT_MICROS)} USD`);
  }
  return {
    source,
    username,
    name: row.text("name") === "" ? username : row.kind("name", USER_NAME),
    email: row.text("email") === "" ? null : row.kind("email", EMAIL),
    balanceMicros: Math.max(balance, 0),
    discountPpm: row.text("discount") === "" ? 0 : row.kind("discount", DISCOUNT),
    active: row.flag("active", true),
  };
}

export function readService(row: RowReader, providers: PanelMap["providers"]): ImportedService {
  const typeText = row.text("type");
  const type = typeText === "" ? DEFAULT_SERVICE_TYPE : parseServiceType(typeText);
  if (type === null) {
    return row.fail(`type ${typeText} is unknown: map it under [services.values.type]`);
  }
  const per = standardUnit(type);
  const priceMicros = row.amount("price");
  if (priceMicros < 0 || priceMicros > AMOUNT_LIMIT_MICROS) row.fail("price is out of range");
  // A package has one size, which is not always given.
  const bound = (field: string) =>
    isPackage(type) && row.text(field) === "" ? 1 : Math.max(row.whole(field), 1);
  const [min, max] = [bound("min"), Math.min(bound("max"), QUANTITY_LIMIT)];
  if (min > max) row.fail("min is above max");
  return {
    number: orderOrServiceNumber(row, "number"),
    name: row.kind("name", SERVICE_NAME),
    category: row.text("category") === "" ? DEFAULT_CATEGORY : row.kind("category", CATEGORY),
    priceMicros,
    per,
    min,
    max,
    type,
    dripfeed: row.flag("dripfeed", false) && mayDripFeed({ type, per }),
    cancel: row.flag("cancel", false),
    refill: row.flag("refill", false),
    active: row.flag("active", true),
    provider: providerOf(row, providers),
  };
}

/** Reads the provider and the service's id there; null: by hand. */
function providerOf(
  row: RowReader,
  providers: PanelMap["providers"],
): { name: string; service: string } | null {
  const name = providerNameOf(row, providers);
  return name === null ? null : { name, service: row.kind("providerService", IDENTIFIER) };
}

/** Reads the name here of a row's provider; null: by hand. */
function providerNameOf(row: RowReader, providers: PanelMap["providers"]): string | null {
  const id = row.text("provider");
  if (isNone(id)) return null;
  if (!Object.hasOwn(providers, id)) {
    row.fail(
      `provider ${id} is not mapped: add \`"${id}" = "NAME"\` under [providers] of the mapping, or "" for by hand`,
    );
  }
  return providers[id] === "" ? null : providers[id]!;
}

/** Tables have 0 where there is no provider or no number. */
function isNone(text: string): boolean {
  return text === "" || text === "0";
}

function orderOrServiceNumber(row: RowReader, field: string): number {
  const number = row.whole(field);
  return number > 0 ? number : row.fail(`${field} must be above 0`);
}

/** The words of other panels for statuses, without case, blanks, `-` and `_`. Open: still being delivered. */
const STATUSES: Readonly<Record<string, Exclude<OrderStatus, "PENDING">>> = {
  open: "PROCESSING",
  pending: "PROCESSING",
  processing: "PROCESSING",
  inprogress: "PROCESSING",
  completed: "COMPLETED",
  partial: "PARTIAL",
  canceled: "CANCELLED",
  cancelled: "CANCELLED",
  refunded: "REFUNDED",
  fail: "FAILED",
  failed: "FAILED",
  error: "FAILED",
};

export function readOrder(
  row: RowReader,
  providers: PanelMap["providers"],
  serviceNames: ReadonlyMap<number, string>,
  note: Note,
): ImportedOrder {
  const word = row.required("status");
  const status = STATUSES[word.toLowerCase().replaceAll(/[\s_-]/g, "")];
  if (!status) {
    return row.fail(`status ${word} is unknown: map it under [orders.values.status]`);
  }
  const isOpen = status === "PROCESSING";
  const serviceNumber = orderOrServiceNumber(row, "service");
  const quantity = row.whole("quantity");
  if (quantity < 1 || quantity > QUANTITY_LIMIT) row.fail("quantity is out of range");
  const chargeMicros = row.amount("charge");
  if (chargeMicros < 0 || chargeMicros > AMOUNT_LIMIT_MICROS) row.fail("charge is out of range");
  const providerOrder = row.text("providerOrder");
  const hasNumber = !isNone(providerOrder);
  if (isOpen && hasNumber && !isProviderOrder(providerOrder)) {
    row.fail("providerOrder must be a positive whole number");
  }
  const name = isOpen && hasNumber ? providerNameOf(row, providers) : null;
  const hasService = name !== null && !isNone(row.text("providerService"));
  const service = hasService ? row.kind("providerService", IDENTIFIER) : null;
  return {
    orderId: orderOrServiceNumber(row, "number"),
    source: row.kind("user", SOURCE),
    serviceNumber,
    serviceName: serviceNames.get(serviceNumber) ?? `Service ${serviceNumber}`,
    link: row.kind("link", LINK),
    quantity,
    chargeMicros,
    status,
    startCount: countOf(row, "startCount", Number.MAX_SAFE_INTEGER, 0, note),
    remains: remainsOf(row, status, quantity, note),
    createdAt: row.time("createdAt"),
    provider: isNone(row.text("provider")) ? null : row.kind("provider", SOURCE),
    providerOrder: hasNumber ? row.kind("providerOrder", SOURCE) : null,
    deliveredBy: name === null ? null : { name, service },
  };
}

function remainsOf(row: RowReader, status: OrderStatus, quantity: number, note: Note): number {
  const absent = status === "PROCESSING" ? quantity : 0;
  const remains = countOf(row, "remains", quantity, absent, note);
  return status === "COMPLETED" ? 0 : remains;
}

/** Reads a count. A text, a negative number or one that is too large is replaced, because the count decides nothing. */
function countOf(row: RowReader, field: string, most: number, absent: number, note: Note): number {
  const text = row.text(field);
  if (text === "") return absent;
  const count = Number(/^(-?\d{1,15})(?:\.0+)?$/.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(count)) {
    note(`${field} is no number in some orders: ${absent === 0 ? "0" : "the quantity"} was taken`);
    return absent;
  }
  if (count >= 0 && count <= most) return count;
  note(`${field} is out of range in some orders: the nearest possible number was taken`);
  return Math.min(Math.max(count, 0), most);
}

/** Reads a key; null if the row has none. The text of the key is in no error. */
export function readKey(row: RowReader): ImportedKey | null {
  const text = row.text("key");
  if (text === "") return null;
  const problem = importedKeyProblem(text);
  if (problem !== null) row.fail(`the key cannot be used: ${problem}`);
  return {
    source: row.kind("user", SOURCE),
    hash: hashKey(text),
    start: startOfImportedKey(text),
    label: row.text("label") === "" ? KEY_LABEL_DEFAULT : row.kind("label", KEY_LABEL),
  };
}

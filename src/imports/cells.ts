// Parsers for the cells of a catalogue row, one function for each kind of cell.

import { AMOUNT_LIMIT_MICROS, formatMicros, parseMicros } from "../domain/ledger/money.ts";
import { isRefillDays, REFILL_DAYS_LIMIT } from "../domain/orders/order-requests.ts";
import { QUANTITY_LIMIT } from "../domain/orders/orders.ts";
import {
  CATEGORY_LENGTH_LIMIT,
  isQuantity,
  type PriceUnit,
  PRICE_UNITS,
  SERVICE_NAME_LENGTH_LIMIT,
} from "../domain/catalogue/services.ts";
import { SERVICE_TYPES, type ServiceType } from "../domain/catalogue/service-types.ts";
import { IDENTIFIER_FORM, isIdentifier, isLabel } from "../domain/values/text.ts";

/** Thrown for an invalid cell. The message completes a sentence that begins with the column name. */
export class CellError extends Error {}

export function refillDays(text: string): number {
  const value = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  const must = `must be a whole number from 1 to ${REFILL_DAYS_LIMIT}`;
  return require(isRefillDays(value), value, must);
}

export function category(text: string): string {
  const most = CATEGORY_LENGTH_LIMIT;
  const must = `must be 1 to ${most} characters without control characters, leading or trailing spaces`;
  return require(isLabel(text, most), text, must);
}

export function serviceId(text: string): string {
  return require(isIdentifier(text), text, `must be ${IDENTIFIER_FORM}`);
}

export const providerName = serviceId;
export const providerService = serviceId;

export function serviceName(text: string): string {
  const most = SERVICE_NAME_LENGTH_LIMIT;
  return require(isLabel(
    text,
    most,
  ), text, `must be 1 to ${most} characters without control characters, leading or trailing spaces`);
}

/** In micros; 0 is a free service. */
export function price(text: string): number {
  const micros = parseMicros(text) ?? Infinity;
  const most = formatMicros(AMOUNT_LIMIT_MICROS);
  const must = `must be a number from 0 to ${most} with at most six decimals`;
  return require(micros <= AMOUNT_LIMIT_MICROS, micros, must);
}

export function quantity(text: string): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return require(isQuantity(value), value, `must be a whole number from 1 to ${QUANTITY_LIMIT}`);
}

function require<T>(valid: boolean, value: T, must: string): T {
  if (!valid) throw new CellError(must);
  return value;
}

export function per(text: string): PriceUnit {
  const found = PRICE_UNITS.find((unit) => unit === text);
  if (!found) throw new CellError(`must be one of ${PRICE_UNITS.join(", ")}`);
  return found;
}

export function serviceType(text: string): ServiceType {
  const found = SERVICE_TYPES.find((type) => type === text);
  if (!found) throw new CellError(`must be one of ${SERVICE_TYPES.join(", ")}`);
  return found;
}

export function yesOrNo(text: string): boolean {
  const word = text.toLowerCase();
  if (["true", "yes", "1"].includes(word)) return true;
  if (["false", "no", "0"].includes(word)) return false;
  throw new CellError("must be true or false");
}

/** Returns the cell as text, since JSON files may hold numbers and booleans. Null for any other type. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.trim();
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return null;
  const text = value.toFixed(6).replace(/\.?0+$/, "");
  return Number(text) === value ? text : String(value);
}

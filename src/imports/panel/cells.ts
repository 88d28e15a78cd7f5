// Reads cells of another panel's rows by the mapping. Whatever has no clear meaning is an error of its row.
// docs/specification/imports.md#import-values.

import type { Kind } from "../../domain/values/kinds.ts";
import { MICROS_PER_DOLLAR } from "../../domain/ledger/money.ts";
import { YES_OR_NO } from "../cells.ts";
import { RowError } from "../records.ts";
import type { Rules, TableMap } from "./map.ts";
import type { TableRow } from "./table-file.ts";

/** The names behind ids, by field: what lookups found. */
export type FoundNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Reads the fields of one row. Throws RowError. */
export class RowReader {
  /** The row's position for messages. */
  place: string;

  constructor(
    readonly row: TableRow,
    readonly map: TableMap,
    readonly rules: Rules,
    readonly names: FoundNames,
  ) {
    this.place = row.place;
  }

  fail(problem: string): never {
    throw new RowError(this.place, problem);
  }

  /** Returns the text of a field, mapped; empty if it has none. */
  text(field: string): string {
    const columns = this.map.columns?.[field] ?? "";
    const parts = (typeof columns === "string" ? [columns] : columns).map((column) =>
      (this.row.cells[column] ?? "").trim(),
    );
    const text = parts.filter((part) => part !== "").join(" ");
    const values = this.map.values?.[field];
    const mapped = values && Object.hasOwn(values, text) ? values[text]! : text;
    // An id without a row in its table stays as it is.
    return this.names.get(field)?.get(mapped) ?? mapped;
  }

  required(field: string): string {
    const text = this.text(field);
    return text === "" ? this.fail(`${field} is missing`) : text;
  }

  kind<T>(field: string, kind: Kind<T>): T {
    const found = kind.read(this.required(field));
    return "must" in found ? this.fail(`${field} must be ${found.must}`) : found.value;
  }

  flag(field: string, absent: boolean): boolean {
    return this.text(field) === "" ? absent : this.kind(field, YES_OR_NO);
  }

  /** Reads an amount, which may be negative, in micros. */
  amount(field: string): number {
    const text = this.required(field);
    const match = /^(-?)(\d{1,10})(?:\.(\d+))?$/.exec(text);
    if (!match) {
      return this.fail(
        `${field} must be a plain number such as 1234.5, without exponent, sign of a currency or separators`,
      );
    }
    const [, sign, whole, decimals = ""] = match;
    const rest = decimals.slice(6);
    if (/[1-9]/.test(rest) && this.rules.decimals === "refuse") {
      this.fail(
        `${field} has more than six decimals: correct it, or set \`decimals = "round"\` under [rules] of the mapping`,
      );
    }
    const micros =
      Number(whole) * MICROS_PER_DOLLAR +
      Number(decimals.slice(0, 6).padEnd(6, "0")) +
      (/^[5-9]/.test(rest) ? 1 : 0);
    if (!Number.isSafeInteger(micros)) this.fail(`${field} is too large`);
    return sign === "" || micros === 0 ? micros : -micros;
  }

  /** Reads a whole number, as tables with floating point columns write it: `10.0000` is 10. */
  whole(field: string): number {
    const text = this.required(field);
    const number = Number(/^(-?\d{1,15})(?:\.0+)?$/.exec(text)?.[1] ?? Number.NaN);
    return Number.isNaN(number) ? this.fail(`${field} must be a whole number`) : number;
  }

  /** Reads a time in milliseconds. Throws if it may mean two different days. */
  time(field: string): number {
    const { missingDate, timeZone, dates } = this.rules;
    const text = this.text(field);
    if (text === "" || text.startsWith("0000-00-00")) {
      if (missingDate !== null) return Date.parse(`${missingDate}T00:00:00Z`);
      return this.fail(
        `${field} is missing: set a date for such rows under [rules] of the mapping, such as \`missingDate = "2020-01-01"\``,
      );
    }
    if (/^\d{10}$/.test(text)) return Number(text) * 1000;
    if (/^\d{13}$/.test(text)) return Number(text);
    const found =
      /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?)?$/.exec(
        text,
      );
    if (found) {
      const [, year, month, day, clock, zone] = found;
      return this.#timeOf(field, [year!, month!, day!], clock, zone ?? timeZone);
    }
    const local = /^(\d\d?)([./-])(\d\d?)\2(\d{4})(?: (\d\d:\d\d(?::\d\d)?))?$/.exec(text);
    if (!local) return this.fail(`${field} must be a time such as 2025-04-03 17:00:00`);
    const [, first, , second, year, clock] = local;
    if (dates === "refuse") {
      this.fail(
        `${field} may be two different days: set \`dates = "day first"\` or \`"month first"\` under [rules] of the mapping`,
      );
    }
    const [day, month] = dates === "day first" ? [first!, second!] : [second!, first!];
    return this.#timeOf(field, [year!, month, day], clock, timeZone);
  }

  #timeOf(
    field: string,
    [year, month, day]: [string, string, string],
    clock: string | undefined,
    zone: string,
  ): number {
    const date = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    const offset = zone === "UTC" ? "Z" : zone.replace(/(\d\d):?(\d\d)$/, "$1:$2");
    const time = Date.parse(`${date}T${clock ?? "00:00"}${offset}`);
    // A day that the month does not have becomes one of the next month.
    const isDay =
      !Number.isNaN(Date.parse(`${date}T00:00Z`)) &&
      new Date(`${date}T00:00Z`).toISOString().startsWith(date);
    if (Number.isNaN(time) || !isDay || time < 0) this.fail(`${field} is no time that exists`);
    return time;
  }
}

/** Returns whether the mapping imports the row: SmartPanel, for example, has administrators among its users. */
export function isWanted({ cells }: TableRow, { only = {} }: TableMap): boolean {
  return Object.entries(only).every(([column, values]) => values.includes(cells[column] ?? ""));
}

/**
 * Returns a column of the mapping that the row does not have; null if it has all. A column with the
 * name of its field may be missing, unless the field is `required`.
 */
export function missingColumn(
  { cells }: TableRow,
  { columns = {}, only = {} }: TableMap,
  required: readonly string[],
): string | null {
  const needed = Object.entries(columns).flatMap(([field, column]) =>
    column === field && !required.includes(field) ? [] : column,
  );
  const all = [...needed, ...Object.keys(only)];
  return all.find((column) => column !== "" && !Object.hasOwn(cells, column)) ?? null;
}

// Reads a catalogue from a CSV or JSON text: its services, and an error for every wrong row.
// docs/specification/command-line.md#cli-import.

import { parseJsonExactly } from "../domain/values/json-numbers.ts";
import {
  CATEGORY,
  IDENTIFIER,
  type Kind,
  oneOf,
  PRICE,
  QUANTITY,
  REFILL_DAYS,
  SERVICE_NAME,
} from "../domain/values/kinds.ts";
import { QUANTITY_LIMIT } from "../domain/orders/orders.ts";
import { PRICE_UNITS, type PriceUnit } from "../domain/catalogue/services.ts";
import {
  DEFAULT_SERVICE_TYPE,
  fitsUnit,
  isPackage,
  mayDripFeed,
  SERVICE_TYPES,
  type ServiceType,
  standardUnit,
} from "../domain/catalogue/service-types.ts";
import type { ServiceRow } from "../operations/catalogue/service-import.ts";
import { textOf, YES_OR_NO } from "./cells.ts";
import { FileError, readRecords, RowError } from "./records.ts";

const REQUIRED_COLUMNS = ["name", "price", "min", "max"] as const;
const OPTIONAL_COLUMNS = [
  "per",
  "id",
  "private",
  "provider",
  "providerService",
  "category",
  "type",
  "dripfeed",
  "cancel",
  "refill",
  "refillDays",
  "active",
] as const;
const COLUMNS: readonly string[] = [...REQUIRED_COLUMNS, ...OPTIONAL_COLUMNS];
/** A column of a catalogue, imported or exported. */
export type CatalogueColumn = (typeof REQUIRED_COLUMNS | typeof OPTIONAL_COLUMNS)[number];
/** The header line of a CSV file. */
export const HEADER_FORM = `${REQUIRED_COLUMNS.join(",")}[,${OPTIONAL_COLUMNS.join(",")}]`;
/** The header line of a CSV file that updates services. A missing column leaves its value unchanged. */
export const UPDATE_HEADER_FORM = `id[,${HEADER_FORM.replace("[", "").replace(",id,", ",")}`;

/** One row of a file: its position, and its cells by column name. */
interface FileRow {
  /** The position for messages: `catalogue.csv, line 7`, or `catalogue.json, entry 3`. */
  place: string;
  cells: Record<string, unknown>;
}

/** The services of the valid rows with their places, and the errors of the wrong rows. */
export interface Catalogue {
  services: ServiceRow[];
  places: string[];
  wrong: RowError[];
}

export interface ReadOptions {
  /** Whether existing services are updated: their rows have ids, and may leave out values that stay unchanged. */
  isUpdate?: boolean;
  onRow?: (index: number, rows: number) => void;
}

/**
 * Reads a catalogue. The name `file` decides between CSV and JSON. Throws FileError, and RowError for an error that
 * prevents reading any row.
 */
export function readCatalogue(
  file: string,
  text: string,
  { isUpdate = false, onRow = () => {} }: ReadOptions = {},
): Catalogue {
  const required = isUpdate ? ["id"] : REQUIRED_COLUMNS;
  const { rows, wrong } = isJson(file, text) ? jsonRows(file, text) : csvRows(file, text, required);
  if (rows.length + wrong.length === 0) {
    throw new FileError(`${file} contains no services: nothing to import`);
  }
  const catalogue: Catalogue = { services: [], places: [], wrong };
  for (const [index, { place, cells }] of rows.entries()) {
    onRow(index, rows.length);
    try {
      catalogue.services.push(serviceOf(place, cells, isUpdate));
      catalogue.places.push(place);
    } catch (error) {
      if (!(error instanceof RowError)) throw error;
      catalogue.wrong.push(error);
    }
  }
  return catalogue;
}

/** Returns whether the text is JSON: by the file name, or for standard input by a leading "[". */
function isJson(file: string, text: string): boolean {
  return /\.json$/i.test(file) || (!/\.csv$/i.test(file) && /^\s*\[/.test(text));
}

function serviceOf(place: string, cells: Record<string, unknown>, isUpdate: boolean): ServiceRow {
  const cell = <T>(column: string, kind: Kind<T>): T => {
    const text = textOf(cells[column]);
    if (text === null) throw new RowError(place, `${column} must be text or a number`);
    if (text === "") throw new RowError(place, `${column} is missing`);
    const found = kind.read(text);
    if ("must" in found) throw new RowError(place, `${column} must be ${found.must}`);
    return found.value;
  };
  const orDefault = <T>(column: string, kind: Kind<T>, absent: T): T =>
    textOf(cells[column]) === "" ? absent : cell(column, kind);

  /** Reads a column. Returns undefined if this is an update without the column: then the service keeps its value. */
  const unlessAbsent = <T>(column: string, read: () => T): T | undefined =>
    isUpdate && !Object.hasOwn(cells, column) ? undefined : read();
  /** Reads a cell. Returns undefined if it is empty or missing: then a sync sets the value. */
  const syncedUnlessSet = <T>(column: string, kind: Kind<T>): T | undefined =>
    orDefault<T | undefined>(column, kind, undefined);

  const type = syncedUnlessSet("type", oneOf(SERVICE_TYPES));
  const typeOrDefault = type ?? DEFAULT_SERVICE_TYPE;
  // A package has only one size, so min and max may be left out.
  const bound = (column: string) =>
    isPackage(typeOrDefault) ? orDefault(column, QUANTITY, 1) : cell(column, QUANTITY);
  const service = withoutUndefined({
    name: unlessAbsent("name", () => cell("name", SERVICE_NAME)),
    priceMicros: unlessAbsent("price", () => cell("price", PRICE)),
    per: unlessAbsent("per", () =>
      orDefault<PriceUnit>("per", oneOf(PRICE_UNITS), standardUnit(typeOrDefault)),
    ),
    min: unlessAbsent("min", () => bound("min")),
    max: unlessAbsent("max", () => bound("max")),
    private: unlessAbsent("private", () => orDefault("private", YES_OR_NO, false)),
    active: unlessAbsent("active", () => orDefault("active", YES_OR_NO, true)),
    type,
    dripfeed: syncedUnlessSet("dripfeed", YES_OR_NO),
    category: syncedUnlessSet("category", CATEGORY),
    cancel: syncedUnlessSet("cancel", YES_OR_NO),
    refill: syncedUnlessSet("refill", YES_OR_NO),
    refillDays: syncedUnlessSet("refillDays", REFILL_DAYS),
  });
  const id = orDefault<string | null>("id", IDENTIFIER, null);
  const provider = orDefault<string | null>("provider", IDENTIFIER, null);
  const atProvider = orDefault<string | null>("providerService", IDENTIFIER, null);
  if ((provider === null) !== (atProvider === null)) {
    throw new RowError(place, "provider and providerService must be set together");
  }
  const { min = 1, max = QUANTITY_LIMIT, dripfeed } = service;
  if (min > max) throw new RowError(place, "min must not be above max");
  // In an update, the row may leave out values that the stored service has.
  if (!isUpdate || (type !== undefined && service.per !== undefined)) {
    refuseUnfit(place, {
      type: typeOrDefault,
      per: service.per!,
      dripfeed: dripfeed ?? false,
    });
  }
  if (provider !== null) {
    return { ...service, id, provider: { name: provider, service: atProvider! } };
  }
  // In an update, an empty provider cell makes the service one that is delivered by hand.
  const isManual = isUpdate && Object.hasOwn(cells, "provider");
  return { ...service, id, ...(isManual ? { provider: null } : {}) };
}

function refuseUnfit(
  place: string,
  { type, per: unit, dripfeed }: { type: ServiceType; per: PriceUnit; dripfeed: boolean },
): void {
  if (!fitsUnit({ type, per: unit })) {
    const fitting = isPackage(type) ? "order" : "1000 or 1";
    throw new RowError(place, `per must be ${fitting} when type is ${type}`);
  }
  if (dripfeed && !mayDripFeed({ type, per: unit })) {
    throw new RowError(place, "dripfeed requires type default, per 1000 or 1");
  }
}

/** Returns the row without its undefined members. */
function withoutUndefined<T extends object>(
  row: T,
): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined),
  ) as never;
}

/** The rows that could be read, and an error for each other row. */
interface FileRows {
  rows: FileRow[];
  wrong: RowError[];
}

function jsonRows(file: string, text: string): FileRows {
  const problem = `${file} is not a JSON list of services; expected [{"name": …, "price": …, "min": …, "max": …}, …]`;
  let entries: unknown;
  try {
    // A number that JavaScript would round is read as its text, as in a CSV.
    entries = parseJsonExactly(text, { replaced: JSON.stringify });
  } catch {
    throw new FileError(problem);
  }
  if (!Array.isArray(entries)) throw new FileError(problem);
  const found: FileRows = { rows: [], wrong: [] };
  for (const [index, entry] of (entries as unknown[]).entries()) {
    const place = `${file}, entry ${index + 1}`;
    const isRow = typeof entry === "object" && entry !== null && !Array.isArray(entry);
    const unknown = isRow ? unknownColumn(Object.keys(entry)) : "not an object";
    if (unknown !== null) found.wrong.push(new RowError(place, unknown));
    else found.rows.push({ place, cells: entry as Record<string, unknown> });
  }
  return found;
}

/** Reads the rows of a CSV text. Throws RowError if the header is wrong, because then no row can be read. */
function csvRows(file: string, text: string, required: readonly string[]): FileRows {
  const { header: columns, rows, wrong } = readRecords(file, text);
  const unknown = unknownColumn(columns);
  if (unknown !== null) throw new RowError(`${file}, header`, unknown);
  const twice = columns.find((column, index) => columns.indexOf(column) < index);
  if (twice !== undefined) throw new RowError(`${file}, header`, `column ${twice} appears twice`);
  const missing = required.filter((column) => !columns.includes(column));
  if (missing.length > 0) {
    const form = required === REQUIRED_COLUMNS ? HEADER_FORM : UPDATE_HEADER_FORM;
    throw new FileError(
      `${file} has no column ${missing.join(", ")}: its first line must be ${form}`,
    );
  }
  const cellsOf = (cells: readonly string[]) =>
    Object.fromEntries(columns.map((column, index) => [column, withoutApostrophe(cells[index]!)]));
  return { rows: rows.map(({ place, cells }) => ({ place, cells: cellsOf(cells) })), wrong };
}

/** Removes the apostrophe that an export puts before a cell that a spreadsheet would take for a formula. */
function withoutApostrophe(text: string): string {
  return /^\s*'+[=+\-@]/.test(text) ? text.replace("'", "") : text;
}

/** Describes the first unknown column, or returns null if all are known. */
function unknownColumn(columns: readonly string[]): string | null {
  const unknown = columns.find((column) => !COLUMNS.includes(column));
  return unknown === undefined ? null : `unknown column ${unknown} (known: ${COLUMNS.join(", ")})`;
}

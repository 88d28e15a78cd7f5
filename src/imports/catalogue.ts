// A catalogue in a CSV or JSON text: its services, and every row that is wrong. docs/specification.md#cli-import.

import { CsvError, parse } from "csv-parse/sync";
import { QUANTITY_LIMIT } from "../domain/orders.ts";
import type { PriceUnit } from "../domain/services.ts";
import {
  DEFAULT_SERVICE_TYPE,
  fitsUnit,
  isPackage,
  mayDripFeed,
  type ServiceType,
  standardUnit,
} from "../domain/service-types.ts";
import type { ServiceRow } from "../operations/service-import.ts";
import {
  CellError,
  refillDays,
  category,
  serviceId,
  providerName,
  providerService,
  serviceName,
  price,
  quantity,
  per,
  serviceType,
  yesOrNo,
  textOf,
} from "./cells.ts";

const REQUIRED_COLUMNS = ["name", "price", "min", "max"];
const COLUMNS = [
  ...REQUIRED_COLUMNS,
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
];
/** The first line of a CSV. */
export const HEADER_FORM =
  "name,price,min,max[,per,id,private,provider,providerService,category,type,dripfeed,cancel,refill,refillDays,active]";
/** The same of a list that changes services: a column that is not there changes nothing. */
export const UPDATE_HEADER_FORM = `id[,${HEADER_FORM.replace("[", "").replace(",id,", ",")}`;
/** The CSV parser's error codes as sentences for the operator. */
const CSV_PROBLEMS: Record<string, string> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "it has not as many cells as the header",
  CSV_RECORD_INCONSISTENT_COLUMNS: "it has not as many cells as the header",
  CSV_QUOTE_NOT_CLOSED: "a cell that begins here with a quote never ends with one",
  CSV_INVALID_CLOSING_QUOTE: "text follows a cell's closing quote",
  INVALID_OPENING_QUOTE: "a quote stands inside a cell that does not begin with one",
};

/** One row of a file: its position, and its cells by column. */
interface FileRow {
  /** `catalogue.csv, line 7` of a CSV, `catalogue.json, entry 3` of a JSON file. */
  place: string;
  cells: Record<string, unknown>;
}

/** A text that is no catalogue; the message says why. */
export class FileError extends Error {
  override name = "FileError";
}

/** A row that is wrong; the message says why. */
export class RowError extends Error {
  override name = "RowError";
  constructor(
    readonly place: string,
    readonly problem: string,
  ) {
    super(`${place}: ${problem}`);
  }
}

/** The services of the rows that are right, with their places, and the rows that are wrong. */
export interface Catalogue {
  services: ServiceRow[];
  places: string[];
  wrong: RowError[];
}

export interface ReadOptions {
  /** Rows may leave out what is to stay as it is; those of services that are there have ids. */
  isUpdate?: boolean;
  onRow?: (index: number, rows: number) => void;
}

/** `file`: its name, which tells whether it is CSV or JSON. Throws FileError, and RowError for what ends the reading. */
export function readCatalogue(
  file: string,
  text: string,
  { isUpdate = false, onRow = () => {} }: ReadOptions = {},
): Catalogue {
  const required = isUpdate ? ["id"] : REQUIRED_COLUMNS;
  const rows = isJson(file, text) ? jsonRows(file, text) : csvRows(file, text, required);
  if (rows.length === 0) throw new FileError(`${file} holds no services: nothing to import`);
  const catalogue: Catalogue = { services: [], places: [], wrong: [] };
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

/** Of standard input, which has no name that tells: the first line of a CSV begins with no bracket. */
function isJson(file: string, text: string): boolean {
  return /\.json$/i.test(file) || (!/\.csv$/i.test(file) && /^\s*\[/.test(text));
}

function serviceOf(place: string, cells: Record<string, unknown>, isUpdate: boolean): ServiceRow {
  const cell = <T>(column: string, parseCell: (text: string) => T): T => {
    const text = textOf(cells[column]);
    if (text === null) throw new RowError(place, `${column} must be text or a number`);
    if (text === "") throw new RowError(place, `${column} is missing`);
    try {
      return parseCell(text);
    } catch (error) {
      if (!(error instanceof CellError)) throw error;
      throw new RowError(place, `${column} ${error.message}`);
    }
  };
  const optional = <T>(column: string, parseCell: (text: string) => T, absent: T): T =>
    textOf(cells[column]) === "" ? absent : cell(column, parseCell);

  // Of an update a column that is not there is undefined.
  const given = <T>(column: string, read: () => T): T | undefined =>
    isUpdate && !Object.hasOwn(cells, column) ? undefined : read();
  /** What a sync follows unless the file says it. */
  const written = <T>(column: string, parseCell: (text: string) => T): T | undefined =>
    optional<T | undefined>(column, parseCell, undefined);

  const type = written("type", serviceType);
  const kind = type ?? DEFAULT_SERVICE_TYPE;
  // A package has one size.
  const bound = (column: string) =>
    isPackage(kind) ? optional(column, quantity, 1) : cell(column, quantity);
  const service = definedOf({
    name: given("name", () => cell("name", serviceName)),
    priceMicros: given("price", () => cell("price", price)),
    per: given("per", () => optional<PriceUnit>("per", per, standardUnit(kind))),
    min: given("min", () => bound("min")),
    max: given("max", () => bound("max")),
    private: given("private", () => optional("private", yesOrNo, false)),
    active: given("active", () => optional("active", yesOrNo, true)),
    type,
    dripfeed: written("dripfeed", yesOrNo),
    category: written("category", category),
    cancel: written("cancel", yesOrNo),
    refill: written("refill", yesOrNo),
    refillDays: written("refillDays", refillDays),
  });
  const id = optional<string | null>("id", serviceId, null);
  const provider = optional<string | null>("provider", providerName, null);
  const atProvider = optional<string | null>("providerService", providerService, null);
  if ((provider === null) !== (atProvider === null)) {
    throw new RowError(place, "provider and providerService go together");
  }
  const { min = 1, max = QUANTITY_LIMIT, dripfeed } = service;
  if (min > max) throw new RowError(place, "min must not be above max");
  // Of an update the service may have what the row does not say.
  if (!isUpdate || (type !== undefined && service.per !== undefined)) {
    refuseUnfit(place, { type: kind, per: service.per!, dripfeed: dripfeed ?? false });
  }
  if (provider !== null) {
    return { ...service, id, provider: { name: provider, service: atProvider! } };
  }
  // An empty cell of an update: by hand from now on.
  const isManual = isUpdate && Object.hasOwn(cells, "provider");
  return { ...service, id, ...(isManual ? { provider: null } : {}) };
}

function refuseUnfit(
  place: string,
  { type, per: unit, dripfeed }: { type: ServiceType; per: PriceUnit; dripfeed: boolean },
): void {
  if (!fitsUnit({ type, per: unit })) {
    const fitting = isPackage(type) ? "order" : "1000 or 1";
    throw new RowError(place, `per must be ${fitting} for type ${type}`);
  }
  if (dripfeed && !mayDripFeed({ type, per: unit })) {
    throw new RowError(place, "dripfeed is for type default, per 1000 or 1");
  }
}

/** Without the members that are undefined. */
function definedOf<T extends object>(row: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(row).filter(([, value]) => value !== undefined),
  ) as never;
}

function jsonRows(file: string, text: string): FileRow[] {
  const problem = `${file} is not a JSON list of services: write [{"name": …, "price": …, "min": …, "max": …}, …]`;
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw new FileError(problem);
  }
  if (!Array.isArray(entries)) throw new FileError(problem);
  return entries.map((entry: unknown, index) => {
    const place = `${file}, entry ${index + 1}`;
    if (typeof entry !== "object" || entry === null || Array.isArray(entry))
      throw new RowError(place, "not an object");
    refuseUnknownColumns(place, Object.keys(entry));
    return { place, cells: entry as Record<string, unknown> };
  });
}

function csvRows(file: string, text: string, required: readonly string[]): FileRow[] {
  try {
    // With `info` each record comes with its line; the library's types lack that.
    const records = parse(text, { info: true, skip_empty_lines: true }) as unknown as {
      record: string[];
      info: { lines: number };
    }[];
    const [header, ...rows] = records;
    const columns = (header?.record ?? []).map((column) => column.trim());
    refuseUnknownColumns(`${file}, header`, columns);
    const twice = columns.find((column, index) => columns.indexOf(column) < index);
    if (twice !== undefined)
      throw new RowError(`${file}, header`, `column ${twice} is there twice`);
    const missing = required.filter((column) => !columns.includes(column));
    if (missing.length > 0) {
      const form = required === REQUIRED_COLUMNS ? HEADER_FORM : UPDATE_HEADER_FORM;
      throw new FileError(
        `${file} has no column ${missing.join(", ")}: its first line must be ${form}`,
      );
    }
    return rows.map(({ record, info }) => ({
      place: `${file}, line ${firstLine(record, info.lines)}`,
      cells: Object.fromEntries(
        columns.map((column, index) => [column, withoutApostrophe(record[index]!)]),
      ),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RowError(
      `${file}, line ${String(error["lines"])}`,
      CSV_PROBLEMS[error.code] ?? "not CSV",
    );
  }
}

/** What an export puts before a cell that a spreadsheet would take for a formula. */
function withoutApostrophe(text: string): string {
  return /^\s*'+[=+\-@]/.test(text) ? text.replace("'", "") : text;
}

/** The line a record begins on: it ends on `lastLine`, further down if its quoted cells hold line breaks. */
function firstLine(record: readonly string[], lastLine: number): number {
  const breaks = record.map((text) => text.match(/\r\n|\r|\n/g)?.length ?? 0);
  return lastLine - breaks.reduce((sum, count) => sum + count, 0);
}

function refuseUnknownColumns(place: string, columns: string[]): void {
  const unknown = columns.find((column) => !COLUMNS.includes(column));
  if (unknown !== undefined) {
    throw new RowError(place, `unknown column ${unknown} (known: ${COLUMNS.join(", ")})`);
  }
}

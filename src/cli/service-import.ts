// `admin service import`: a catalogue from a CSV or JSON file, all of it or nothing. docs/specification.md#cli-import.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { CsvError, parse } from "csv-parse/sync";
import { errorCode, Refusal } from "../domain/refusals.ts";
import { type PriceUnit, PRICE_UNITS } from "../domain/services.ts";
import type { ServiceTerms } from "../operations/services.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { sentenceOf } from "./errors.ts";
import { print } from "./output.ts";
import { startProgress } from "./progress.ts";
import {
  category,
  price,
  providerName,
  providerService,
  quantity,
  serviceId,
  serviceName,
} from "./values.ts";

const REQUIRED_COLUMNS = ["name", "price", "min", "max"];
const COLUMNS = [
  ...REQUIRED_COLUMNS,
  "per",
  "id",
  "private",
  "provider",
  "providerService",
  "category",
];
/** The CSV parser's error codes as sentences for the operator. */
const CSV_PROBLEMS: Record<string, string> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "it has not as many cells as the header",
  CSV_RECORD_INCONSISTENT_COLUMNS: "it has not as many cells as the header",
  CSV_QUOTE_NOT_CLOSED: "a cell that begins here with a quote never ends with one",
  CSV_INVALID_CLOSING_QUOTE: "text follows a cell's closing quote",
  INVALID_OPENING_QUOTE: "a quote stands inside a cell that does not begin with one",
};
/** Rows between two updates of the progress line. */
const PROGRESS_ROWS = 5000;

/** One row of a file: its position, and its cells by column. */
interface FileRow {
  /** `catalogue.csv, line 7` of a CSV, `catalogue.json, entry 3` of a JSON file. */
  place: string;
  cells: Record<string, unknown>;
}

export function declareImport(group: Command): void {
  declare(
    group,
    "import",
    "add services from a file: all of them or, if one row is wrong, none",
    "reseller admin service import catalogue.csv",
  )
    .argument(
      "<file>",
      "FILE.csv or FILE.json with name,price,min,max[,per,id,private,provider,providerService,category]",
      fileName,
    )
    .action(async (file: string, options: CommonOptions) => {
      const rows = readRows(file, readText(file));
      const services = servicesOf(rows);
      const imported = await withDatabase(options, async ({ execute }) => {
        try {
          return await execute("importServices", { services });
        } catch (error) {
          if (!isRowRefusal(error)) throw error;
          throw new RowError(rows[error.details.index]!.place, sentenceOf(error));
        }
      });
      print(options.json, { imported }, () => `imported ${imported} services`);
    });
}

/** The services in a CSV text. Throws CommandFailure, which names the invalid row. */
export function parseCatalogue(text: string): ServiceTerms[] {
  return servicesOf(readRows("catalogue.csv", text));
}

class RowError extends CommandFailure {
  constructor(place: string, problem: string) {
    super(`${place}: ${problem}: nothing was imported, correct it and import again`);
  }
}

function servicesOf(rows: FileRow[]): ServiceTerms[] {
  const progress = startProgress("reading", rows.length);
  try {
    return rows.map(({ place, cells }, index) => {
      if (index % PROGRESS_ROWS === 0) progress.update(index);
      return serviceOf(place, cells);
    });
  } finally {
    progress.end();
  }
}

function serviceOf(place: string, cells: Record<string, unknown>): ServiceTerms {
  const cell = <T>(column: string, parseCell: (text: string) => T): T => {
    const text = textOf(cells[column]);
    if (text === null) throw new RowError(place, `${column} must be text or a number`);
    if (text === "") throw new RowError(place, `${column} is missing`);
    try {
      return parseCell(text);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new RowError(place, `${column} ${error.message.replace(/\.$/, "")}`);
    }
  };
  const optional = <T>(column: string, parseCell: (text: string) => T, absent: T): T =>
    textOf(cells[column]) === "" ? absent : cell(column, parseCell);

  const service = {
    id: optional<string | null>("id", serviceId, null),
    name: cell("name", serviceName),
    priceMicros: cell("price", price),
    per: optional("per", per, "1000"),
    min: cell("min", quantity),
    max: cell("max", quantity),
    private: optional("private", yesOrNo, false),
    ...categoryOf(optional<string | null>("category", category, null)),
  };
  const provider = optional<string | null>("provider", providerName, null);
  const atProvider = optional<string | null>("providerService", providerService, null);
  if ((provider === null) !== (atProvider === null)) {
    throw new RowError(place, "provider and providerService go together");
  }
  if (service.min > service.max) throw new RowError(place, "min must not be above max");
  return provider === null
    ? service
    : { ...service, provider: { name: provider, service: atProvider! } };
}

const categoryOf = (category: string | null) => (category === null ? {} : { category });

function per(text: string): PriceUnit {
  const found = PRICE_UNITS.find((unit) => unit === text);
  if (!found) throw new InvalidArgumentError(`must be one of ${PRICE_UNITS.join(", ")}`);
  return found;
}

function yesOrNo(text: string): boolean {
  const word = text.toLowerCase();
  if (["true", "yes", "1"].includes(word)) return true;
  if (["false", "no", "0"].includes(word)) return false;
  throw new InvalidArgumentError("must be true or false");
}

/** The cell as text: JSON files may give numbers and booleans as such. Null for what is neither text nor those. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.trim();
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return null;
  const text = value.toFixed(6).replace(/\.?0+$/, "");
  return Number(text) === value ? text : String(value);
}

function fileName(text: string): string {
  if (!/\.(csv|json)$/i.test(text)) {
    throw new InvalidArgumentError("must end in .csv or .json.");
  }
  return text;
}

function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = errorCode(error);
    const path = resolve(file);
    if (code === "ENOENT")
      throw new CommandFailure(`there is no file ${path}: name one that exists`);
    if (code.startsWith("ERR_")) {
      throw new CommandFailure(`${path} is not UTF-8 text: save it as UTF-8 and import again`);
    }
    throw new CommandFailure(`cannot read ${path} (${code}): name a file that can be read`);
  }
}

function readRows(file: string, text: string): FileRow[] {
  const rows = /\.json$/i.test(file) ? jsonRows(file, text) : csvRows(file, text);
  if (rows.length === 0) throw new CommandFailure(`${file} holds no services: nothing to import`);
  return rows;
}

function jsonRows(file: string, text: string): FileRow[] {
  const problem = `${file} is not a JSON list of services: write [{"name": …, "price": …, "min": …, "max": …}, …]`;
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw new CommandFailure(problem);
  }
  if (!Array.isArray(entries)) throw new CommandFailure(problem);
  return entries.map((entry: unknown, index) => {
    const place = `${file}, entry ${index + 1}`;
    if (typeof entry !== "object" || entry === null || Array.isArray(entry))
      throw new RowError(place, "not an object");
    refuseUnknownColumns(place, Object.keys(entry));
    return { place, cells: entry as Record<string, unknown> };
  });
}

function csvRows(file: string, text: string): FileRow[] {
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
    const missing = REQUIRED_COLUMNS.filter((column) => !columns.includes(column));
    if (missing.length > 0) {
      throw new CommandFailure(
        `${file} has no column ${missing.join(", ")}: its first line must be name,price,min,max[,per,id,private,provider,providerService,category]`,
      );
    }
    return rows.map(({ record, info }) => ({
      place: `${file}, line ${firstLine(record, info.lines)}`,
      cells: Object.fromEntries(columns.map((column, index) => [column, record[index]])),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new RowError(
      `${file}, line ${String(error["lines"])}`,
      CSV_PROBLEMS[error.code] ?? "not CSV",
    );
  }
}

/** The line a record begins on: it ends on `lastLine`, further down if its quoted cells hold line breaks. */
function firstLine(record: readonly string[], lastLine: number): number {
  const breaks = record.map((text) => text.match(/\r\n|\r|\n/g)?.length ?? 0);
  return lastLine - breaks.reduce((sum, count) => sum + count, 0);
}

/** The refusals that concern one row: known only once it is compared with the database. */
function isRowRefusal(
  error: unknown,
): error is Refusal<"import_id_taken" | "import_provider_unknown"> {
  if (!(error instanceof Refusal)) return false;
  return error.code === "import_id_taken" || error.code === "import_provider_unknown";
}

function refuseUnknownColumns(place: string, columns: string[]): void {
  const unknown = columns.find((column) => !COLUMNS.includes(column));
  if (unknown !== undefined) {
    throw new RowError(place, `unknown column ${unknown} (known: ${COLUMNS.join(", ")})`);
  }
}

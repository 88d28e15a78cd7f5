// Grants in a CSV text, with every row that is wrong. docs/specification.md#cli-grants.

import { CsvError, parse } from "csv-parse/sync";
import { csvText } from "../domain/csv.ts";
import { AMOUNT_LIMIT_MICROS, formatMicros, parseMicros } from "../domain/money.ts";
import type { GrantProblem } from "../domain/refusals.ts";
import { IDENTIFIER_FORM, isIdentifier } from "../domain/text.ts";
import { isUsername, USERNAME_FORM } from "../domain/users.ts";
import type { GrantTerms } from "../operations/grants.ts";
import { FileError, RowError } from "./catalogue.ts";

const COLUMNS = ["service", "username", "price"];
/** The first line. */
export const GRANTS_HEADER = "service,username[,price]";

export interface GrantList {
  grants: GrantTerms[];
  /** `grants.csv, line 7`, by grant. */
  places: string[];
  wrong: RowError[];
}

/** `file`: what it is called in messages. Throws FileError. */
/** Every row that is wrong, by its line: those that cannot be read and those that are refused. */
export function wrongGrants(
  { places, wrong }: GrantList,
  refused: readonly GrantProblem[],
  sentenceOf: (code: GrantProblem["code"]) => string,
): RowError[] {
  const all = refused.map(({ index, code }) => new RowError(places[index]!, sentenceOf(code)));
  return [...wrong, ...all].toSorted((one, other) => lineOf(one) - lineOf(other));
}

function lineOf({ place }: RowError): number {
  return Number(/\d+$/.exec(place)?.[0] ?? 0);
}

export function readGrants(file: string, text: string): GrantList {
  const [header, ...rows] = recordsIn(file, text);
  const columns = (header?.record ?? []).map((column) => column.trim());
  const isHeader = ["service", "username"].every((column) => columns.includes(column));
  const isKnown = columns.every((column, at) => {
    return COLUMNS.includes(column) && columns.indexOf(column) === at;
  });
  if (!isHeader || !isKnown) {
    throw new FileError(`${file} must begin with the line ${GRANTS_HEADER}`);
  }
  if (rows.length === 0) throw new FileError(`${file} holds no grants: nothing to import`);
  const list: GrantList = { grants: [], places: [], wrong: [] };
  const seen = new Map<string, string>();
  for (const { record, info } of rows) {
    const place = `${file}, line ${info.lines}`;
    const cells = Object.fromEntries(columns.map((column, at) => [column, record[at]!.trim()]));
    const problem = problemOf(cells);
    const key = `${cells["service"]}\n${cells["username"]!.toLowerCase()}`;
    const twice = seen.get(key);
    if (problem !== null) list.wrong.push(new RowError(place, problem));
    else if (twice !== undefined)
      list.wrong.push(new RowError(place, `the same grant as ${twice}`));
    else {
      list.grants.push(grantOf(cells));
      list.places.push(place);
      seen.set(key, place);
    }
  }
  return list;
}

function grantOf(cells: Record<string, string>): GrantTerms {
  const { service, username, price = "" } = cells;
  return {
    id: service!,
    username: username!,
    priceMicros: price === "" ? null : parseMicros(price),
  };
}

/** Null: none. */
function problemOf({ service, username, price = "" }: Record<string, string>): string | null {
  if (!isIdentifier(service!)) return `service must be ${IDENTIFIER_FORM}`;
  if (!isUsername(username!)) return `username must be ${USERNAME_FORM}`;
  const micros = price === "" ? 0 : (parseMicros(price) ?? Infinity);
  if (micros <= AMOUNT_LIMIT_MICROS) return null;
  return `price must be a number from 0 to ${formatMicros(AMOUNT_LIMIT_MICROS)} with at most six decimals, or empty`;
}

function recordsIn(file: string, text: string) {
  try {
    // With `info` each record comes with its line; the library's types lack that.
    return parse(text, { info: true, skip_empty_lines: true, bom: true }) as unknown as {
      record: string[];
      info: { lines: number };
    }[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new FileError(`${file}, line ${String(error["lines"])}: not CSV (${error.code})`);
  }
}

/** What `readGrants` reads. Ends without a line break. */
export function grantsCsv(
  grants: readonly { serviceId: string; username: string; priceMicros: number | null }[],
): string {
  const lines = grants.map(({ serviceId: service, username: user, priceMicros }) => {
    const price = priceMicros === null ? "" : formatMicros(priceMicros);
    return [csvText(service), csvText(user), price].join(",");
  });
  return [COLUMNS.join(","), ...lines].join("\n");
}

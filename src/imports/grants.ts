// Reads and writes grants as CSV text, and reports every wrong row. docs/specification/command-line.md#cli-grants.

import { csvText } from "../domain/values/csv.ts";
import { formatMicros, parseMicros } from "../domain/ledger/money.ts";
import { IDENTIFIER, PRICE, USERNAME } from "../domain/values/kinds.ts";
import type { GrantTerms } from "../operations/catalogue/grants.ts";
import { FileError, readRecords, RowError } from "./records.ts";

const COLUMNS = ["service", "username", "price"];
export const GRANTS_HEADER = "service,username[,price]";

export interface GrantList {
  grants: GrantTerms[];
  /** The place of each grant, such as `grants.csv, line 7`. */
  places: string[];
  wrong: RowError[];
}

/** Reads grants. `file` is the name for messages. Throws FileError, and RowError if the header cannot be read. */
export function readGrants(file: string, text: string): GrantList {
  const { header: columns, rows, wrong } = readRecords(file, text);
  const isHeader = ["service", "username"].every((column) => columns.includes(column));
  const isKnown = columns.every((column, at) => {
    return COLUMNS.includes(column) && columns.indexOf(column) === at;
  });
  if (!isHeader || !isKnown) {
    throw new FileError(`${file} must begin with the line ${GRANTS_HEADER}`);
  }
  if (rows.length + wrong.length === 0) {
    throw new FileError(`${file} contains no grants: nothing to import`);
  }
  const list: GrantList = { grants: [], places: [], wrong };
  const seen = new Map<string, string>();
  for (const { place, cells: record } of rows) {
    const cells = Object.fromEntries(columns.map((column, at) => [column, record[at]!.trim()]));
    const problem = problemOf(cells);
    const key = `${cells["service"]}\n${cells["username"]!.toLowerCase()}`;
    const twice = seen.get(key);
    if (problem !== null) list.wrong.push(new RowError(place, problem));
    else if (twice !== undefined)
      list.wrong.push(new RowError(place, `duplicate of the grant in ${twice}`));
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

/** Says what is wrong with a row; null for a valid row. */
function problemOf({ service, username, price = "" }: Record<string, string>): string | null {
  if ("must" in IDENTIFIER.read(service!)) return `service must be ${IDENTIFIER.form}`;
  if ("must" in USERNAME.read(username!)) return `username must be ${USERNAME.form}`;
  const isPriced = price === "" || "value" in PRICE.read(price);
  return isPriced ? null : `price must be ${PRICE.form}, or empty`;
}

/** Writes grants in the form that `readGrants` reads, without a line break at the end. */
export function grantsCsv(
  grants: readonly { serviceId: string; username: string; priceMicros: number | null }[],
): string {
  const lines = grants.map(({ serviceId: service, username: user, priceMicros }) => {
    const price = priceMicros === null ? "" : formatMicros(priceMicros);
    return [csvText(service), csvText(user), price].join(",");
  });
  return [COLUMNS.join(","), ...lines].join("\n");
}

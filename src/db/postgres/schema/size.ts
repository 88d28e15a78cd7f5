// Reads the size of the database, for the metrics.

import { query } from "../../port/query.ts";
import { number } from "../../port/table-definition.ts";
import type { Reader } from "../../port/port.ts";

const SIZE = query({
  columns: { bytes: number },
  text: "SELECT pg_database_size(current_database()) AS bytes",
});

export function databaseBytes(reader: Reader): number {
  return reader.one(SIZE)!.bytes;
}

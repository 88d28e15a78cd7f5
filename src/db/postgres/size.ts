// How large the database is, for the metrics.

import { query } from "../query.ts";
import { number } from "../table-definition.ts";
import type { Reader } from "../port.ts";

const SIZE = query({
  gives: { bytes: number },
  text: "SELECT pg_database_size(current_database()) AS bytes",
});

export function databaseBytes(reader: Reader): number {
  return reader.one(SIZE)!.bytes;
}

// Turns the buffered writes of a batch into few statements. Tables are written in the order of TABLES, which foreign
// keys allow and which is the same for every batch. Further updates of a row are written in later waves, so that
// triggers see every step.

import { type AnyTable, keyOfRow } from "../../port/table-definition.ts";
import { TABLES } from "../../tables/tables.ts";
import type { Statement } from "../connection/connection.ts";
import { deleteStatement, insertStatement, rowLockStatement, updateStatement } from "./text.ts";
import type { Write } from "./write-transaction.ts";

export function statementsOf(writes: readonly Write[]): Statement[] {
  const statements: Statement[] = [];
  for (const [table, free] of byTable(writes.filter(isUnlocked))) {
    const rows = free.map(({ row }) => row);
    statements.push(rowLockStatement(table, rows));
  }
  for (const wave of splitIntoWaves(writes)) {
    for (const [table, own] of byTable(wave)) statements.push(...statementsOfTable(table, own));
  }
  return statements;
}

const PLACES = new Map<AnyTable, number>(TABLES.map((table, place) => [table, place]));

/** Groups writes by table, in the order of TABLES; unlisted tables come last. */
function byTable(writes: readonly Write[]): [AnyTable, Write[]][] {
  const placeOf = (table: AnyTable) => PLACES.get(table) ?? TABLES.length;
  return [...Map.groupBy(writes, ({ table }) => table)].sort(
    ([one], [other]) => placeOf(one) - placeOf(other),
  );
}

function statementsOfTable(table: AnyTable, writes: readonly Write[]): Statement[] {
  const statements: Statement[] = [];
  const rowsOf = (kind: Write["kind"]) => writes.filter((write) => write.kind === kind);
  const inserts = rowsOf("insert");
  if (inserts.length > 0)
    statements.push(
      insertStatement(
        table,
        inserts.map(({ row }) => row),
      ),
    );
  const byFields = new Map<string, Write[]>();
  for (const write of rowsOf("update")) {
    const fields = [...write.fields].sort().join();
    byFields.set(fields, [...(byFields.get(fields) ?? []), write]);
  }
  for (const [fields, updates] of byFields) {
    statements.push(
      updateStatement(
        table,
        fields.split(","),
        updates.map(({ row }) => row),
      ),
    );
  }
  const deletes = rowsOf("delete");
  if (deletes.length > 0)
    statements.push(
      deleteStatement(
        table,
        deletes.map(({ row }) => row),
      ),
    );
  return statements;
}

/**
 * Puts the n-th write of a row into the n-th wave. Updates of a coalesced table are merged with the write before
 * them.
 */
function splitIntoWaves(writes: readonly Write[]): Write[][] {
  const waves: Write[][] = [];
  const last = new Map<AnyTable, Map<string | number, { wave: number; place: number }>>();
  for (const write of writes) {
    const { table, row } = write;
    let byKey = last.get(table);
    if (!byKey) last.set(table, (byKey = new Map()));
    const key = keyOfRow(table.indexes[0]!, row)!;
    const before = byKey.get(key);
    const earlier = before && waves[before.wave]![before.place]!;
    if (table.coalesced && earlier && write.kind === "update" && earlier.kind !== "delete") {
      const fields = [...new Set([...earlier.fields, ...write.fields])];
      waves[before.wave]![before.place] = { ...earlier, row, fields };
      continue;
    }
    const wave = before ? before.wave + 1 : 0;
    const place = (waves[wave] ??= []).push(write) - 1;
    byKey.set(key, { wave, place });
  }
  return waves;
}

function isUnlocked({ kind, table, fields }: Write): boolean {
  return (
    kind === "update" && fields.every((field) => table.unlocked.has(field)) && fields.length > 0
  );
}

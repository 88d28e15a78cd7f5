// Verifies a PostgreSQL database: runs the checks of both engines on one snapshot, compares the schema with the
// migrations, and checks references and the sequences of numbers. Only reads, and can run beside servers.
// docs/specification/storage.md#verify

import type { ReadStore } from "../../port/port.ts";
import { query } from "../../port/query.ts";
import { text } from "../../port/table-definition.ts";
import { TABLES } from "../../tables/tables.ts";
import {
  type Check,
  queryCheck,
  runChecks,
  type Verification,
  type VerifyOptions,
} from "../../verify/verify.ts";
import { QUERY_CHECKS } from "../../verify/verify-queries.ts";
import { SCAN_CHECKS } from "../../verify/verify-scans.ts";
import type { Address } from "../connection/address.ts";
import { sqlStateOf } from "../connection/errors.ts";
import { COMMAND_NAME, connectForCommand, requireSchema } from "../connection/open-for-command.ts";
import { schemaProblems } from "./schema-check.ts";
import { openSnapshot } from "../batch/snapshot.ts";

/** SQL states for a damaged page, an index that does not match its table, a missing table, a missing column. */
const UNREADABLE = new Set(["XX001", "XX002", "42P01", "42703"]);

const REFERENCES = query({
  columns: { child: text, childColumn: text, parent: text, parentColumn: text },
  text: `SELECT child.relname AS child, a.attname AS "childColumn", parent.relname AS parent,
      b.attname AS "parentColumn"
    FROM pg_constraint JOIN pg_class AS child ON child.oid = conrelid
      JOIN pg_class AS parent ON parent.oid = confrelid
      JOIN pg_attribute AS a ON a.attrelid = conrelid AND a.attnum = conkey[1]
      JOIN pg_attribute AS b ON b.attrelid = confrelid AND b.attnum = confkey[1]
    WHERE contype = 'f' AND child.relnamespace =
      (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('orders'))
    ORDER BY child.relname, a.attname`,
});

/** References that are not foreign keys: triggers (`…_refer_to_rows`) check them once for each statement. */
const SET_REFERENCES = [
  ["orders", "reseller_account", "users", "account"],
  ["orders", "service_id", "services", "id"],
  ["orders", "provider_id", "providers", "provider_id"],
  ["transfers", "debit_account", "accounts", "account"],
  ["transfers", "credit_account", "accounts", "account"],
  ["transfers", "order_id", "orders", "order_id"],
  ["transfers", "key_id", "keys", "id"],
  ["idempotency", "reseller_account", "users", "account"],
  ["idempotency", "order_id", "orders", "order_id"],
  ["idempotency", "transfer_seq", "transfers", "seq"],
].map(([child, childColumn, parent, parentColumn]) => ({
  child: child!,
  childColumn: childColumn!,
  parent: parent!,
  parentColumn: parentColumn!,
}));

/** Checks references: PostgreSQL enforces them by triggers, which an administrator can turn off. */
const references: Check = {
  name: "every reference points to an existing row",
  async run(store, findings) {
    const foreignKeys = await store.read((reader) => reader.all(REFERENCES));
    for (const { child, childColumn, parent, parentColumn } of [
      ...foreignKeys,
      ...SET_REFERENCES,
    ]) {
      const [key] = TABLES.find(({ name }) => name === child)?.indexes[0]!.columns ?? [];
      const check = queryCheck(
        "every reference points to an existing row",
        `SELECT '${child} row ' || child.${key?.name ?? childColumn} AS subject,
          'refers to a missing row of ${parent}' AS problem
        FROM ${child} AS child LEFT JOIN ${parent} AS parent ON parent.${parentColumn} = child.${childColumn}
        WHERE child.${childColumn} IS NOT NULL AND parent.${parentColumn} IS NULL`,
      );
      await check.run(store, findings);
    }
  },
};

/** Checks sequences: a sequence behind its table would issue a number twice, or inserts would fail. */
const numbers = queryCheck(
  "every number is issued once",
  TABLES.filter(({ numberField }) => numberField !== null)
    .map(({ name, numberField, columns }) => {
      const column = columns.find(({ field }) => field === numberField)!.name;
      return `SELECT 'sequence ${name}_number' AS subject,
          'its last number is ' || last_value || ', but the highest in use is ' || highest AS problem
        FROM ${name}_number, (SELECT max(${column}) AS highest FROM ${name}) AS numbered
        WHERE highest > last_value OR (highest = last_value AND NOT is_called)`;
    })
    .join(" UNION ALL "),
);

const POSTGRES_CHECKS: readonly Check[] = [references, numbers];

/** The number of checks, for a progress display. */
export const POSTGRES_CHECK_COUNT =
  1 + QUERY_CHECKS.length + POSTGRES_CHECKS.length + SCAN_CHECKS.length;

/**
 * Verifies a database with this program's schema; throws SchemaError for any other. Calls `progress` with the number
 * of completed checks.
 */
export async function verifyPostgres(
  address: Address,
  progress: (done: number) => void,
): Promise<Verification> {
  const connection = await connectForCommand(address);
  try {
    await requireSchema(connection);
  } finally {
    connection.close();
  }
  const snapshot = await openSnapshot(address, COMMAND_NAME);
  const isUnreadable = (error: unknown) => UNREADABLE.has(sqlStateOf(error) ?? "");
  try {
    return await verifyOn(snapshot, address, { isUnreadable, progress });
  } finally {
    snapshot.close();
  }
}

/** Verifies a database by the reads of `store`. `address`: the same database, for the comparison of its schema. */
export async function verifyOn(
  store: ReadStore,
  address: Address,
  options: Omit<VerifyOptions, "checks">,
): Promise<Verification> {
  const differences = await schemaProblems(address);
  const schema: Check = {
    name: "the schema matches the migrations",
    run(_, findings) {
      for (const { subject, problem } of differences) findings.add(subject, problem);
    },
  };
  const checks = [schema, ...QUERY_CHECKS, ...POSTGRES_CHECKS, ...SCAN_CHECKS];
  return runChecks(store, { ...options, checks });
}

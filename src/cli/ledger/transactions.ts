// `admin transaction …`: transactions of a user or of all users.

import { type Command, Option } from "commander";
import {
  type AllTransactionsQuery,
  listAllTransactionsBelow,
  spansOfWindow,
  type UserTransaction,
} from "../../db/ledger/all-transactions.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { TRANSFER_KINDS, type TransferKind } from "../../domain/ledger/ledger.ts";
import {
  ALL_TRANSACTIONS_HEADER,
  allTransactionsCells,
  authorOf,
  transactionCells,
  TRANSACTIONS_HEADER,
} from "../../reports/transactions-csv.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, declareGroup, type Session } from "../kernel/command.ts";
import { type CsvList, exportAll, listWithCsv, type ShownList } from "../output/csv-lists.ts";
import { addWindow, type WindowOptions, windowOf } from "../output/list-pages.ts";
import { dollars } from "../output/output.ts";
import type { PageReader } from "../output/streams.ts";
import { table } from "../output/text-table.ts";
import { orderNumber, username } from "../kernel/values.ts";

interface FilterOptions extends CommonOptions, WindowOptions {
  user?: string;
  all?: true;
  kind?: TransferKind;
  order?: number;
}

export function declareTransactions(admin: Command): void {
  const group = declareGroup(admin, "transaction", "credits and charges of users");
  declareList(group);
  declareExport(group);
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list transactions of a user or of all users, newest first",
    "reseller admin transaction list --user alice --since 2026-11-01 --until 2026-11-30 --csv",
  );
  listWithCsv(addFilters(command), "transactions", LIST);
}

function declareExport(group: Command): void {
  const command = declare(
    group,
    "export",
    "write all transactions of a user or of all users as CSV or JSON lines, newest first",
    "reseller admin transaction export --all --since 2026-11-01 --until 2026-11-30 > november.csv",
  );
  exportAll(addFilters(command), "one JSON object a line", LIST, transactionJson);
}

function addFilters(command: Command): Command {
  command
    .addOption(new Option("--user <username>", "the user").argParser(username).conflicts("all"))
    .option("--all", "all users (default)")
    .addOption(
      new Option("--kind <kind>", "only transactions of this kind").choices(TRANSFER_KINDS),
    )
    .option("--order <number>", "only transactions of this order", orderNumber);
  return addWindow(command);
}
/** Returns the function that reads pages of the list. Finds the rows of the window once, not for each page. */
async function readerOf(
  { store }: Session,
  options: FilterOptions,
): Promise<PageReader<UserTransaction, number>> {
  const { kind = null, order: orderId = null } = options;
  const window = windowOf(options);
  const { user, spans } = await store.read((reader) => ({
    user: options.user === undefined ? null : requireUser(reader, options.user),
    spans: options.user === undefined ? spansOfWindow(reader, window) : [],
  }));
  const query: AllTransactionsQuery = { user, kind, orderId, window };
  return (below, limit) =>
    store.read((reader) => listAllTransactionsBelow(reader, query, spans, below, limit));
}

/** The list of one user has no column `username`. */
const LIST: CsvList<UserTransaction, FilterOptions> & ShownList<UserTransaction, FilterOptions> = {
  open: readerOf,
  header: ({ user }) => (user === undefined ? ALL_TRANSACTIONS_HEADER : TRANSACTIONS_HEADER),
  cells: (row, { user }) => (user === undefined ? allTransactionsCells : transactionCells)(row),
  json: transactionJson,
  table: transactionTable,
  numberOf: ({ seq }) => seq,
};

function transactionJson(row: UserTransaction, { user }: FilterOptions) {
  return {
    seq: row.seq,
    ...(user === undefined ? { username: row.username } : {}),
    at: new Date(row.createdAt).toISOString(),
    kind: row.kind,
    amount: jsonAmount(row.amountMicros),
    balance: jsonAmount(row.balanceAfterMicros),
    orderId: row.orderId,
    note: row.note,
    publicNote: row.publicNote,
    reference: row.reference,
    by: authorOf(row),
  };
}

function transactionTable(rows: readonly UserTransaction[], { user }: FilterOptions): string {
  const shown = rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.createdAt).toISOString(),
    ...(user === undefined ? { user: row.username } : {}),
    kind: row.kind,
    "amount usd": dollars(row.amountMicros),
    "balance usd": dollars(row.balanceAfterMicros),
    order: row.orderId,
    reference: row.reference,
    note: row.note,
    "public note": row.publicNote,
  }));
  return table(shown, "no transactions to list");
}

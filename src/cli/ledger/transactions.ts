// `admin transaction …`: transactions of a user or of all users.

import { type Command, Option } from "commander";
import {
  type AllTransactionsQuery,
  listAllTransactionsBelow,
  spansOfWindow,
  type UserTransaction,
} from "../../db/ledger/all-transactions.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { showHidden } from "../../domain/values/text.ts";
import { TRANSFER_KINDS, type TransferKind } from "../../domain/ledger/ledger.ts";
import {
  ALL_TRANSACTIONS_HEADER,
  allTransactionsCells,
  authorOf,
  transactionCells,
  TRANSACTIONS_HEADER,
} from "../../reports/transactions-csv.ts";
import { requireUser } from "../../operations/users/users.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import {
  addPaging,
  addWindow,
  type PageOptions,
  printMore,
  readPages,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { dollars, print } from "../output/output.ts";
import { type PageReader, write, writeJsonPages, writePages } from "../output/streams.ts";
import { table } from "../output/text-table.ts";
import { firstNumber, orderNumber, username } from "../kernel/values.ts";

const LIST_DEFAULT = 50;
/** The cursor at which the newest transaction is the first. */
const NEWEST = Number.MAX_SAFE_INTEGER;

interface FilterOptions extends CommonOptions, WindowOptions {
  user?: string;
  all?: true;
  kind?: TransferKind;
  order?: number;
}

interface ListOptions extends FilterOptions, PageOptions {
  csv?: true;
  cursor?: number;
}

interface ExportOptions extends FilterOptions {
  jsonLines?: true;
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
  addFilters(command).addOption(
    new Option("--csv", "print CSV; all transactions unless --limit is given").conflicts("json"),
  );
  addPaging(command, { what: "seq", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const { cursor = NEWEST } = options;
      const isLimited = command.getOptionValueSource("limit") !== "default";
      if (options.csv) return writeCsv(options, cursor, isLimited ? options.limit : Infinity);
      const rows = await withDatabase(options, async (session) => {
        const read = await readerOf(session, options);
        return readPages(options, cursor, read);
      });
      const json = (row: UserTransaction) => transactionJson(row, options);
      print(options.json, rows.map(json), () => transactionTable(rows, options));
      printMore(options, rows, () => rows.at(-1)!.seq);
    },
  );
}

function declareExport(group: Command): void {
  const command = declare(
    group,
    "export",
    "write all transactions of a user or of all users as CSV or JSON lines, newest first",
    "reseller admin transaction export --all --since 2026-11-01 --until 2026-11-30 > november.csv",
  );
  addFilters(command)
    .addOption(new Option("--json-lines", "one JSON object a line").conflicts("json"))
    .action(async (options: ExportOptions) => {
      if (!options.json && !options.jsonLines) return writeCsv(options, NEWEST);
      const json = (row: UserTransaction) => JSON.stringify(transactionJson(row, options));
      await withDatabase(options, async (session) => {
        const read = await readerOf(session, options);
        if (options.json) await writeJsonPages(NEWEST, read, json);
        else await writePages(NEWEST, Infinity, read, json);
      });
    });
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

/** Writes CSV. The list of one user has no column `username`. */
async function writeCsv(options: FilterOptions, begin: number, most = Infinity): Promise<void> {
  const isOfUser = options.user !== undefined;
  const cells = isOfUser ? transactionCells : allTransactionsCells;
  const line = (row: UserTransaction) => showHidden(cells(row).join(","));
  await withDatabase(options, async (session) => {
    const read = await readerOf(session, options);
    await write(`${isOfUser ? TRANSACTIONS_HEADER : ALL_TRANSACTIONS_HEADER}\n`);
    await writePages(begin, most, read, line);
  });
}

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

// `admin transaction …`: lists the transactions of a user.

import { type Command, Option } from "commander";
import { listTransactionsBelow, type TransactionRow } from "../../db/ledger/transactions.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { TRANSFER_KINDS, type TransferKind } from "../../domain/ledger/ledger.ts";
import { transactionCells, TRANSACTIONS_HEADER } from "../../reports/transactions-csv.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
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
import { table } from "../output/text-table.ts";
import { firstNumber, orderNumber, username } from "../kernel/values.ts";

const LIST_DEFAULT = 50;

interface ListOptions extends CommonOptions, PageOptions, WindowOptions {
  user: string;
  csv?: true;
  kind?: TransferKind;
  order?: number;
  cursor?: number;
}

export function declareTransactions(admin: Command): void {
  const group = declareGroup(admin, "transaction", "credits and charges of users");
  const command = declare(
    group,
    "list",
    "list a user's transactions, newest first",
    "reseller admin transaction list --user alice --since 2026-11-01 --until 2026-11-30 --csv",
  )
    .addOption(
      new Option("--user <username>", "the user").argParser(username).makeOptionMandatory(),
    )
    .addOption(
      new Option("--kind <kind>", "only transactions of this kind").choices(TRANSFER_KINDS),
    )
    .option("--order <number>", "only transactions of this order", orderNumber)
    .addOption(
      new Option("--csv", "print CSV; all transactions unless --limit is given").conflicts("json"),
    );
  addWindow(command);
  addPaging(command, { what: "seq", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const isLimited = command.getOptionValueSource("limit") !== "default";
      const paging = options.csv && !isLimited ? {} : options;
      const { kind = null, order: orderId = null, cursor = Number.MAX_SAFE_INTEGER } = options;
      const rows = await withDatabase(options, async ({ store }) => {
        const { account } = await store.read((reader) => requireUser(reader, options.user));
        const filter = { account, kind, orderId, window: windowOf(options) };
        return readPages(paging, cursor, (below, most) =>
          store.read((reader) => listTransactionsBelow(reader, filter, below, most)),
        );
      });
      if (options.csv) return print(undefined, rows, csvOf);
      print(options.json, rows.map(transactionJson), () => transactionTable(rows));
      printMore(options, rows, () => rows.at(-1)!.seq);
    },
  );
}

function transactionJson(row: TransactionRow) {
  return {
    seq: row.seq,
    at: new Date(row.createdAt).toISOString(),
    kind: row.kind,
    amount: jsonAmount(row.amountMicros),
    balance: jsonAmount(row.balanceAfterMicros),
    orderId: row.orderId,
    note: row.note,
    publicNote: row.publicNote,
    reference: row.reference,
    by: row.operator,
  };
}

/** Returns CSV without a line break at the end, because print adds one. */
function csvOf(rows: readonly TransactionRow[]): string {
  return [TRANSACTIONS_HEADER, ...rows.map((row) => transactionCells(row).join(","))].join("\n");
}

function transactionTable(rows: readonly TransactionRow[]): string {
  const shown = rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.createdAt).toISOString(),
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

// `admin transaction …`: a user's side of the ledger.

import { type Command, Option } from "commander";
import { listTransactionsBelow, type TransactionRow } from "../db/transactions.ts";
import { jsonAmount } from "../domain/money.ts";
import { TRANSFER_KINDS, type TransferKind } from "../domain/ledger.ts";
import { requireUser } from "../operations/users.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "./command.ts";
import {
  addPaging,
  addWindow,
  type PageOptions,
  printMore,
  readPages,
  windowOf,
} from "./list-pages.ts";
import { dollars, print } from "./output.ts";
import { table } from "./text-table.ts";
import { orderNumber, username } from "./values.ts";

const LIST_DEFAULT = 50;

interface ListOptions extends CommonOptions, PageOptions {
  user: string;
  kind?: TransferKind;
  order?: number;
  from?: number;
  to?: number;
  cursor?: number;
}

export function declareTransactions(admin: Command): void {
  const group = declareGroup(admin, "transaction", "what users were credited and charged");
  const command = declare(
    group,
    "list",
    "list a user's transactions, newest first",
    "reseller admin transaction list --user alice --from 2026-11-01",
  )
    .addOption(new Option("--user <username>", "whose").argParser(username).makeOptionMandatory())
    .addOption(new Option("--kind <kind>", "only these").choices(TRANSFER_KINDS))
    .option("--order <number>", "only those of this order", orderNumber);
  addWindow(command);
  addPaging(command, { what: "seq", parse: orderNumber }, LIST_DEFAULT).action(
    async (options: ListOptions) => {
      const { kind = null, order: orderId = null, cursor = Number.MAX_SAFE_INTEGER } = options;
      const rows = await withDatabase(options, async ({ store }) => {
        const { account } = await store.read((reader) => requireUser(reader, options.user));
        const filter = { account, kind, orderId, window: windowOf(options) };
        return readPages(options, cursor, (below, most) =>
          store.read((reader) => listTransactionsBelow(reader, filter, below, most)),
        );
      });
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
  };
}

function transactionTable(rows: readonly TransactionRow[]): string {
  const shown = rows.map((row) => ({
    seq: row.seq,
    at: new Date(row.createdAt).toISOString(),
    kind: row.kind,
    "amount usd": dollars(row.amountMicros),
    "balance usd": dollars(row.balanceAfterMicros),
    order: row.orderId,
    note: row.note,
  }));
  return table(shown, "no transactions to list");
}

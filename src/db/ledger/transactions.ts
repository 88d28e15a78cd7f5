// A user's transactions: its side of the ledger, newest first, in pages. A page costs the same at any size.

import type { Actor, TransferKind } from "../../domain/ledger/ledger.ts";
import {
  isTimed,
  LIST_PARAMETERS,
  type Page,
  ROWS_LIMIT,
  spansBelow,
  timesOf,
  WINDOW_PARAMETERS,
} from "../port/pages.ts";
import { type EntryQuery, newestOf, rowsInWindow } from "../port/newest-entries.ts";
import type { Reader, TimeWindow } from "../port/port.ts";
import { byDialect, type Dialect, fields, isOneOf, query, select } from "../port/query.ts";
import { type Kinds, number, type Typed } from "../port/table-definition.ts";
import { transferDetails, transfers } from "../tables/ledger.ts";

export interface TransactionQuery {
  account: number;
  kind: TransferKind | null;
  orderId: number | null;
  window: TimeWindow;
}

/** A transfer as the user on one side sees it. */
export interface TransactionRow {
  seq: number;
  kind: TransferKind;
  /** Positive for a credit, negative for a debit. */
  amountMicros: number;
  balanceAfterMicros: bigint;
  orderId: number | null;
  /** An internal note by the operator or the system. Never shown to the user. */
  note: string | null;
  /** The operator's note for the user. */
  publicNote: string | null;
  /** The operator's reference of an adjustment. */
  reference: string | null;
  /** The operator who made the adjustment. Shown only to operators. */
  operator: string | null;
  /** The key that ordered or recharged. Shown only to operators. */
  keyId: string | null;
  createdAt: number;
}

// `> 2` is true for every user. It repeats the condition of the partial indexes of users' transfers, so that those
// indexes are used.
const debits = (...where: string[]): EntryQuery => ({
  values: { debit_account: ":account" },
  where: ["debit_account > 2", ...where],
});
const credits = (kind: TransferKind): EntryQuery => ({
  values: { credit_account: ":account", kind: `'${kind}'` },
  where: ["credit_account > 2"],
});

/** The parts of indexes that together contain an account's transfers of a kind. */
const ENTRIES: Record<TransferKind | "all", readonly EntryQuery[]> = {
  all: [
    debits(),
    credits("recharge"),
    credits("partial_refund"),
    credits("refund"),
    credits("adjustment"),
    credits("payment"),
    credits("payment_bonus"),
  ],
  payment: [credits("payment")],
  payment_bonus: [credits("payment_bonus")],
  payment_reversal: [debits("kind = 'payment_reversal'")],
  order: [debits("kind = 'order'")],
  adjustment: [debits("kind = 'adjustment'"), credits("adjustment")],
  recharge: [credits("recharge")],
  partial_refund: [credits("partial_refund")],
  refund: [credits("refund")],
};

/** The fields of a transfer that make a transaction. */
export const TRANSFER_FIELDS = [
  "seq",
  "debitAccount",
  "creditAccount",
  "amountMicros",
  "kind",
  "orderId",
  "keyId",
  "operator",
  "note",
  "createdAt",
  "balanceAfterMicros",
] as const;
const COLUMNS = {
  ...fields(transfers, ...TRANSFER_FIELDS),
  ...fields(transferDetails, "reference", "publicNote"),
};
const ROWS = `SELECT ${select(transfers, ...TRANSFER_FIELDS)}, ${select(transferDetails, "reference", "publicNote")}
  FROM transfers LEFT JOIN transfer_details ON transfer_details.seq = transfers.seq`;
type Found = Typed<typeof COLUMNS>;

const makePage = (kind: TransferKind | "all", byTime: boolean) =>
  query({
    parameters: { ...LIST_PARAMETERS, ...(byTime && WINDOW_PARAMETERS) } as Kinds,
    columns: COLUMNS,
    text: byDialect(
      (dialect) => `${ROWS}
        WHERE ${isOneOf("transfers.seq", newest(kind, byTime, dialect), dialect)}
        ${rowsInWindow(byTime, dialect)}
        ORDER BY transfers.seq DESC`,
    ),
  });

function newest(kind: TransferKind | "all", byTime: boolean, dialect: Dialect): string {
  const parts = ENTRIES[kind];
  return newestOf(
    { table: "transfers", number: "seq", parts, byTime, most: ROWS_LIMIT + 1 },
    dialect,
  );
}

/** The queries of a page by kind, with and without a time window. */
const PAGES = Object.fromEntries(
  (Object.keys(ENTRIES) as (keyof typeof ENTRIES)[]).map((kind) => [
    kind,
    { always: makePage(kind, false), inWindow: makePage(kind, true) },
  ]),
) as Record<keyof typeof ENTRIES, Record<"always" | "inWindow", ReturnType<typeof makePage>>>;

const OF_ORDER = query({
  parameters: { orderId: number },
  columns: COLUMNS,
  text: `${ROWS} WHERE transfers.order_id = :orderId ORDER BY transfers.seq DESC`,
});

const SIGNED = ["createdAt", "kind", "amountMicros", "keyId", "operator"] as const;
const OF_ORDER_SIGNED = query({
  parameters: { orderId: number },
  columns: fields(transfers, ...SIGNED),
  text: `SELECT ${select(transfers, ...SIGNED)} FROM transfers WHERE order_id = :orderId ORDER BY seq DESC`,
});

/** The transfers of an order with their actors, newest first. There are at most three. */
export function listTransfersOfOrder(
  reader: Reader,
  orderId: number,
): { createdAt: number; kind: TransferKind; amountMicros: number; actor: Actor }[] {
  return reader
    .all(OF_ORDER_SIGNED, { orderId })
    .map(({ keyId, operator, ...transfer }) => ({ ...transfer, actor: { keyId, operator } }));
}

const FIRST_CREDIT = query({
  parameters: { account: number },
  columns: fields(transfers, "seq"),
  text: `SELECT seq FROM transfers
    WHERE credit_account = :account AND credit_account > 2 AND kind = 'adjustment' LIMIT 1`,
});

/** Returns whether an account was ever credited by an adjustment. */
export function wasCredited(reader: Reader, account: number): boolean {
  return reader.one(FIRST_CREDIT, { account }) !== undefined;
}

/** Returns the newest transactions with numbers lower than `below`, at most `limit`. */
export function listTransactionsBelow(
  reader: Reader,
  filters: TransactionQuery,
  below: number,
  limit: number,
): Page<TransactionRow> {
  const { account, kind, orderId, window } = filters;
  if (orderId !== null)
    return pageOf(transactionsOfOrder(reader, filters, orderId, below), account, limit);
  const page = PAGES[kind ?? "all"][isTimed(window) ? "inWindow" : "always"];
  const rows: Found[] = [];
  for (const span of spansBelow(reader, "transfers", { account, window, below })) {
    const left = limit + 1 - rows.length;
    rows.push(...reader.all(page, { account, ...timesOf(window), ...span, limit: left }));
    if (rows.length > limit) break;
  }
  return pageOf(rows, account, limit);
}

/** Returns the account's transfers of an order. Filters them here, because there are at most three. */
function transactionsOfOrder(
  reader: Reader,
  { account, kind, window: { from, to } }: TransactionQuery,
  orderId: number,
  below: number,
): Found[] {
  return reader
    .all(OF_ORDER, { orderId })
    .filter((row) => row.debitAccount === account || row.creditAccount === account)
    .filter((row) => (kind === null || row.kind === kind) && row.seq < below)
    .filter((row) => row.createdAt >= (from ?? -Infinity) && row.createdAt <= (to ?? Infinity));
}

/** Makes a page. One row more than `limit` means that more rows follow. */
function pageOf(rows: readonly Found[], account: number, limit: number): Page<TransactionRow> {
  const shown = rows.slice(0, limit);
  return {
    rows: shown.map((row) => transactionOf(row, account)),
    next: rows.length > limit ? shown.at(-1)!.seq : null,
  };
}

/** Returns a transfer as the user of the account sees it. */
export function transactionOf(row: Found, account: number): TransactionRow {
  const { seq, kind, amountMicros, balanceAfterMicros, orderId, createdAt } = row;
  const { note, publicNote, reference, operator, keyId } = row;
  return {
    seq,
    kind,
    amountMicros: row.creditAccount === account ? amountMicros : -amountMicros,
    balanceAfterMicros,
    orderId,
    note,
    publicNote,
    reference,
    operator,
    keyId,
    createdAt,
  };
}

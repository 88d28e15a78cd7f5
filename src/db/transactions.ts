// A user's transactions: its side of the ledger, newest first, in pages that cost the same at any size.

import type { Actor, TransferKind } from "../domain/ledger.ts";
import {
  isTimed,
  LIST_PARAMETERS,
  type Page,
  ROWS_LIMIT,
  spansBelow,
  timesOf,
  WINDOW_PARAMETERS,
} from "./pages.ts";
import { type Entries, newestOf, rowsInWindow } from "./newest-entries.ts";
import type { Reader, TimeWindow } from "./port.ts";
import { byDialect, type Dialect, fields, isOneOf, query, select } from "./query.ts";
import { type Kinds, number, type Typed } from "./table-definition.ts";
import { transferDetails, transfers } from "./tables.ts";

export interface TransactionQuery {
  account: number;
  kind: TransferKind | null;
  /** The number of an order. */
  orderId: number | null;
  window: TimeWindow;
}

/** A transfer as the user on one side of it sees it. */
export interface TransactionRow {
  seq: number;
  kind: TransferKind;
  /** Positive for a credit, negative for a debit. */
  amountMicros: number;
  balanceAfterMicros: bigint;
  orderId: number | null;
  /** The operator's own note, or the service's: never shown to the user. */
  note: string | null;
  /** What the operator tells the user. */
  publicNote: string | null;
  /** The operator's own name for an adjustment. */
  reference: string | null;
  /** Who made the adjustment, for operators. */
  operator: string | null;
  createdAt: number;
}

// `> 2` holds for every user; it lets the partial indexes of users' transfers be used.
const debits = (...where: string[]): Entries => ({
  values: { debit_account: ":account" },
  where: ["debit_account > 2", ...where],
});
const credits = (kind: TransferKind): Entries => ({
  values: { credit_account: ":account", kind: `'${kind}'` },
  where: ["credit_account > 2"],
});

/** The entries of an index each, which together are the account's transfers of a kind. */
const ENTRIES: Record<TransferKind | "all", readonly Entries[]> = {
  all: [
    debits(),
    credits("recharge"),
    credits("partial_refund"),
    credits("refund"),
    credits("adjustment"),
  ],
  order: [debits("kind = 'order'")],
  adjustment: [debits("kind = 'adjustment'"), credits("adjustment")],
  recharge: [credits("recharge")],
  partial_refund: [credits("partial_refund")],
  refund: [credits("refund")],
};

const FIELDS = [
  "seq",
  "debitAccount",
  "creditAccount",
  "amountMicros",
  "kind",
  "orderId",
  "operator",
  "note",
  "createdAt",
  "balanceAfterMicros",
] as const;
const GIVES = {
  ...fields(transfers, ...FIELDS),
  ...fields(transferDetails, "reference", "publicNote"),
};
const ROWS = `SELECT ${select(transfers, ...FIELDS)}, ${select(transferDetails, "reference", "publicNote")}
  FROM transfers LEFT JOIN transfer_details ON transfer_details.seq = transfers.seq`;
type Found = Typed<typeof GIVES>;

const makePage = (kind: TransferKind | "all", byTime: boolean) =>
  query({
    takes: { ...LIST_PARAMETERS, ...(byTime && WINDOW_PARAMETERS) } as Kinds,
    gives: GIVES,
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

/** By kind, at any time and in a window. */
const PAGES = Object.fromEntries(
  (Object.keys(ENTRIES) as (keyof typeof ENTRIES)[]).map((kind) => [
    kind,
    { always: makePage(kind, false), inWindow: makePage(kind, true) },
  ]),
) as Record<keyof typeof ENTRIES, Record<"always" | "inWindow", ReturnType<typeof makePage>>>;

const OF_ORDER = query({
  takes: { orderId: number },
  gives: GIVES,
  text: `${ROWS} WHERE transfers.order_id = :orderId ORDER BY transfers.seq DESC`,
});

const SIGNED = ["createdAt", "kind", "amountMicros", "keyId", "operator"] as const;
const OF_ORDER_SIGNED = query({
  takes: { orderId: number },
  gives: fields(transfers, ...SIGNED),
  text: `SELECT ${select(transfers, ...SIGNED)} FROM transfers WHERE order_id = :orderId ORDER BY seq DESC`,
});

/** The transfers of an order with who caused each, newest first: three at most. */
export function listTransfersOfOrder(
  reader: Reader,
  orderId: number,
): { createdAt: number; kind: TransferKind; amountMicros: number; actor: Actor }[] {
  return reader
    .all(OF_ORDER_SIGNED, { orderId })
    .map(({ keyId, operator, ...transfer }) => ({ ...transfer, actor: { keyId, operator } }));
}

/** The newest transactions below number `below`, at most `limit`. */
export function listTransactionsBelow(
  reader: Reader,
  filters: TransactionQuery,
  below: number,
  limit: number,
): Page<TransactionRow> {
  const { account, kind, orderId, window } = filters;
  if (orderId !== null) return pageOf(ofOrder(reader, filters, orderId, below), account, limit);
  const page = PAGES[kind ?? "all"][isTimed(window) ? "inWindow" : "always"];
  const rows: Found[] = [];
  for (const span of spansBelow(reader, "transfers", { account, window, below })) {
    const left = limit + 1 - rows.length;
    rows.push(...reader.all(page, { account, ...timesOf(window), ...span, limit: left }));
    if (rows.length > limit) break;
  }
  return pageOf(rows, account, limit);
}

/** An order has at most three transfers: they are filtered here. */
function ofOrder(
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

/** `rows`: one more than the page takes means that more follow. */
function pageOf(rows: readonly Found[], account: number, limit: number): Page<TransactionRow> {
  const shown = rows.slice(0, limit);
  return {
    rows: shown.map((row) => transactionOf(row, account)),
    next: rows.length > limit ? shown.at(-1)!.seq : null,
  };
}

function transactionOf(row: Found, account: number): TransactionRow {
  const { seq, kind, amountMicros, balanceAfterMicros, orderId, createdAt } = row;
  const { note, publicNote, reference, operator } = row;
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
    createdAt,
  };
}

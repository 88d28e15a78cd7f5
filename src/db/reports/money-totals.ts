// What transfers moved: credits and debits by source, charges and refunds. Stored totals of days for the transfers up to
// a position (daily-totals.ts), and sums over ranges of the transfers after it. Test accounts are left out.

import type { MoneyFlow, TransferKind } from "../../domain/ledger/ledger.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import { LIVE_TRANSFER } from "../ledger/all-transactions.ts";
import type { Reader, Span, Tx } from "../port/port.ts";
import { query, statement } from "../port/query.ts";
import { number, text, textOf } from "../port/table-definition.ts";
import { moneyTotals } from "../tables/reports.ts";
import { halvesOf, microsOf, type Times } from "./reports.ts";
import { stepAbove } from "./row-ranges.ts";

/** What was moved by transfers of one kind and source. */
export interface MoneyPart {
  flow: MoneyFlow;
  kind: TransferKind;
  /** `key ID`, `operator NAME` or `method ID` for a credit or debit; else empty. */
  source: string;
  transfers: number;
  /** Above 0, whatever the flow. */
  micros: bigint;
}

/** SQL for the flow of a transfer: by the account beside the user's, which is 1 (cash) or 2 (sales). */
export const FLOW = `CASE WHEN debit_account = 1 THEN 'credit' WHEN credit_account = 1 THEN 'debit'
    WHEN credit_account = 2 THEN 'charge' ELSE 'refund' END`;
/** SQL for the source of a transfer. */
export const SOURCE = `CASE WHEN order_id IS NOT NULL THEN ''
    WHEN kind IN ('payment', 'payment_bonus', 'payment_reversal') THEN coalesce((
      SELECT 'method ' || method_id FROM payment_transfers
        JOIN payments ON payments.payment_id = payment_transfers.payment_id
      WHERE payment_transfers.seq = transfers.seq), '')
    WHEN key_id IS NOT NULL THEN 'key ' || key_id
    ELSE coalesce('operator ' || operator, '') END`;
const DAY = `created_at / ${DAY_MS}`;

const PART = {
  flow: textOf<MoneyFlow>(),
  kind: textOf<TransferKind>(),
  source: text,
  transfers: number,
  thousands: number,
  rest: number,
};

// Reads the position in the same statement, so that both are of the same moment. Its row has it in `transfers`.
const totals = (
  condition: string,
) => `SELECT 0 AS "isPosition", flow AS "flow", kind AS "kind", source AS "source",
      CAST(sum(transfers) AS BIGINT) AS "transfers", ${halvesOf("amount_micros")}
    FROM money_totals WHERE day BETWEEN :first AND :last${condition} GROUP BY flow, kind, source
    UNION ALL SELECT 1, '', '', '', transfers, 0, 0 FROM totals_position`;
const DAYS = {
  parameters: { first: number, last: number },
  columns: { isPosition: number, ...PART },
};
const TOTALS = query({ ...DAYS, text: totals("") });
/** What methods credited: few sources, however many keys recharge. */
const PAYMENT_TOTALS = query({
  ...DAYS,
  text: totals(" AND flow = 'credit' AND kind = 'payment'"),
});

const STEP = query({
  parameters: { after: number, upTo: number, from: number, to: number },
  columns: PART,
  text: `SELECT ${FLOW} AS "flow", kind AS "kind", ${SOURCE} AS "source", count(*) AS "transfers",
      ${halvesOf("amount_micros")}
    FROM transfers WHERE seq > :after AND seq <= :upTo AND ${LIVE_TRANSFER}
      AND coalesce(created_at BETWEEN :from AND :to, FALSE)
    GROUP BY 1, 2, 3`,
});

const ADD = statement({
  parameters: { after: number, upTo: number },
  writes: [moneyTotals],
  text: `INSERT INTO money_totals AS total (day, flow, kind, source, transfers, amount_micros)
    SELECT ${DAY}, ${FLOW}, kind, ${SOURCE}, count(*), CAST(sum(amount_micros) AS BIGINT)
    FROM transfers WHERE seq > :after AND seq <= :upTo AND ${LIVE_TRANSFER}
    GROUP BY 1, 2, 3, 4
    ON CONFLICT (day, flow, kind, source) DO UPDATE SET transfers = total.transfers + excluded.transfers,
      amount_micros = total.amount_micros + excluded.amount_micros`,
});

/**
 * Reads the totals of the days from `first` to `last`, and the last transfer that they count. `isPayments`: only what
 * payments credited.
 */
export function readMoneyTotals(
  reader: Reader,
  days: { first: number; last: number },
  isPayments = false,
): { counted: number; parts: MoneyPart[] } {
  const rows = reader.all(isPayments ? PAYMENT_TOTALS : TOTALS, days);
  const position = rows.find(({ isPosition }) => isPosition === 1)!;
  const parts = rows.filter((row) => row !== position).map(partOf);
  return { counted: position.transfers, parts };
}

/** Sums the first `rows` transfers of a span. `next`: the rest of the span, null at its end. */
export function sumMoneyStep(
  reader: Reader,
  { first, last }: Span,
  times: Times,
  rows: number,
): { parts: MoneyPart[]; next: Span | null } {
  const upTo = Math.min(stepAbove(reader, "transfers", first - 1, rows), last);
  const parts = reader.all(STEP, { after: first - 1, upTo, ...times }).map(partOf);
  return { parts, next: upTo < last ? { first: upTo + 1, last } : null };
}

/** Adds the transfers after one number, up to another, to the totals of their days. */
export function addMoney(tx: Tx, after: number, upTo: number): void {
  tx.run(ADD, { after, upTo });
}

function partOf(row: Omit<MoneyPart, "micros"> & { thousands: number; rest: number }): MoneyPart {
  const { flow, kind, source, transfers, thousands, rest } = row;
  return { flow, kind, source, transfers, micros: microsOf(thousands, rest) };
}

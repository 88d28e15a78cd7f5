// The money report as lines, for the command line and the panel. First come the lines that lead from the opening to the
// closing balances, each with its sign, then the figures that follow from them.

import { csvText } from "../domain/values/csv.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import type { MoneyFlow, TransferKind } from "../domain/ledger/ledger.ts";
import { type MoneyReport, signedMicros } from "./money.ts";

export interface ReportLine {
  line:
    "opening" | MoneyFlow | "closing" | "unknown" | "revenue" | "net" | "received" | "uncredited";
  kind: TransferKind | null;
  source: string | null;
  /** Number of transfers; on the line `unknown`, of orders; on `received` and `uncredited`, of payments. Null for a sum. */
  count: number | null;
  /** In US dollars; on the lines `received` and `uncredited`, in the currency that the source names. */
  micros: bigint;
}

export function moneyLines(report: MoneyReport): ReportLine[] {
  const { lines, unknown } = report;
  const sum = (line: ReportLine["line"], micros: bigint, count: number | null = null) => {
    return { line, kind: null, source: null, count, micros };
  };
  const ofMethods = (line: "received" | "uncredited") =>
    report[line].map(({ methodId, currency, count, micros }) => ({
      ...sum(line, BigInt(micros), count),
      source: `${methodId}, in ${currency}`,
    }));
  return [
    sum("opening", report.openingMicros),
    ...lines.map((each) => ({
      line: each.flow,
      kind: each.kind,
      source: each.source,
      count: each.transfers,
      micros: signedMicros(each),
    })),
    sum("closing", report.closingMicros),
    sum("unknown", unknown.micros, unknown.orders),
    sum("revenue", report.revenueMicros),
    sum("net", report.netMicros),
    ...ofMethods("received"),
    ...ofMethods("uncredited"),
  ];
}

/** The meaning of credits by kind, with what their source is. */
const CREDIT_WORDS: Record<string, string> = {
  adjustment: "credits by operator",
  payment: "payments by method",
  payment_bonus: "bonuses of payments by method",
};

/** Returns the meaning of a line for a person. */
export function lineText({ line, kind, source }: ReportLine): string {
  const words = {
    opening: "balances at the first moment",
    credit: CREDIT_WORDS[kind ?? ""] ?? "credits by key",
    charge: "charges",
    refund: kind === "partial_refund" ? "partial refunds" : "refunds",
    debit: kind === "payment_reversal" ? "reversed payments by method" : "debits by operator",
    closing: "balances at the last moment",
    unknown: "charges of unknown orders",
    revenue: "revenue: charges less unknown",
    net: "net: revenue less refunds",
    received: "received for payments by method",
    uncredited: "received, not credited by method",
  }[line];
  return source === null ? words : `${words.replace(/ by \w+$/, "")}: ${source}`;
}

export const MONEY_HEADER = "line,kind,source,count,amount";

export function moneyCells({ line, kind, source, count, micros }: ReportLine) {
  return [line, kind ?? "", csvText(source ?? ""), count ?? "", formatMicros(micros)];
}

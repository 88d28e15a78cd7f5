// `report --money`: what was owed to users at both ends of a period, and what moved it.

import type { Received } from "../../db/payments/payment-receipts.ts";
import type { Uncredited } from "../../db/payments/payment-surpluses.ts";
import type { TimeWindow } from "../../db/port/port.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { lineText, MONEY_HEADER, moneyCells, moneyLines } from "../../reports/money-lines.ts";
import { type MoneyReport, readMoney } from "../../reports/money.ts";
import { type CommonOptions, withDatabase } from "../kernel/command.ts";
import { dollars, isoTime, print } from "../output/output.ts";
import { table } from "../output/text-table.ts";

export async function printMoney(
  options: CommonOptions & { csv?: true },
  window: TimeWindow,
): Promise<void> {
  const report = await withDatabase(options, ({ store }) => readMoney(store, window));
  if (options.csv) print(undefined, report, csvOf);
  else print(options.json, moneyJson(report, window), () => moneyTable(report));
}

function moneyJson(report: MoneyReport, { from, to }: TimeWindow) {
  const { lines, sums, unknown, received, uncredited } = report;
  return {
    since: isoTime(from),
    until: isoTime(to),
    opening: jsonAmount(report.openingMicros),
    credits: jsonAmount(sums.credit),
    charges: jsonAmount(sums.charge),
    refunds: jsonAmount(sums.refund),
    debits: jsonAmount(sums.debit),
    closing: jsonAmount(report.closingMicros),
    unknownOrders: unknown.orders,
    unknown: jsonAmount(unknown.micros),
    revenue: jsonAmount(report.revenueMicros),
    net: jsonAmount(report.netMicros),
    received: received.map(ofMethod),
    uncredited: uncredited.map(ofMethod),
    lines: lines.map(({ micros, ...line }) => ({ ...line, amount: jsonAmount(micros) })),
  };
}

function ofMethod({ methodId: method, currency, count, micros }: Received | Uncredited) {
  return { method, currency, count, amount: jsonAmount(micros) };
}

/** Returns CSV without a line break at the end, because print adds one. */
function csvOf(report: MoneyReport): string {
  return [MONEY_HEADER, ...moneyLines(report).map((line) => moneyCells(line).join(","))].join("\n");
}

function moneyTable(report: MoneyReport): string {
  const rows = moneyLines(report).map((line) => ({
    line: lineText(line),
    count: line.count === null ? "" : String(line.count),
    "amount usd": dollars(line.micros),
  }));
  return table(rows, "");
}

// A report as CSV: the header and the cells of a row, for the command line and the panel.

import { csvText } from "../domain/values/csv.ts";
import { formatMicros } from "../domain/ledger/money.ts";
import type { ReportRow } from "./reports.ts";

export const REPORT_HEADER = "key,orders,revenue,refunds,net,cost,margin";

export function reportCells({ key, orders, ...row }: ReportRow): (string | number)[] {
  const { revenueMicros, refundsMicros, netMicros, costMicros, marginMicros } = row;
  const amounts = [revenueMicros, refundsMicros, netMicros, costMicros, marginMicros];
  return [csvText(key ?? ""), orders, ...amounts.map(formatMicros)];
}

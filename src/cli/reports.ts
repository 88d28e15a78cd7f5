// `report`: orders, revenue, refunds, net, cost and margin, by day, service, reseller or provider.

import { type Command, Option } from "commander";
import { REPORT_KEYS, type ReportKey } from "../db/reports.ts";
import { CUID } from "../db/orders.ts";
import { formatMicros, jsonAmount, roundToCents } from "../domain/money.ts";
import { counted } from "../domain/text.ts";
import { readReport, readUncounted, type ReportRow, totalOf } from "../monitoring/reports.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { addWindow, windowOf } from "./list-pages.ts";
import { dollars, print, printError } from "./output.ts";
import { table } from "./text-table.ts";
import { since } from "./values.ts";

interface ReportOptions extends CommonOptions {
  by: ReportKey;
  from?: number;
  to?: number;
  csv?: true;
}

export function declareReports(program: Command): void {
  const command = declare(
    program,
    "report",
    "orders, revenue, refunds, cost and margin of a time, by day or what they were for",
    "reseller report --by service --from 2026-11-01 --to 2026-11-30",
  ).addOption(
    new Option("--by <key>", "what each row is about").choices(REPORT_KEYS).default("day"),
  );
  addWindow(command)
    .addOption(new Option("--csv", "print the result as CSV").conflicts("json"))
    .action(async (options: ReportOptions) => {
      const { by } = options;
      const window = windowOf({ from: since("30d"), ...options });
      const { rows, uncounted } = await withDatabase(options, async ({ store }) => ({
        rows: await readReport(store, by, window),
        uncounted: await readUncounted(store),
      }));
      if (options.csv) print(undefined, rows, csvOf);
      else print(options.json, rows.map(rowJson), () => reportTable(rows, by));
      if (uncounted > 0) printError(uncountedNote(uncounted));
    });
}

/** On stderr: it is not among the rows. */
function uncountedNote(orders: number): string {
  return `note: of ${counted(orders, "order")} no cost is counted: it was charged in another currency than their provider's, see \`admin provider list\``;
}

function rowJson(row: ReportRow) {
  return {
    key: row.key,
    orders: row.orders,
    revenue: jsonAmount(row.revenueMicros),
    refunds: jsonAmount(row.refundsMicros),
    net: jsonAmount(row.netMicros),
    cost: jsonAmount(row.costMicros),
    margin: jsonAmount(row.marginMicros),
  };
}

/** Ends without a line break: print adds one. Keys hold no commas or quotes. */
function csvOf(rows: readonly ReportRow[]): string {
  const lines = rows.map(({ key, orders, ...row }) => {
    const { revenueMicros, refundsMicros, netMicros, costMicros, marginMicros } = row;
    const amounts = [revenueMicros, refundsMicros, netMicros, costMicros, marginMicros];
    return [key ?? "", orders, ...amounts.map(formatMicros)].join(",");
  });
  return ["key,orders,revenue,refunds,net,cost,margin", ...lines].join("\n");
}

/** For 80 columns: amounts in cents, net is left to --json and --csv; a long name wraps. */
function reportTable(rows: readonly ReportRow[], by: ReportKey): string {
  if (rows.length === 0) return "no orders, no refunds and no costs in this time";
  const cells = (row: Omit<ReportRow, "key" | "name">) => ({
    orders: row.orders,
    "revenue usd": cents(row.revenueMicros),
    "refunds usd": cents(row.refundsMicros),
    "cost usd": cents(row.costMicros),
    "margin usd": cents(row.marginMicros),
  });
  const lines = rows.map((row) => ({ [by]: keyText(row), ...cells(row) }));
  return table([...lines, { [by]: "total", ...cells(totalOf(rows)) }], "");
}

function cents(micros: bigint): string {
  return dollars(roundToCents(micros));
}

/** A service whose id says nothing goes by its name. */
function keyText({ key, name }: ReportRow): string {
  if (key === null) return "(by hand)";
  return name !== null && CUID.test(key) ? name : key;
}

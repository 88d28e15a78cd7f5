// `report`: orders, revenue, refunds and net, by day, service, reseller or provider.

import { type Command, Option } from "commander";
import { REPORT_KEYS, type ReportKey } from "../db/reports.ts";
import { formatMicros, jsonAmount } from "../domain/money.ts";
import { readReport, type ReportRow, totalOf } from "../monitoring/reports.ts";
import { type CommonOptions, declare, withDatabase } from "./command.ts";
import { addWindow, windowOf } from "./list-pages.ts";
import { dollars, print } from "./output.ts";
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
    "orders, revenue and refunds of a time, by day or what they were for",
    "reseller report --by service --from 2026-11-01 --to 2026-11-30",
  ).addOption(
    new Option("--by <key>", "what each row is about").choices(REPORT_KEYS).default("day"),
  );
  addWindow(command)
    .addOption(new Option("--csv", "print the result as CSV").conflicts("json"))
    .action(async (options: ReportOptions) => {
      const { by } = options;
      const window = windowOf({ from: since("30d"), ...options });
      const rows = await withDatabase(options, ({ store }) => readReport(store, by, window));
      if (options.csv) return print(undefined, rows, csvOf);
      print(options.json, rows.map(rowJson), () => reportTable(rows, by));
    });
}

function rowJson(row: ReportRow) {
  return {
    key: row.key,
    orders: row.orders,
    revenue: jsonAmount(row.revenueMicros),
    refunds: jsonAmount(row.refundsMicros),
    net: jsonAmount(row.netMicros),
  };
}

/** Ends without a line break: print adds one. Keys hold no commas or quotes. */
function csvOf(rows: readonly ReportRow[]): string {
  const lines = rows.map(({ key, orders, ...row }) => {
    const amounts = [row.revenueMicros, row.refundsMicros, row.netMicros].map(formatMicros);
    return [key ?? "", orders, ...amounts].join(",");
  });
  return ["key,orders,revenue,refunds,net", ...lines].join("\n");
}

function reportTable(rows: readonly ReportRow[], by: ReportKey): string {
  if (rows.length === 0) return "no orders and no refunds in this time";
  const cells = (row: Omit<ReportRow, "key" | "name">) => ({
    orders: row.orders,
    "revenue usd": dollars(row.revenueMicros),
    "refunds usd": dollars(row.refundsMicros),
    "net usd": dollars(row.netMicros),
  });
  const lines = rows.map(({ key, name, ...row }) => ({
    [by]: key ?? "(by hand)",
    ...(by === "service" ? { name } : {}),
    ...cells(row),
  }));
  const total = {
    [by]: "total",
    ...(by === "service" ? { name: null } : {}),
    ...cells(totalOf(rows)),
  };
  return table([...lines, total], "");
}

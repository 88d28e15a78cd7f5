// `report`: orders, revenue, refunds, net, cost and margin, by day, service, reseller or provider; or money (money.ts).

import { type Command, Option } from "commander";
import { REPORT_HEADER, reportCells } from "../../reports/report-csv.ts";
import { REPORT_KEYS, type ReportKey } from "../../db/reports/reports.ts";
import { isCuid } from "../../domain/values/text.ts";
import { formatMicros, jsonAmount, roundToCents } from "../../domain/ledger/money.ts";
import { counted } from "../../domain/values/text.ts";
import { DAY_MS } from "../../domain/values/spans.ts";
import {
  readReport,
  readUncounted,
  readUnknown,
  type ReportRow,
  totalOf,
} from "../../reports/reports.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { addWindow, type WindowOptions, windowOf } from "../output/list-pages.ts";
import { dollars, print, printError } from "../output/output.ts";
import { table } from "../output/text-table.ts";
import { printMoney } from "./money.ts";

/** How long before its end a period without a beginning begins. */
const DEFAULT_MS = 30 * DAY_MS;

interface ReportOptions extends CommonOptions, WindowOptions {
  by: ReportKey;
  money?: true;
  imported?: true;
  csv?: true;
}

export function declareReports(program: Command): void {
  const command = declare(
    program,
    "report",
    "orders, revenue, refunds, cost and margin of a period, by day, service, reseller or provider",
    "reseller report --by service --since 2026-11-01 --until 2026-11-30",
  )
    .addOption(new Option("--by <key>", "how to group rows").choices(REPORT_KEYS).default("day"))
    .addOption(
      new Option(
        "--money",
        "credits by source, charges, refunds, debits, and the sum of balances at both ends",
      ).conflicts("by"),
    );
  addWindow(command)
    .addOption(
      new Option("--imported", "include orders that were imported from another panel").conflicts(
        "money",
      ),
    )
    .addOption(new Option("--csv", "print the result as CSV").conflicts("json"))
    .action(async (options: ReportOptions) => {
      const { by, imported = false } = options;
      if (imported && by === "provider") {
        command.error(
          "error: providers of imported orders are not known: use --by day, service or reseller.",
        );
      }
      const { from, to } = windowOf(options);
      const window = { from: from ?? Math.max((to ?? Date.now()) - DEFAULT_MS, 0), to };
      if (options.money) return printMoney(options, window);
      const { rows, uncounted, unknown } = await withDatabase(options, async ({ store }) => ({
        rows: await readReport(store, by, window, imported),
        uncounted: await readUncounted(store),
        unknown: await readUnknown(store, window),
      }));
      if (options.csv) print(undefined, rows, csvOf);
      else print(options.json, rows.map(rowJson), () => reportTable(rows, by));
      if (uncounted > 0) printError(uncountedNote(uncounted));
      if (unknown.orders > 0) {
        printError(
          `note: the outcome of ${counted(unknown.orders, "order")} of this period (${formatMicros(unknown.micros)} USD) is unknown: no revenue is counted until it is settled; see \`admin order list --unknown\``,
        );
      }
    });
}

/** Returns a note for stderr about orders whose cost is not counted. */
function uncountedNote(orders: number): string {
  return `note: the cost of ${counted(orders, "order")} is not counted: it was charged in a currency other than the provider's; see \`admin provider list\``;
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

/** Returns CSV without a line break at the end, because print adds one. */
function csvOf(rows: readonly ReportRow[]): string {
  return [REPORT_HEADER, ...rows.map((row) => reportCells(row).join(","))].join("\n");
}

/** Returns a table for 80 columns: amounts in cents, without net, which is in --json and --csv. Long names wrap. */
function reportTable(rows: readonly ReportRow[], by: ReportKey): string {
  if (rows.length === 0) return "no orders, refunds or costs in this period";
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

/** Returns the key, or the service's name if its id is random. */
function keyText({ key, name }: ReportRow): string {
  if (key === null) return "(by hand)";
  return name !== null && isCuid(key) ? name : key;
}

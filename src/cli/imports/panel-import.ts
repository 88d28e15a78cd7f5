// `admin import panel`: moves the users, services, keys and orders of another panel in.
// docs/specification/imports.md#moving-in.

import { closeSync, openSync, readFileSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { counted, countedWrong } from "../../domain/values/text.ts";
import { FORMAT_NAMES, type FormatName, FORMATS } from "../../imports/panel/formats.ts";
import { halfTime } from "../../imports/panel/half-time.ts";
import {
  importPanel,
  type ImportReport,
  type PanelFiles,
  RefusedRows,
  type TableReport,
} from "../../imports/panel/importer.ts";
import {
  combineMaps,
  type GivenMap,
  PANEL_TABLES,
  type PanelTable,
  type PanelMap,
  readMap,
} from "../../imports/panel/map.ts";
import { isDump } from "../../imports/panel/table-file.ts";
import { FileError, type RowError } from "../../imports/records.ts";
import { createImportTarget } from "../../operations/imports/target.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { addMoneyConfirmation, confirmMoney, type ConfirmOptions } from "../kernel/confirm.ts";
import { print } from "../output/output.ts";
import { type Progress, startCounter } from "../output/progress.ts";
import { table } from "../output/text-table.ts";

interface PanelImportOptions extends CommonOptions, ConfirmOptions {
  users?: string;
  services?: string;
  orders?: string;
  keys?: string;
  dump?: string;
  map?: string;
  format: FormatName;
  dryRun?: true;
  skipRefused?: true;
}

type PanelPaths = Partial<Record<PanelTable, string>>;

export function declarePanelImport(group: Command): void {
  const command = declare(
    group,
    "panel",
    "import another panel's users, services, keys and orders; a repeated import adds only what is missing",
    "reseller admin import panel --format smartpanel --dump panel.sql --map map.toml --dry-run",
  );
  addMoneyConfirmation(command)
    .option("--users <file>", "users with their balances: FILE.csv, or a MySQL dump FILE.sql")
    .option("--services <file>", "services with their numbers")
    .option("--orders <file>", "past and open orders with their numbers")
    .option("--keys <file>", "API keys, which go on working; readable only by you")
    .option("--dump <file>", "one MySQL dump with all of these")
    .addOption(
      new Option("--format <name>", "whose tables these are").choices(FORMAT_NAMES).default("csv"),
    )
    .option("--map <file>", "FILE.toml that changes the format's mapping: docs/moving-in.md")
    .option("--dry-run", "only show what would be imported, and every refused row")
    .option("--skip-refused", "import the other rows if some are refused")
    .action(async (options: PanelImportOptions) => {
      const paths = pathsOf(options);
      const map = mapOf(options);
      const isDry = options.dryRun ?? false;
      const report = await withDatabase(
        options,
        (session) => run(session, paths, map, options),
        !isDry,
      );
      print(options.json, reportJson(report, isDry), () => reportText(report, isDry));
    });
}

function pathsOf(options: PanelImportOptions): PanelPaths {
  const files: PanelPaths = {};
  for (const name of PANEL_TABLES) {
    const file = options[name] ?? options.dump;
    if (file === undefined) continue;
    files[name] = resolve(file);
    requireFile(files[name]);
  }
  if (options.dump !== undefined && !isDump(options.dump)) {
    throw new CommandFailure(
      `${options.dump} must end in .sql: give CSV files with --users and so on`,
    );
  }
  if (Object.keys(files).length === 0) {
    throw new CommandFailure(
      "no file was given: name one with --users, --services, --orders, --keys or --dump",
    );
  }
  return files;
}

function requireFile(path: string): void {
  try {
    if (statSync(path).isFile()) return;
  } catch (error) {
    throw new CommandFailure(`cannot read ${path} (${errorCode(error)}): choose an existing file`);
  }
  throw new CommandFailure(`${path} is not a file: choose a CSV file or a dump`);
}

function mapOf({ map, format }: PanelImportOptions): PanelMap {
  const base: GivenMap = FORMATS[format];
  if (map === undefined) return combineMaps(base, {});
  requireFile(map);
  try {
    return combineMaps(base, readMap(map, readFileSync(map, "utf8")));
  } catch (error) {
    throw error instanceof FileError ? new CommandFailure(error.message) : error;
  }
}

async function run(
  session: Session,
  paths: PanelPaths,
  map: PanelMap,
  options: PanelImportOptions,
): Promise<ImportReport> {
  let line: Progress | null = null;
  let shown = "";
  const { store, execute } = session;
  const target = createImportTarget((body) => store.read(body), execute, session.isAlone);
  const { files, close } = open(paths);
  try {
    return await importPanel(target, {
      files,
      map,
      dryRun: options.dryRun ?? false,
      skipRefused: options.skipRefused ?? false,
      progress(name, rows) {
        if (name !== shown) {
          line?.end();
          line = startCounter(`${name}:`);
          shown = name;
        }
        line!.update(rows);
      },
      isShared: session.hasServer,
      rest: session.hasServer ? halfTime() : () => {},
      async confirm(plan) {
        (line as Progress | null)?.end();
        await confirmMoney(options, plan.balanceMicros + plan.openChargesMicros, creditOf(plan));
      },
    });
  } catch (error) {
    if (error instanceof FileError) throw new CommandFailure(error.message);
    if (!(error instanceof RefusedRows)) throw error;
    const { wrong, wrongCount } = error.report;
    throw new CommandFailure(
      `${countedWrong(wrongCount)}: nothing was imported; correct them, map them, or leave them out with --skip-refused`,
      "failed",
      options.json ? wrong.map(({ message }) => message) : groupWrong(wrong),
    );
  } finally {
    (line as Progress | null)?.end();
    close();
  }
}

function creditOf({ balanceMicros, openChargesMicros, users }: ImportReport): string {
  const balances = `balances of ${formatMicros(balanceMicros)} USD for ${counted(users.new, "user")}`;
  const charges = `${formatMicros(openChargesMicros)} USD that pay for open orders`;
  return `credit ${balances}, and ${charges}`;
}

/** Opens the files, which are closed again at the end. */
function open(paths: PanelPaths): { files: PanelFiles; close: () => void } {
  const byPath = new Map(
    [...new Set(Object.values(paths))].map((path) => [path, openSync(path, "r")]),
  );
  const files = Object.fromEntries(
    Object.entries(paths).map(([table, path]) => [
      table,
      { name: basename(path), descriptor: byPath.get(path)! },
    ]),
  );
  return { files, close: () => byPath.forEach((descriptor) => closeSync(descriptor)) };
}

function reportJson(report: ImportReport, dryRun: boolean) {
  const { users, services, keys, orders, notes, wrong, wrongCount } = report;
  const { pastOrders, openAtProviders, openByHand, withoutKey } = report;
  return {
    dryRun,
    users,
    services,
    keys,
    orders,
    openingBalances: jsonAmount(report.balanceMicros),
    pastOrders,
    openAtProviders,
    openByHand,
    openCharges: jsonAmount(report.openChargesMicros),
    withoutKey,
    notes,
    refused: wrongCount,
    rows: wrong.map(({ message }) => message),
  };
}

function reportText(report: ImportReport, dryRun: boolean): string {
  const { notes, wrong, wrongCount } = report;
  const row = (name: string, counts: TableReport) => ({
    table: name,
    rows: counts.read,
    [dryRun ? "would import" : "imported"]: counts.new,
    "here before": counts.same,
    refused: counts.refused,
  });
  const rows = PANEL_TABLES.map((name) => row(name, report[name])).filter((each) => each.rows > 0);
  return [
    dryRun ? "dry run, nothing was changed:" : "imported:",
    table(rows, "no rows"),
    ...sentences(report),
    ...notes.map((note) => `note: ${note}`),
    ...groupWrong(wrong),
    ...(wrongCount > wrong.length ? [`… and ${wrongCount - wrong.length} more refused rows`] : []),
  ].join("\n");
}

/** Places that are named for each problem. With --json all are. */
const PLACES_NAMED = 5;
/** Limit for named problems. */
const PROBLEMS_NAMED = 100;

/** Returns each problem with the first of its rows: tables have the same one a thousand times. */
function groupWrong(wrong: readonly RowError[]): string[] {
  const problems = [...Map.groupBy(wrong, ({ problem }) => problem)];
  const lines = problems.slice(0, PROBLEMS_NAMED).flatMap(([problem, rows]) => {
    const more = rows.length - PLACES_NAMED;
    const places = rows.slice(0, PLACES_NAMED).map(({ place }) => `  ${place}`);
    return [
      `refused, ${counted(rows.length, "row")}: ${problem}`,
      ...places,
      ...(more > 0 ? [`  … and ${more} more`] : []),
    ];
  });
  const left = problems.length - PROBLEMS_NAMED;
  return left > 0 ? [...lines, `… and ${counted(left, "problem")} more: --json lists them`] : lines;
}

function sentences(report: ImportReport): string[] {
  const { users, keys, pastOrders, openAtProviders, openByHand, withoutKey } = report;
  const lines: string[] = [];
  if (users.new > 0) lines.push(`Opening balances: ${formatMicros(report.balanceMicros)} USD.`);
  if (report.orders.new > 0) {
    const open = openAtProviders + openByHand;
    lines.push(
      `Orders: ${pastOrders} past ones without effect on money; ${open} open ones, charged ${formatMicros(report.openChargesMicros)} USD: ${openAtProviders} at providers, ${openByHand} to deliver by hand.`,
    );
  }
  if (keys.new > 0) {
    lines.push(
      `Keys: the other panel knows the ${keys.new} imported ones. Ask your customers to rotate them.`,
    );
  }
  if (withoutKey > 0) lines.push(`Users without a key: ${withoutKey}.`);
  return lines;
}

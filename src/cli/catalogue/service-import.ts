// `admin service import`: imports all of a CSV or JSON file or nothing.
// docs/specification/command-line.md#cli-import.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { listServicesAfter } from "../../db/catalogue/service-lists.ts";
import { errorCode, Refusal, sentenceOf } from "../../domain/values/error-table.ts";
import { counted, countedWrong } from "../../domain/values/text.ts";
import { type Catalogue, HEADER_FORM, readCatalogue } from "../../imports/catalogue.ts";
import { FileError, lineOf, RowError } from "../../imports/records.ts";
import {
  type Imported,
  type ImportPlan,
  planImport,
} from "../../operations/catalogue/service-import.ts";
import type { ServiceTerms } from "../../operations/catalogue/services.ts";
import { serviceChanges } from "../providers/catalogue-diff.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  type Session,
  withDatabase,
} from "../kernel/command.ts";
import { addConfirmation, confirm, CONFIRM_ROWS, type ConfirmOptions } from "../kernel/confirm.ts";
import { print, printError } from "../output/output.ts";
import { startProgress } from "../output/progress.ts";
import { readAll } from "../kernel/stdin.ts";

/** Rows between two updates of the progress line. */
const PROGRESS_ROWS = 5000;
/** Limit for wrong rows that are listed; further ones are only counted. */
const NAMED_LIMIT = 1000;
/** Above the size of any catalogue. */
const SERVICES_LIMIT = 10_000_000;
const STDIN = "-";

interface ImportOptions extends CommonOptions, ConfirmOptions {
  update?: true;
  dryRun?: true;
}

export function declareImport(group: Command): void {
  const command = declare(
    group,
    "import",
    "add or change services from a file; if any row is wrong, nothing is imported",
    "reseller admin service import catalogue.csv --update --dry-run",
  );
  addConfirmation(command)
    .argument("<file>", `FILE.csv or FILE.json with ${HEADER_FORM}, or - for stdin`, fileName)
    .option("--update", "update services by id; missing columns stay unchanged")
    .option("--dry-run", "only show what would change, and every wrong row")
    .action(async (file: string, options: ImportOptions) => {
      const isUpdate = options.update ?? false;
      const text = file === STDIN ? await readAll() : readText(file);
      const catalogue = catalogueIn(file === STDIN ? "stdin" : file, text, isUpdate);
      const imported = await withDatabase(options, (session) =>
        importInto(session, catalogue, options),
      );
      print<object>(options.json, resultOf(imported, isUpdate), () => textOf(imported, options));
      if (!options.dryRun && !options.json) await noteBelowCost(options);
    });
}

/**
 * Imports the catalogue. Plans it first only for an update, for a dry run or to report wrong rows, because planning
 * examines a large list a second time.
 */
async function importInto(
  { store, execute }: Session,
  catalogue: Catalogue,
  options: ImportOptions,
): Promise<Imported & { plan: ImportPlan | null }> {
  const { services } = catalogue;
  const { update: isUpdate = false, dryRun } = options;
  const planned = () => store.read((reader) => planImport(reader, services, isUpdate));
  if (isUpdate || dryRun || catalogue.wrong.length > 0) {
    const plan = await planned();
    refuseWrongRows(catalogue, plan);
    if (isUpdate) showUpdates(plan, options);
    if (dryRun) return { ...countsOf(plan), plan };
    await confirmUpdates(plan, options);
    return { ...(await execute("importServices", { services, update: isUpdate })), plan };
  }
  try {
    return { ...(await execute("importServices", { services })), plan: null };
  } catch (error) {
    if (error instanceof Refusal && error.code.startsWith("import_")) {
      refuseWrongRows(catalogue, await planned());
    }
    throw error;
  }
}

/** Asks for the same confirmations as `service reprice` and `service update --price 0`. */
async function confirmUpdates({ updated }: ImportPlan, options: ConfirmOptions): Promise<void> {
  const free = updated.filter(
    ({ before, after }) => before.priceMicros > 0 && after.priceMicros === 0,
  );
  if (free.length > 0) {
    const which = free.length === 1 ? free[0]!.after.id : `${free.length} services`;
    await confirm(options, `set the price of ${which} to 0`, "the service becomes free");
  }
  if (updated.length > CONFIRM_ROWS) {
    await confirm(
      options,
      `change ${counted(updated.length, "service")}`,
      `more than ${CONFIRM_ROWS}`,
    );
  }
}

/** Names prices below cost after an import. It never asks about them, so that scripts run on. */
async function noteBelowCost(options: ImportOptions): Promise<void> {
  const { rows } = await withDatabase(options, ({ store }) =>
    store.read((reader) => listServicesAfter(reader, { belowCost: true }, null, SERVICES_LIMIT)),
  );
  if (rows.length === 0) return;
  printError(
    `note: ${counted(rows.length, "service")} sold below cost: see \`service list --below-cost\``,
  );
}

/** Returns the result for --json. */
function resultOf(
  { plan, ...counts }: Imported & { plan: ImportPlan | null },
  isUpdate: boolean,
): object {
  if (!isUpdate) return { imported: counts.created };
  const { created, updated } = plan!;
  const added = created.map(({ id, name }) => ({ id, name }));
  const changed = updated.map(({ before, after }) => {
    return { id: after.id, name: after.name, changes: serviceChanges(before, after) };
  });
  return { ...counts, plan: { added, updated: changed } };
}

function countsOf({ created, updated, unchanged }: ImportPlan): Imported {
  return { created: created.length, updated: updated.length, unchanged };
}

function textOf({ created, updated, unchanged }: Imported, options: ImportOptions): string {
  const dry = options.dryRun ? "dry run, nothing was changed: " : "";
  if (!options.update) return `${dry}imported ${counted(created, "service")}`;
  return `${dry}${created} added, ${updated} changed, ${unchanged} unchanged`;
}

/** Prints the planned changes for a person. With --json the result contains them. */
function showUpdates({ created, updated }: ImportPlan, { json }: ImportOptions): void {
  if (json) return;
  const lines = [
    ...created.map(({ id, name }) => `+ ${name}${id === null ? "" : ` (${id})`}`),
    ...updated.map(
      ({ before, after }) => `~ ${after.name} (${after.id}): ${serviceChanges(before, after)}`,
    ),
  ];
  if (lines.length > 0) print(json, lines, () => lines.join("\n"));
}

/** Returns the services in a CSV text. Throws CommandFailure that names the first wrong row. */
export function parseCatalogue(text: string): ServiceTerms[] {
  const catalogue = catalogueIn("catalogue.csv", text, false);
  if (catalogue.wrong[0]) throw failureOf(catalogue.wrong);
  // A list that is not an update contains all terms of each service.
  return catalogue.services as ServiceTerms[];
}

function catalogueIn(file: string, text: string, isUpdate: boolean): Catalogue {
  const progress: ReturnType<typeof startProgress>[] = [];
  const onRow = (index: number, rows: number) => {
    if (index === 0) progress.push(startProgress("reading", rows));
    if (index % PROGRESS_ROWS === 0) progress[0]!.update(index);
  };
  try {
    return readCatalogue(file, text, { isUpdate, onRow });
  } catch (error) {
    if (error instanceof FileError) throw new CommandFailure(error.message);
    if (error instanceof RowError) throw failureOf([error]);
    throw error;
  } finally {
    progress[0]?.end();
  }
}

/** Throws one CommandFailure with all wrong rows: unreadable ones and those that the database refuses. */
function refuseWrongRows({ places, wrong }: Catalogue, { problems }: ImportPlan): void {
  const refused = problems.map(
    (problem) => new RowError(places[problem.details.index]!, sentenceOf(problem as Refusal)),
  );
  const all = [...wrong, ...refused];
  if (all.length > 0) throw failureOf(all);
}

function failureOf(wrong: readonly RowError[]): CommandFailure {
  if (wrong.length === 1) {
    return new CommandFailure(
      `${wrong[0]!.message}: nothing was imported, correct it and import again`,
    );
  }
  const inOrder = wrong.toSorted((a, b) => lineOf(a.place) - lineOf(b.place)).slice(0, NAMED_LIMIT);
  return new CommandFailure(
    `${countedWrong(wrong.length)}: nothing was imported, correct them and import again`,
    "failed",
    inOrder.map(({ message }) => message),
  );
}

function fileName(text: string): string {
  if (text !== STDIN && !/\.(csv|json)$/i.test(text)) {
    throw new InvalidArgumentError("must end in .csv or .json, or be - for stdin.");
  }
  return text;
}

function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = errorCode(error);
    const path = resolve(file);
    if (code === "ENOENT") throw new CommandFailure(`${path} not found: choose an existing file`);
    if (code.startsWith("ERR_")) {
      throw new CommandFailure(`${path} is not UTF-8 text: save it as UTF-8 and import again`);
    }
    throw new CommandFailure(`cannot read ${path} (${code}): choose a readable file`);
  }
}

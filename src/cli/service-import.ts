// `admin service import`: a catalogue from a CSV or JSON file, all of it or nothing. docs/specification.md#cli-import.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { errorCode, Refusal } from "../domain/refusals.ts";
import {
  type Catalogue,
  FileError,
  HEADER_FORM,
  readCatalogue,
  RowError,
} from "../imports/catalogue.ts";
import type { ServiceTerms } from "../operations/services.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { sentenceOf } from "./errors.ts";
import { print } from "./output.ts";
import { startProgress } from "./progress.ts";

/** Rows between two updates of the progress line. */
const PROGRESS_ROWS = 5000;

export function declareImport(group: Command): void {
  declare(
    group,
    "import",
    "add services from a file: all of them or, if one row is wrong, none",
    "reseller admin service import catalogue.csv",
  )
    .argument("<file>", `FILE.csv or FILE.json with ${HEADER_FORM}`, fileName)
    .action(async (file: string, options: CommonOptions) => {
      const { services, places } = catalogueIn(file, readText(file));
      const imported = await withDatabase(options, async ({ execute }) => {
        try {
          return await execute("importServices", { services });
        } catch (error) {
          if (!isRowRefusal(error)) throw error;
          throw failureOf(new RowError(places[error.details.index]!, sentenceOf(error)));
        }
      });
      print(options.json, { imported }, () => `imported ${imported} services`);
    });
}

/** The services in a CSV text. Throws CommandFailure, which names the invalid row. */
export function parseCatalogue(text: string): ServiceTerms[] {
  return catalogueIn("catalogue.csv", text).services;
}

function catalogueIn(file: string, text: string): Catalogue {
  const progress: ReturnType<typeof startProgress>[] = [];
  const onRow = (index: number, rows: number) => {
    if (index === 0) progress.push(startProgress("reading", rows));
    if (index % PROGRESS_ROWS === 0) progress[0]!.update(index);
  };
  try {
    const catalogue = readCatalogue(file, text, onRow);
    if (catalogue.wrong[0]) throw catalogue.wrong[0];
    return catalogue;
  } catch (error) {
    if (error instanceof FileError) throw new CommandFailure(error.message);
    if (error instanceof RowError) throw failureOf(error);
    throw error;
  } finally {
    progress[0]?.end();
  }
}

function failureOf({ message }: RowError): CommandFailure {
  return new CommandFailure(`${message}: nothing was imported, correct it and import again`);
}

function fileName(text: string): string {
  if (!/\.(csv|json)$/i.test(text)) {
    throw new InvalidArgumentError("must end in .csv or .json.");
  }
  return text;
}

function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const code = errorCode(error);
    const path = resolve(file);
    if (code === "ENOENT")
      throw new CommandFailure(`there is no file ${path}: name one that exists`);
    if (code.startsWith("ERR_")) {
      throw new CommandFailure(`${path} is not UTF-8 text: save it as UTF-8 and import again`);
    }
    throw new CommandFailure(`cannot read ${path} (${code}): name a file that can be read`);
  }
}

/** The refusals that concern one row: known only once it is compared with the database. */
function isRowRefusal(
  error: unknown,
): error is Refusal<"import_id_taken" | "import_provider_unknown"> {
  if (!(error instanceof Refusal)) return false;
  return error.code === "import_id_taken" || error.code === "import_provider_unknown";
}

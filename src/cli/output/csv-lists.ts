// Lists of numbered rows, newest first, which commands also write whole: as CSV, as JSON lines, or as one JSON document.

import { type Command, Option } from "commander";
import { showHidden } from "../../domain/values/text.ts";
import { type CommonOptions, type Session, withDatabase } from "../kernel/command.ts";
import { firstNumber } from "../kernel/values.ts";
import { addPaging, type PageOptions, printMore, readPages } from "./list-pages.ts";
import { print } from "./output.ts";
import { type PageReader, write, writeJsonPages, writePages } from "./streams.ts";

const LIST_DEFAULT = 50;
/** The cursor at which the newest row is the first. */
const NEWEST = Number.MAX_SAFE_INTEGER;

/** How the rows of a list are read and written as CSV. */
export interface CsvList<Row, Options> {
  /** Returns what reads the rows with numbers below one, newest first. */
  open: (session: Session, options: Options) => Promise<PageReader<Row, number>>;
  header: (options: Options) => string;
  /** Returns the cells of a row, as CSV has them. */
  cells: (row: Row, options: Options) => readonly (string | number)[];
}

/** How a list is printed without --csv. */
export interface ShownList<Row, Options> {
  json: (row: Row, options: Options) => unknown;
  table: (rows: readonly Row[], options: Options) => string;
  /** Returns the number of a row, which is the cursor of the rows after it. */
  numberOf: (row: Row) => number;
}

/** Makes the command list the rows: adds `--csv`, `--limit` and `--cursor`. `what`: such as `payments`. */
export function listWithCsv<Row, Options extends CommonOptions>(
  command: Command,
  what: string,
  list: CsvList<Row, Options> & ShownList<Row, Options>,
): void {
  command.addOption(
    new Option("--csv", `print CSV; all ${what} unless --limit is given`).conflicts("json"),
  );
  addPaging(command, { what: "seq", parse: firstNumber }, LIST_DEFAULT).action(
    async (options: Options & PageOptions & { csv?: true; cursor?: number }) => {
      const { cursor = NEWEST } = options;
      const isLimited = command.getOptionValueSource("limit") !== "default";
      if (options.csv) return writeCsv(list, options, cursor, isLimited ? options.limit : Infinity);
      const rows = await withDatabase(options, async (session) =>
        readPages(options, cursor, await list.open(session, options)),
      );
      const json = (row: Row) => list.json(row, options);
      print(options.json, rows.map(json), () => list.table(rows, options));
      printMore(options, rows, () => list.numberOf(rows.at(-1)!));
    },
  );
}

/** Makes the command write all rows: adds `--json-lines`, described by `about`. `json`: a row as JSON has it. */
export function exportAll<Row, Options extends CommonOptions>(
  command: Command,
  about: string,
  list: CsvList<Row, Options>,
  json: (row: Row, options: Options) => unknown,
): void {
  command
    .addOption(new Option("--json-lines", about).conflicts("json"))
    .action(async (options: Options & { jsonLines?: true }) => {
      if (!options.json && !options.jsonLines) return writeCsv(list, options, NEWEST);
      const text = (row: Row) => JSON.stringify(json(row, options));
      await withDatabase(options, async (session) => {
        const read = await list.open(session, options);
        if (options.json) await writeJsonPages(NEWEST, read, text);
        else await writePages(NEWEST, Infinity, read, text);
      });
    });
}

async function writeCsv<Row, Options extends CommonOptions>(
  { open, header, cells }: CsvList<Row, Options>,
  options: Options,
  begin: number,
  most = Infinity,
): Promise<void> {
  const line = (row: Row) => showHidden(cells(row, options).join(","));
  await withDatabase(options, async (session) => {
    const read = await open(session, options);
    await write(`${header(options)}\n`);
    await writePages(begin, most, read, line);
  });
}

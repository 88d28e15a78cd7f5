// Reads the files of imports, and names every wrong row.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { errorCode, refusal, sentenceOf } from "../../domain/values/error-table.ts";
import type { ImportProblem } from "../../domain/users/refusals.ts";
import { countedWrong } from "../../domain/values/text.ts";
import { FileError, RowError, wrongRows } from "../../imports/records.ts";
import type { RowList } from "../../imports/rows.ts";
import { CommandFailure } from "../kernel/command.ts";
import { readAll } from "../kernel/stdin.ts";

const STDIN = "-";

/** Reads a list with `read`, which gets the name for messages and the text. Throws CommandFailure. */
export async function listIn<Row>(
  file: string,
  read: (name: string, text: string) => RowList<Row>,
): Promise<RowList<Row>> {
  const text = file === STDIN ? await readAll() : readText(file);
  try {
    return read(file === STDIN ? "stdin" : file, text);
  } catch (error) {
    const isWrong = error instanceof FileError || error instanceof RowError;
    throw isWrong ? new CommandFailure(error.message) : error;
  }
}

function readText(file: string): string {
  const path = resolve(file);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const code = errorCode(error);
    throw new CommandFailure(`cannot read ${path} (${code}): choose a UTF-8 text file`);
  }
}

/** Throws a CommandFailure that names the rows which could not be read, and those that were refused. */
export function refuseWrongRows(
  list: Pick<RowList<unknown>, "places" | "wrong">,
  refused: readonly ImportProblem[],
): void {
  const all = wrongRows(list, refused, (code) => sentenceOf(refusal(code)));
  if (all.length === 0) return;
  throw new CommandFailure(
    `${countedWrong(all.length)}: nothing was imported, correct them and import again`,
    "failed",
    all.map(({ message }) => message),
  );
}

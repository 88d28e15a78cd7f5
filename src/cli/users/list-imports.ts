// What `admin user import` and `admin key import` do with a CSV file: all of it or nothing. Loaded only by these commands,
// because reading lists takes more modules than listing users.

import { randomBytes } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { KEY_NETWORKS } from "../../config/networks.ts";
import { csvText } from "../../domain/values/csv.ts";
import { formatMicros, jsonAmount } from "../../domain/ledger/money.ts";
import { formatKey, hashKey, KEY_RANDOM_BYTES, startOfKey } from "../../domain/users/keys.ts";
import { errorCode } from "../../domain/values/error-table.ts";
import { counted } from "../../domain/values/text.ts";
import { type NewKeyRow, readKeys, readUsers } from "../../imports/users.ts";
import { planUsers, refusedKeys, type UsersImported } from "../../operations/users/user-import.ts";
import { CommandFailure, type CommonOptions, withDatabase } from "../kernel/command.ts";
import { confirm, confirmMoney, CONFIRM_ROWS, type ConfirmOptions } from "../kernel/confirm.ts";
import { print } from "../output/output.ts";
import { write } from "../output/streams.ts";
import { listIn, refuseWrongRows } from "./list-files.ts";

export interface ImportOptions extends CommonOptions, ConfirmOptions {
  dryRun?: true;
}

export async function importUsers(file: string, options: ImportOptions): Promise<void> {
  const list = await listIn(file, readUsers);
  const users = list.rows;
  const plan = await withDatabase(options, ({ store }) =>
    store.read((reader) => planUsers(reader, users)),
  );
  refuseWrongRows(list, plan.problems);
  const due = users.filter((_, index) => plan.isCredited[index]);
  const creditedMicros = due.reduce((sum, { credit }) => sum + credit!.amountMicros, 0);
  const created = plan.isNew.filter((isNew) => isNew).length;
  const existing = users.length - created;
  if (options.dryRun) {
    return show(options, { created, existing, credited: due.length, creditedMicros });
  }
  const what = `credit ${counted(due.length, "user")} with ${formatMicros(creditedMicros)} USD`;
  await confirmMoney(options, creditedMicros, what);
  const imported = await withDatabase(options, ({ execute }) => execute("createUsers", { users }));
  show(options, imported);
}

function show({ json, dryRun }: ImportOptions, imported: UsersImported): void {
  const { created, existing, credited, creditedMicros } = imported;
  const result = { created, existing, credited, amount: jsonAmount(creditedMicros) };
  print(json, result, () => {
    const dry = dryRun ? "dry run, nothing was changed: " : "";
    return `${dry}${created} created, ${existing} existed, ${credited} credited with ${formatMicros(creditedMicros)} USD`;
  });
}

export interface KeyImportOptions extends ImportOptions {
  output?: string;
}

const OUTPUT_HEADER = "username,id,type,reach,label,key";

export async function importKeys(file: string, options: KeyImportOptions): Promise<void> {
  const list = await listIn(file, (name, text) => readKeys(name, text, KEY_NETWORKS));
  const refused = await withDatabase(options, ({ store }) =>
    store.read((reader) => refusedKeys(reader, list.rows)),
  );
  refuseWrongRows(list, refused);
  if (options.dryRun) {
    const { length } = list.rows;
    return print(options.json, { created: length }, () => {
      return `dry run, nothing was changed: ${counted(length, "key")}`;
    });
  }
  const crediting = list.rows.filter(({ type }) => type !== "order").length;
  if (crediting > 0) {
    const what = `create ${counted(crediting, "key")} that can add credit`;
    await confirm(options, what, "they recharge balances");
  } else if (list.rows.length > CONFIRM_ROWS) {
    await confirm(options, `create ${list.rows.length} keys`, `more than ${CONFIRM_ROWS}`);
  }
  // Opened before the keys are made: what could not be written would be lost.
  const output = options.output === undefined ? null : openNew(options.output);
  const texts = list.rows.map(() => formatKey(randomBytes(KEY_RANDOM_BYTES), false));
  const keys = list.rows.map((key, index) => {
    const text = texts[index]!;
    return { ...key, hash: hashKey(text), start: startOfKey(text) };
  });
  const ids = await withDatabase(options, ({ execute }) => execute("createKeys", { keys }));
  await report(options, output, list.rows, ids, texts);
}

/** Returns a descriptor of a new file that only its owner can read. Throws CommandFailure. */
function openNew(file: string): number {
  try {
    return openSync(file, "wx", 0o600);
  } catch (error) {
    const reason = errorCode(error) === "EEXIST" ? "exists already" : `(${errorCode(error)})`;
    throw new CommandFailure(`cannot create ${resolve(file)}: ${reason}; nothing was changed`);
  }
}

async function report(
  { json, output: file }: KeyImportOptions,
  output: number | null,
  rows: readonly NewKeyRow[],
  ids: readonly string[],
  texts: readonly string[],
): Promise<void> {
  const lines = rows.map(({ username, type, reach, label }, index) =>
    [csvText(username), ids[index]!, type, reach, csvText(label), texts[index]!].join(","),
  );
  const csv = [OUTPUT_HEADER, ...lines].map((line) => `${line}\n`).join("");
  if (output !== null) {
    writeSync(output, csv);
    closeSync(output);
    return print(
      json,
      { created: ids.length },
      () => `created ${counted(ids.length, "key")}, written to ${file}`,
    );
  }
  if (!json) return write(csv);
  const made = rows.map(({ username, type, reach, label }, index) => {
    return { username, id: ids[index], type, reach, label, key: texts[index] };
  });
  print(json, made, () => "");
}

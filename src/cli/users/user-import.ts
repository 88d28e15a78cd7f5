// Declares `admin user import` and `admin key import`.

import { type Command, Option } from "commander";
import { headerOf, KEY_COLUMNS, USER_COLUMNS } from "../../domain/users/list-columns.ts";
import { declare } from "../kernel/command.ts";
import { addConfirmation, addMoneyConfirmation } from "../kernel/confirm.ts";
import type { ImportOptions, KeyImportOptions } from "./list-imports.ts";

export function declareUserImport(group: Command): void {
  const command = declare(
    group,
    "import",
    "create users from a CSV file, with starting credits; if any row is wrong, nothing is done",
    "reseller admin user import users.csv --dry-run",
  )
    .argument("<file>", `with the header ${headerOf(USER_COLUMNS)}; - reads stdin`)
    .option("--dry-run", "only show what would be done, and every wrong row");
  addMoneyConfirmation(command).action(async (file: string, options: ImportOptions) => {
    const { importUsers } = await import("./list-imports.ts");
    return importUsers(file, options);
  });
}

export function declareKeyImport(group: Command): void {
  const command = declare(
    group,
    "import",
    "create keys from a CSV file and print them once, as CSV; if any row is wrong, none is created",
    "reseller admin key import keys.csv --output new-keys.csv",
  )
    .argument("<file>", `with the header ${headerOf(KEY_COLUMNS)}; - reads stdin`)
    .option("--dry-run", "only show how many would be created, and every wrong row")
    .addOption(
      new Option("--output <file>", "write the keys to a new file that only you can read"),
    );
  addConfirmation(command).action(async (file: string, options: KeyImportOptions) => {
    const { importKeys } = await import("./list-imports.ts");
    return importKeys(file, options);
  });
}

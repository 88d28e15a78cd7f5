// `verify`: the whole database, recomputed. Exit 1 names what is off.

import type { Command } from "commander";
import { type Verification, verify } from "../db/verify.ts";
import { databasePath } from "../db/open.ts";
import { CommandFailure, type CommonOptions, declare, withDatabase } from "./command.ts";
import { print, table } from "./output.ts";

export function declareVerify(program: Command): void {
  declare(
    program,
    "verify",
    "recompute every balance, charge and refund from the ledger",
    "reseller verify --data /var/lib/reseller",
  ).action((options: CommonOptions) => {
    const path = databasePath(options.data);
    const found = withDatabase(options, ({ connection }) => verify(connection));
    const ok = found.problems.length === 0;
    print(options.json, { ok, database: path, ...found }, () => report(path, found));
    if (!ok)
      throw new CommandFailure(
        `${found.problems.length === 1 ? "1 problem" : `${found.problems.length} problems`} in ${path}: restore a backup or ask for help before taking orders`,
      );
  });
}

function report(path: string, { users, orders, transfers, problems }: Verification): string {
  const counts = `${users} users, ${orders} orders, ${transfers} transfers in ${path}`;
  if (problems.length === 0) return `ok: ${counts}: every balance, charge and refund adds up`;
  return `${counts}\n\n${table(
    problems.map((problem) => ({ ...problem })),
    "",
  )}`;
}

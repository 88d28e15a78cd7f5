// `move`: copies a whole database from a data directory to PostgreSQL, or back.

import { resolve } from "node:path";
import type { Command } from "commander";
import { ConfigError, settingOption } from "../../config/flags.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { counted } from "../../domain/values/text.ts";
import {
  move,
  type Moved,
  MoveError,
  type MoveProgress,
  type MoveSide,
  type MoveTarget,
} from "../../storage/move/move.ts";
import * as postgres from "../../storage/move/move-postgres.ts";
import * as sqlite from "../../storage/move/move-sqlite.ts";
import { asFailure, CommandFailure } from "../kernel/command.ts";
import { requireAddress, type DatabaseName, databaseOf } from "../kernel/database-name.ts";
import { print } from "../output/output.ts";
import { type Progress, startProgress } from "../output/progress.ts";

const ADDRESS = /^postgres(ql)?:\/\//;

interface MoveOptions {
  from?: string;
  to?: string;
  /** Used for --from or --to, whichever is not given. A variable or a file keeps its password off the command line. */
  database: string | null;
  json?: true;
  unverified?: true;
}

export function declareMove(program: Command): void {
  program
    .command("move")
    .description("copy a whole database from a data directory to PostgreSQL, or back; verified")
    .option("--from <place>", "a data directory or postgres://… that no server uses")
    .option("--to <place>", "an empty database of the other kind")
    .addOption(settingOption("database"))
    .addOption(settingOption("env-file"))
    .option("--unverified", "move the database even if `verify` finds problems")
    .option("--json", "print the result as one JSON document")
    .addHelpText(
      "after",
      "\n--database is used for --from or --to, whichever is not given.\n\nExample:\n  reseller move --from /var/lib/reseller --to postgres://reseller@db.example/reseller",
    )
    .action(async ({ from, to, database, json, unverified }: MoveOptions) => {
      if (from === undefined && to === undefined) {
        throw new ConfigError("give --from, --to or both");
      }
      const source = requireDatabaseName(from ?? database, "--from");
      const target = requireDatabaseName(to ?? database, "--to");
      if ((source.address === null) === (target.address === null)) {
        throw new ConfigError(
          "move works between a data directory and PostgreSQL: to copy between two of the same kind, use backup and restore or PostgreSQL's own tools",
        );
      }
      const moved = await moveWithProgress(source, target, unverified ?? false);
      print(json, result(source, target, moved), () => report(source, target, moved));
    });
}

function requireDatabaseName(text: string | null, flag: string): DatabaseName {
  if (text === null) throw new ConfigError(`${flag} is missing, and there is no --database`);
  if (!ADDRESS.test(text)) return databaseOf({ data: text, database: null });
  const address = requireAddress(text, flag);
  return { ...databaseOf({ data: "", database: text }), address };
}

async function moveWithProgress(
  from: DatabaseName,
  to: DatabaseName,
  acceptsUnverified: boolean,
): Promise<Moved> {
  const shown = showProgress();
  try {
    const source = await withDatabase(from, () => openSource(from));
    try {
      const target = await withDatabase(to, () => openTarget(to));
      try {
        return await withDatabase(to, () =>
          withDatabase(from, () => move(source, target, shown.update, acceptsUnverified)),
        );
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  } finally {
    shown.end();
  }
}

function openSource({ address, data }: DatabaseName): MoveSide | Promise<MoveSide> {
  return address === null ? sqlite.openSource(data) : postgres.openSource(address);
}

function openTarget({ address, data }: DatabaseName): MoveTarget | Promise<MoveTarget> {
  return address === null
    ? sqlite.openTarget(data, Date.now())
    : postgres.openTarget(address, Date.now());
}

/** Runs `body`. Throws its errors as CommandFailure with a sentence about the database. */
async function withDatabase<T>(database: DatabaseName, body: () => T | Promise<T>): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    if (error instanceof MoveError) throw new CommandFailure(error.message);
    throw asFailure(error, database);
  }
}

/** Shows a progress line for the current step. */
function showProgress(): { update: MoveProgress; end: () => void } {
  let step = "";
  let line: Progress | null = null;
  return {
    update(what, done, total) {
      if (what !== step) {
        line?.end();
        line = startProgress(what, total);
        step = what;
      }
      line!.update(done);
    },
    end: () => line?.end(),
  };
}

function result(from: DatabaseName, to: DatabaseName, moved: Moved) {
  const { users, orders, transfers, rows, balanceMicros } = moved;
  const next = nextNumbers(moved);
  const balance = jsonAmount(balanceMicros);
  return {
    ok: moved.problems.length === 0,
    from: from.shown,
    to: to.shown,
    users,
    orders,
    transfers,
    rows,
    balance,
    next,
  };
}

function nextNumbers({ numbers }: Moved) {
  const next = (name: string) => {
    for (const [table, given] of numbers) if (table.name === name) return given + 1;
    return 1;
  };
  return {
    orderId: next("orders"),
    transaction: next("transfers"),
    audit: next("audit"),
    service: next("services"),
  };
}

function report(from: DatabaseName, to: DatabaseName, moved: Moved): string {
  const { users, orders, transfers } = moved;
  const isVerified = moved.problems.length === 0;
  const option = to.address === null ? `--data ${resolve(to.data)}` : "--database";
  return [
    `${isVerified ? "ok: " : ""}${from.shown} is in ${to.shown} too, compared and ${isVerified ? "verified" : "NOT VERIFIED"}: ${counted(users, "user")}, ${counted(orders, "order")}, ${counted(transfers, "transfer")}; the next order is number ${nextNumbers(moved).orderId}`,
    `Serve it with ${option} from now on, and never serve both: ${from.shown} is unchanged.`,
  ].join("\n");
}

// `restored`: run after PostgreSQL's own tools put a database back to an earlier moment. It does what `restore` does
// for a SQLite backup.

import { type Command, Option } from "commander";
import { ConfigError } from "../../config/flags.ts";
import { countUnplaced } from "../../db/delivery/deliveries.ts";
import { countUsableKeys } from "../../db/users/keys.ts";
import type { Numbers } from "../../db/ledger/number-floors.ts";
import { numbersAfterRestore } from "../../db/postgres/schema/row-numbers.ts";
import { LEASE_MS } from "../../db/delivery/server-leases.ts";
import { listRunningServers } from "../../db/postgres/connection/sessions.ts";
import { counted } from "../../domain/values/text.ts";
import type { CarriedOver } from "../../operations/batch/restore.ts";
import { invoicesText, mailsText } from "./restore-report.ts";
import { execute } from "../../operations/batch/execute.ts";
import {
  CommandFailure,
  type CommonOptions,
  declare,
  signed,
  withDatabase,
} from "../kernel/command.ts";
import { addConfirmation, confirm, type ConfirmOptions } from "../kernel/confirm.ts";
import { databaseOf } from "../kernel/database-name.ts";
import { print } from "../output/output.ts";
import { firstNumber } from "../kernel/values.ts";
import { verifyWithProgress } from "./verify.ts";

interface RestoredOptions extends CommonOptions, ConfirmOptions {
  orderNumbersFrom?: number;
}

interface Carried extends CarriedOver {
  floors: Numbers;
  usableKeys: number;
}

export function declareRestored(program: Command): void {
  const command = declare(
    program,
    "restored",
    "run once after a PostgreSQL point-in-time restore, with all servers stopped, so that nothing is done twice",
    "reseller restored --database postgres://reseller_owner@db.example/reseller",
  );
  addConfirmation(command)
    .addOption(
      new Option(
        "--order-numbers-from <number>",
        "number of the next order (default: at least a million above the database's highest)",
      ).argParser(firstNumber),
    )
    .action(async (options: RestoredOptions) => {
      const database = databaseOf(options);
      if (database.address === null) {
        throw new ConfigError(
          "restored works only for PostgreSQL: for a SQLite backup, use `restore`",
        );
      }
      const carried = await carryOver(options, database.shown);
      const { problemCount } = await verifyWithProgress(database);
      const ok = problemCount === 0;
      print(options.json, result(database.shown, ok, carried), () =>
        report(database.shown, carried),
      );
      if (!ok) {
        throw new CommandFailure(
          `${counted(problemCount, "problem")} in ${database.shown}: run \`reseller verify\``,
        );
      }
    });
}

function carryOver(options: RestoredOptions, shown: string): Promise<Carried> {
  return withDatabase(options, async ({ store, now: clock }) => {
    const now = clock();
    const found = await store.read((reader) => ({
      servers: listRunningServers(reader),
      numbers: numbersAfterRestore(reader),
      unplaced: countUnplaced(reader),
      usableKeys: countUsableKeys(reader, now),
    }));
    const [server] = found.servers;
    if (server) {
      throw new CommandFailure(
        `${shown} is in use by the server ${server.name}: stop it first; a server that ran at the restored moment counts as running for ${LEASE_MS / 1000} s after that moment`,
      );
    }
    const floors = floorsOf(found.numbers, options.orderNumbersFrom);
    const orders = `${counted(found.unplaced, "order")} queued or being sent will be unknown`;
    await confirm(options, `treat ${shown} as restored`, `this cannot be undone: ${orders}`);
    await execute(store, "skipSequences", null, now);
    const carried = signed<"carryOver">({ floors, endedKeys: [], invoices: null });
    const done = await execute(store, "carryOver", carried, now);
    return { ...done, floors, usableKeys: found.usableKeys };
  });
}

function floorsOf(
  { issued: given, floors }: ReturnType<typeof numbersAfterRestore>,
  from?: number,
): Numbers {
  if (from === undefined) return floors;
  if (from <= given.orders) {
    throw new CommandFailure(
      `order numbers up to ${given.orders} were issued: choose a higher one with --order-numbers-from`,
    );
  }
  return { ...floors, orders: from - 1 };
}

function result(database: string, ok: boolean, carried: Carried) {
  const { floors, unknownOrders, webhooksWaiting, mailsDropped, usableKeys } = carried;
  const next = {
    orderId: floors.orders + 1,
    transaction: floors.transfers + 1,
    audit: floors.audit + 1,
    service: floors.services + 1,
  };
  return {
    ok,
    database,
    next,
    unknownOrders,
    webhooksWaiting,
    mailsDropped,
    usableKeys,
    invoiceSeries: carried.invoices.series,
  };
}

function report(database: string, carried: Carried): string {
  const { floors, unknownOrders, webhooksWaiting, usableKeys, invoices } = carried;
  return [
    ...invoicesText(invoices),
    `the next order is number ${floors.orders + 1}, the next transaction ${floors.transfers + 1}: above any number that may have been issued; --order-numbers-from sets the next order's number`,
    `orders that may have been sent since the restored moment and are now unknown: ${unknownOrders}: settle them (\`reseller admin order list --unknown\`)`,
    `webhook events waiting: ${webhooksWaiting}: all are sent, some for the second time, with their original ids`,
    ...[mailsText(carried)].filter((text) => text !== ""),
    `usable keys: ${usableKeys}: deactivate those that had been deactivated since the restored moment`,
    `ok: ${database}, verified`,
  ].join("\n");
}

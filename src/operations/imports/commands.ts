// Commands of this folder, by name.

import { command } from "../batch/command.ts";
import { importOrders } from "./orders.ts";
import { beginImport, finishImport, renewImport, stopImport } from "./runs.ts";
import { importPanelServices } from "./services.ts";
import { importKeys, importUsers } from "./users.ts";
import { isPastStatus } from "../../domain/orders/past-orders.ts";

export const commands = {
  beginImport: command(beginImport),
  importUsers: command(importUsers, { ids: ({ users }) => users.length }),
  importPanelServices: command(importPanelServices),
  importKeys: command(importKeys, { ids: ({ keys }) => keys.length }),
  importOrders: command(importOrders, {
    ids: ({ orders }) => orders.filter(({ status }) => !isPastStatus(status)).length,
  }),
  renewImport: command(renewImport),
  stopImport: command(stopImport),
  finishImport: command(finishImport),
};

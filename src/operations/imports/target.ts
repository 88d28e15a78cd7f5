// What an import from another panel reads of the database and writes to it, by operations: in a server through its
// writer, in a command on its own connection. docs/specification/imports.md#moving-in.

import { listImportedUsernames } from "../../db/imports/imports.ts";
import type { Awaitable, Reader, Synchronous } from "../../db/port/port.ts";
import type { CommandOutput, SubmittableName, UnsignedInput } from "../batch/commands.ts";
import { type ImportedOrder, planOrders } from "./orders.ts";
import { type ImportedService, planServices } from "./services.ts";
import { type ImportedKey, type ImportedUser, planKeys, planUsers } from "./users.ts";

type Read = <T>(body: (reader: Reader) => Synchronous<T>) => Awaitable<T>;
type Execute = <Name extends SubmittableName>(
  name: Name,
  input: UnsignedInput<Name>,
) => Awaitable<CommandOutput<Name>>;

interface Imported {
  users: { new: number };
  services: { new: number };
  keys: { new: number };
  pastOrders: number;
  openAtProviders: number;
  openByHand: number;
}

/** `isAlone`: no other process uses the database. */
export function createImportTarget(read: Read, execute: Execute, isAlone = false) {
  return {
    imported: () => read(listImportedUsernames),
    plan: {
      users: (rows: readonly ImportedUser[]) => read((reader) => planUsers(reader, rows)),
      services: (rows: readonly ImportedService[]) => read((reader) => planServices(reader, rows)),
      keys: (rows: readonly ImportedKey[]) => read((reader) => planKeys(reader, rows)),
      orders: (rows: readonly ImportedOrder[]) => read((reader) => planOrders(reader, rows)),
    },
    write: {
      users: (users: readonly ImportedUser[]) => execute("importUsers", { users }),
      services: (services: readonly ImportedService[]) =>
        execute("importPanelServices", { services }),
      keys: (keys: readonly ImportedKey[]) => execute("importKeys", { keys }),
      orders: (orders: readonly ImportedOrder[]) => execute("importOrders", { orders }),
    },
    begin: (run: string, highest: { orders: number; services: number }) =>
      execute("beginImport", { run, isAlone, ...highest }),
    renew: (run: string) => execute("renewImport", { run }),
    stop: (run: string) => execute("stopImport", { run }),
    finish: (run: string, { users, services, keys, ...orders }: Imported) =>
      execute("finishImport", {
        run,
        users: users.new,
        services: services.new,
        keys: keys.new,
        pastOrders: orders.pastOrders,
        openOrders: orders.openAtProviders + orders.openByHand,
      }),
  };
}

// Tables of the ledger.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { TransferKind } from "../../domain/ledger/ledger.ts";
import { bigInteger, table } from "../port/table-definition.ts";
import { catalogueLock } from "./locks.ts";

export const accounts = table(
  "accounts",
  {
    account: integer().primaryKey(),
    kind: text().$type<"cash" | "sales" | "user">().notNull(),
  },
  {
    key: ["account"],
    numberField: "account",
    lock: catalogueLock,
  },
);

export const transfers = table(
  "transfers",
  {
    seq: integer().primaryKey(),
    debitAccount: integer().notNull(),
    creditAccount: integer().notNull(),
    amountMicros: integer().notNull(),
    kind: text().$type<TransferKind>().notNull(),
    orderId: integer(),
    keyId: text(),
    operator: text(),
    note: text(),
    createdAt: integer().notNull(),
    balanceAfterMicros: bigInteger().notNull(),
  },
  {
    key: ["seq"],
    numberField: "seq",
    unique: { onceAnOrder: ["orderId", "kind"] },
    lock: ({ debitAccount, creditAccount }) => Math.max(debitAccount, creditAccount),
  },
);

/** Texts of transfers, written together with them. */
export const transferDetails = table(
  "transfer_details",
  {
    seq: integer().primaryKey(),
    account: integer().notNull(),
    reference: text(),
    publicNote: text(),
  },
  {
    key: ["seq"],
    unique: { byReference: ["account", "reference"] },
    lock: ({ account }) => account,
  },
);

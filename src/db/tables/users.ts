// Tables of users and their keys.

import { integer, text } from "drizzle-orm/sqlite-core";
import type { KeyReach, KeyType } from "../../domain/users/keys.ts";
import { bigInteger, table } from "../port/table-definition.ts";
import { CATALOGUE_LOCK } from "./locks.ts";

export const users = table(
  "users",
  {
    account: integer().primaryKey(),
    id: text().notNull(),
    username: text().notNull(),
    name: text().notNull(),
    parentAccount: integer(),
    balanceMicros: bigInteger().notNull().default(0n),
    depositedMicros: bigInteger().notNull().default(0n),
    createdAt: integer().notNull(),
    wantedEvents: integer().notNull().default(0),
    lowBalanceMicros: integer(),
    testOf: integer(),
    active: integer({ mode: "boolean" }).notNull().default(true),
    erasedAt: integer(),
    discountPpm: integer().notNull().default(0),
  },
  {
    key: ["account"],
    unique: { byId: ["id"], byUsername: ["username"], byTestOf: ["testOf"] },
    folded: ["byUsername"],
    lock: ({ account }, isNew) => (isNew ? CATALOGUE_LOCK : account),
    coalesced: true,
    cacheable: true,
  },
);

/** What only the operator sees of a user. A user without it has no row, and a test account never has one. */
export const userContacts = table(
  "user_contacts",
  {
    account: integer().primaryKey(),
    email: text(),
    note: text(),
  },
  { key: ["account"], lock: ({ account }) => account },
);

export const keys = table(
  "keys",
  {
    id: text().primaryKey(),
    resellerAccount: integer().notNull(),
    hash: text().notNull(),
    start: text().notNull(),
    type: text().$type<KeyType>().notNull(),
    reach: text().$type<KeyReach>().notNull(),
    label: text().notNull(),
    active: integer({ mode: "boolean" }).notNull(),
    createdAt: integer().notNull(),
    expiresAt: integer(),
    allow: text().notNull().default(""),
    lastUsedAt: integer(),
    replacedBy: text(),
    ended: integer({ mode: "boolean" }).notNull().default(false),
    testOf: integer(),
    suspended: integer({ mode: "boolean" }).notNull().default(false),
    lastAddress: text(),
    rechargeLimitMicros: integer(),
    rechargeDailyMicros: integer(),
    originId: text(),
    rechargeRefusedAt: integer(),
    imported: integer({ mode: "boolean" }).notNull().default(false),
  },
  {
    key: ["id"],
    unique: { byHash: ["hash"] },
    lock: ({ resellerAccount }) => resellerAccount,
    unlocked: ["lastUsedAt", "lastAddress"],
    cacheable: true,
  },
);

/** Amounts that keys recharged on each day. A row is written under the lock of its key's account. */
export const keyRecharges = table(
  "key_recharges",
  {
    keyId: text().notNull(),
    day: integer().notNull(),
    rechargedMicros: bigInteger().notNull(),
  },
  {
    key: ["keyId", "day"],
    coalesced: true,
  },
);

/** Requests with each key on each UTC day. Written by statements that add to a row, without a lock. */
export const keyRequests = table(
  "key_requests",
  {
    keyId: text().notNull(),
    day: integer().notNull(),
    requests: integer().notNull(),
    errors: integer().notNull(),
  },
  { key: ["keyId", "day"] },
);

/** Limits of resellers that differ from the server's defaults. Null: the default; 0: no limit. */
export const resellerLimits = table(
  "reseller_limits",
  {
    account: integer().primaryKey(),
    rateLimit: text(),
    ordersPerMinute: integer(),
    spendPerDayMicros: integer(),
    spendPerMonthMicros: integer(),
    openOrders: integer(),
  },
  { key: ["account"], lock: ({ account }) => account },
);

/** What resellers with limits have used of them: domain/users/reseller-limits.ts. */
export const limitUse = table(
  "limit_use",
  {
    account: integer().primaryKey(),
    minute: integer().notNull(),
    day: integer().notNull(),
    month: integer().notNull(),
    minuteOrders: integer().notNull(),
    dayStartMicros: bigInteger().notNull(),
    monthStartMicros: bigInteger().notNull(),
    openOrders: integer(),
  },
  { key: ["account"], lock: ({ account }) => account, coalesced: true, cacheable: true },
);

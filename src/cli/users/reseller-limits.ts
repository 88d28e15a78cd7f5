// `admin user limits`: sets a reseller's limits. Prints them, with what was used of them.

import type { Command } from "commander";
import type { Reader } from "../../db/port/port.ts";
import { type LimitFacts, readLimitFacts } from "../../db/users/reseller-limits.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import type { OwnLimits } from "../../domain/users/reseller-limits.ts";
import { type CommonOptions, declare, withDatabase } from "../kernel/command.ts";
import { ownOrderLimit, ownRate, ownSpendLimit, username } from "../kernel/values.ts";
import { dollars, print } from "../output/output.ts";
import type { Cell } from "../output/text-table.ts";
import { shownJson, userText, shownUser } from "./user-output.ts";

/** Limit for the counted open orders of each status. */
const COUNTED = 10_000;

interface LimitOptions extends CommonOptions {
  rateLimit?: string;
  ordersPerMinute?: number | "default";
  /** In micros. */
  spendPerDay?: number | "default";
  spendPerMonth?: number | "default";
  openOrders?: number | "default";
}

export function declareLimits(group: Command): void {
  declare(
    group,
    "limits",
    "limit a reseller from its next request on; 0: no limit; default: the server's limit",
    "reseller admin user limits alice --orders-per-minute 60 --spend-per-day 500",
  )
    .argument("<username>", "the reseller", username)
    .option(
      "--rate-limit <rate>",
      "limit for the requests of all its keys together, such as 20/s",
      ownRate,
    )
    .option("--orders-per-minute <n>", "limit for its orders per minute", ownOrderLimit)
    .option("--spend-per-day <usd>", "limit for its spend per UTC day, less refunds", ownSpendLimit)
    .option(
      "--spend-per-month <usd>",
      "limit for its spend per UTC month, less refunds",
      ownSpendLimit,
    )
    .option("--open-orders <n>", "limit for its orders that have not ended", ownOrderLimit)
    .action(async (user: string, options: LimitOptions, command: Command) => {
      const changes = changesOf(options);
      if (Object.keys(changes).length === 0) {
        command.error(
          "error: give --rate-limit, --orders-per-minute, --spend-per-day, --spend-per-month or --open-orders.",
        );
      }
      const shown = await withDatabase(options, async ({ execute, store, now }) => {
        const { account } = await execute("setLimits", { username: user, changes });
        return store.read((reader) =>
          readLimitedUser(reader, findUserByAccount(reader, account)!, now()),
        );
      });
      printLimitedUser(options, shown);
    });
}

function changesOf(options: LimitOptions): Partial<OwnLimits> {
  const { rateLimit, ordersPerMinute, spendPerDay, spendPerMonth, openOrders } = options;
  const given = {
    rateLimit,
    ordersPerMinute,
    spendPerDayMicros: spendPerDay,
    spendPerMonthMicros: spendPerMonth,
    openOrders,
  };
  const changes = Object.entries(given).filter(([, limit]) => limit !== undefined);
  return Object.fromEntries(
    changes.map(([name, limit]) => [name, limit === "default" ? null : limit]),
  );
}

interface LimitedUser {
  user: ReturnType<typeof shownUser>;
  /** Null for a child user, which places no orders. */
  facts: LimitFacts | null;
}

export function readLimitedUser(reader: Reader, user: User, now: number): LimitedUser {
  const facts = user.parentAccount === null ? readLimitFacts(reader, user, COUNTED, now) : null;
  return { user: shownUser(reader, user), facts };
}

export function printLimitedUser({ json }: CommonOptions, { user, facts }: LimitedUser): void {
  const limits = facts && limitsJson(facts);
  print(json, { ...shownJson(user), ...limits }, () =>
    userText(user, facts ? limitCells(facts) : {}),
  );
}

/** Amounts are in USD. A limit that is null is the server's default, which commands do not know; 0: no limit. */
function limitsJson({ own, ...facts }: LimitFacts) {
  const amount = (micros: number | null) => (micros === null ? null : jsonAmount(micros));
  return {
    limits: {
      rateLimit: own.rateLimit,
      ordersPerMinute: own.ordersPerMinute,
      spendPerDay: amount(own.spendPerDayMicros),
      spendPerMonth: amount(own.spendPerMonthMicros),
      openOrders: own.openOrders,
    },
    used: {
      ordersPerMinute: facts.minuteOrders,
      spendPerDay: jsonAmount(facts.dayMicros),
      spendPerMonth: jsonAmount(facts.monthMicros),
      openOrders: facts.openOrders,
    },
  };
}

/** Text for a limit without a value of the reseller's own. Commands do not know the server's settings. */
const AS_SERVER = "the server's default";

function limitCells({ own, minuteOrders, dayMicros, monthMicros, openOrders }: LimitFacts) {
  const limit = (value: Cell) =>
    value === null ? `limit ${AS_SERVER}` : value === 0 ? "no limit" : `limit ${value}`;
  const amount = (micros: number | null) =>
    limit(micros === null || micros === 0 ? micros : dollars(micros));
  const of = (used: Cell, most: string) => `${used}; ${most}`;
  return {
    "rate limit": own.rateLimit === "0" ? "no limit" : (own.rateLimit ?? AS_SERVER),
    "orders this minute": of(minuteOrders, limit(own.ordersPerMinute)),
    "spend today usd": of(dollars(dayMicros), amount(own.spendPerDayMicros)),
    "spend this month usd": of(dollars(monthMicros), amount(own.spendPerMonthMicros)),
    "open orders": of(openOrders, limit(own.openOrders)),
  };
}

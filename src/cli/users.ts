// `admin user …`

import type { Command } from "commander";
import { findUser, listUsers, type User } from "../db/users.ts";
import { refusal } from "../domain/refusals.ts";
import { userBalances } from "../domain/responses.ts";
import { jsonAmount } from "../domain/money.ts";
import { USERNAME_FORM } from "../domain/users.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "./command.ts";
import { dollars, print } from "./output.ts";
import { fields, table } from "./text-table.ts";
import { amount, note, userDisplayName, username } from "./values.ts";

export function declareUsers(admin: Command): void {
  const group = declareGroup(admin, "user", "resellers, child users and their balances");

  declare(
    group,
    "create",
    "create a reseller, or with --parent a child user",
    'reseller admin user create alice --name "Alice Ltd"',
  )
    .argument("<username>", USERNAME_FORM, username)
    .option("--name <name>", "display name (default: the username)", userDisplayName)
    .option("--parent <username>", "the reseller of a child user", username)
    .action(async (name: string, options: CommonOptions & { name?: string; parent?: string }) => {
      const created = await withDatabase(options, ({ execute }) =>
        execute("createUser", {
          username: name,
          name: options.name ?? name,
          parent: options.parent ?? null,
        }),
      );
      print(options.json, userJson(created), userText);
    });

  declare(group, "list", "list all users", "reseller admin user list").action(
    async (options: CommonOptions) => {
      const users = await withDatabase(options, ({ store }) => store.read(listUsers));
      print(options.json, users.map(userJson), () => userTable(users));
    },
  );

  declare(group, "show", "show one user", "reseller admin user show alice")
    .argument("<username>", "the user", username)
    .action(async (name: string, options: CommonOptions) => {
      const user = await withDatabase(options, ({ store }) =>
        store.read((reader) => {
          const found = findUser(reader, name);
          if (!found) throw refusal("user_not_found");
          return found;
        }),
      );
      print(options.json, userJson(user), userText);
    });

  declareAdjustment(group, "credit", "creditUser", "add to a user's balance");
  declareAdjustment(group, "debit", "debitUser", "take from a user's balance");
}

function declareAdjustment(
  group: Command,
  verb: "credit" | "debit",
  name: "creditUser" | "debitUser",
  description: string,
): void {
  declare(group, verb, description, `reseller admin user ${verb} alice 25.50 --note "invoice 12"`)
    .argument("<username>", "the user", username)
    .argument("<amount>", "USD, at most six decimals", amount)
    .option("--note <text>", "why, kept in the ledger", note)
    .action(async (user: string, micros: number, options: CommonOptions & { note?: string }) => {
      const adjusted = await withDatabase(options, ({ execute }) =>
        execute(name, {
          username: user,
          amountMicros: micros,
          note: options.note ?? null,
        }),
      );
      const result = {
        ...userJson(adjusted.user),
        previousBalance: jsonAmount(adjusted.previousBalanceMicros),
        amount: jsonAmount(micros),
      };
      print(options.json, result, () => {
        const before = dollars(adjusted.previousBalanceMicros);
        const after = dollars(adjusted.user.balanceMicros);
        return `${adjusted.user.username}: ${before} → ${after} USD`;
      });
    });
}

function userJson(user: User) {
  return { ...userBalances(user), resellerId: user.resellerId };
}

function userText(user: ReturnType<typeof userJson>): string {
  return fields(user);
}

function userTable(users: User[]): string {
  const names = new Map(users.map((user) => [user.account, user.username]));
  const rows = users.map((user) => ({
    username: user.username,
    name: user.name,
    "balance usd": dollars(user.balanceMicros),
    parent: names.get(user.parentAccount ?? 0) ?? null,
    id: user.id,
  }));
  return table(rows, "no users yet: create one with `reseller admin user create`");
}

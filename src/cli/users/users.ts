// `admin user …`: the commands for users.

import { type Command, Option } from "commander";
import type { Reader } from "../../db/port/port.ts";
import { type ListedUser, listUsersAfter, type UserFilter } from "../../db/users/user-lists.ts";
import type { UserContact } from "../../db/users/user-contacts.ts";
import { findUserByAccount } from "../../db/users/users.ts";
import { USERNAME_FORM } from "../../domain/users/users.ts";
import { requireUser } from "../../operations/users/users.ts";
import { declareAdjustments } from "../ledger/adjustments.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { declareDiscount } from "../catalogue/discounts.ts";
import { declareUserImport } from "./user-import.ts";
import { declareErase } from "./user-erase.ts";
import { declareLimits, printLimitedUser, readLimitedUser } from "./reseller-limits.ts";
import {
  addPaging,
  addWindow,
  type PageOptions,
  printMore,
  readPages,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { print } from "../output/output.ts";
import { write, writePages } from "../output/streams.ts";
import { discountPercent } from "../../domain/catalogue/prices.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import { csvText } from "../../domain/values/csv.ts";
import { showHidden } from "../../domain/values/text.ts";
import { table } from "../output/text-table.ts";
import { shownJson, shownUser, stateJson, userCells, userJson, userText } from "./user-output.ts";
import { email, searchText, userDisplayName, username, userNote } from "../kernel/values.ts";

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
    .option(
      "--parent <username>",
      "create a child user of this reseller (default: create a reseller)",
      username,
    )
    .option("--email <address>", "its e-mail address; only the operator sees it", email)
    .option("--note <text>", "notes that only the operator sees", userNote)
    .action(async (name: string, options: CreateOptions) => {
      const created = await withDatabase(options, async ({ execute, store }) => {
        const user = await execute("createUser", {
          username: name,
          name: options.name ?? name,
          parent: options.parent ?? null,
          ...contactOf(options),
        });
        return store.read((reader) => shownUser(reader, user));
      });
      print(options.json, userJson(created), () => userText(created));
    });

  declareList(group);

  declare(group, "show", "show one user", "reseller admin user show alice")
    .argument("<username>", "the user", username)
    .action(async (name: string, options: CommonOptions) => {
      const shown = await withDatabase(options, ({ store, now }) =>
        store.read((reader) => readLimitedUser(reader, requireUser(reader, name), now())),
      );
      printLimitedUser(options, shown);
    });

  declareUpdate(group);
  declareSwitch(group, "deactivate", false, "refuse a reseller's keys from the next request on");
  declareSwitch(group, "activate", true, "accept the keys of a deactivated reseller again");
  declareUserImport(group);
  declareErase(group);
  declareAdjustments(group);
  declareDiscount(group);
  declareLimits(group);
  explainDelete(group);
}

/** Explains why users are not deleted. Commander would only suggest `debit`, the command with the most similar name. */
function explainDelete(group: Command): void {
  group.on("command:*", ([word]: string[]) => {
    if (/^(delete|remove|rm)$/.test(word!)) {
      group.error(
        "error: users are never deleted, because the ledger refers to them: `reseller admin user deactivate` refuses their keys, `erase` removes their personal data.",
      );
    }
  });
}

interface CreateOptions extends CommonOptions {
  name?: string;
  parent?: string;
  email?: string;
  note?: string;
}

function contactOf({ email, note }: CreateOptions) {
  return { ...(email !== undefined && { email }), ...(note !== undefined && { note }) };
}

/** False: removed. */
interface ContactOptions {
  email?: string | false;
  note?: string | false;
}

/** Returns what changes. */
function contactChanges({ email, note }: ContactOptions): Partial<UserContact> {
  return {
    ...(email !== undefined && { email: email || null }),
    ...(note !== undefined && { note: note || null }),
  };
}

interface ListOptions extends CommonOptions, PageOptions, WindowOptions {
  search?: string;
  parent?: string;
  resellers?: true;
  children?: true;
  active?: true;
  inactive?: true;
  cursor?: string;
  csv?: true;
}

function declareList(group: Command): void {
  const command = declare(
    group,
    "list",
    "list users, oldest first",
    "reseller admin user list --search ann",
  )
    .option(
      "--search <text>",
      "only users with this text in the username, the name or the e-mail address",
      searchText,
    )
    .option("--parent <username>", "only this reseller's child users", username)
    .addOption(new Option("--resellers", "only resellers").conflicts("children"))
    .addOption(new Option("--children", "only child users").conflicts("resellers"))
    .addOption(new Option("--active", "only active ones").conflicts("inactive"))
    .addOption(new Option("--inactive", "only inactive ones").conflicts("active"))
    .addOption(new Option("--csv", "print CSV").conflicts("json"));
  addWindow(command);
  addPaging(command, { what: "username", parse: username }).action(async (options: ListOptions) => {
    const users = await withDatabase(options, async ({ store }) => {
      const { filter, after } = await store.read((reader) => filterOf(reader, options));
      if (options.csv) {
        await write(`${USER_HEADER}\n`);
        const read = (account: number, most: number) =>
          store.read((reader) => listUsersAfter(reader, filter, account, most));
        await writePages(after, options.limit ?? Infinity, read, userLine);
        return null;
      }
      return readPages(options, after, (account, most) =>
        store.read((reader) => listUsersAfter(reader, filter, account, most)),
      );
    });
    if (users === null) return;
    print(options.json, users.map(stateJson), () => userTable(users));
    printMore(options, users, () => users.at(-1)!.username);
  });
}

const USER_HEADER = "username,name,email,parent,discount,balance,active,id,createdAt";

function userLine(user: ListedUser): string {
  const { username: name, email: address, parent, discountPpm, balanceMicros, active } = user;
  const cells = [
    ...[name, user.name, address ?? "", parent ?? ""].map(csvText),
    discountPercent(discountPpm),
    formatMicros(balanceMicros),
    active ? "yes" : "no",
    user.id,
    new Date(user.createdAt).toISOString(),
  ];
  return showHidden(cells.join(","));
}

/** Turns options into a filter. Refuses: user_not_found. */
function filterOf(reader: Reader, options: ListOptions): { filter: UserFilter; after: number } {
  const accountOf = (name: string | undefined) =>
    name === undefined ? undefined : requireUser(reader, name).account;
  const filter = {
    search: options.search,
    parentAccount: accountOf(options.parent),
    isChild: options.children ? true : options.resellers ? false : null,
    active: options.active ? true : options.inactive ? false : null,
    ...windowOf(options),
  };
  return { filter, after: accountOf(options.cursor) ?? 0 };
}

function declareUpdate(group: Command): void {
  declare(
    group,
    "update",
    "change the names, the e-mail address or the notes of a user",
    "reseller admin user update alice --email ann@example.com",
  )
    .argument("<username>", "the user", username)
    .option("--name <name>", "display name", userDisplayName)
    .option("--rename <username>", "another username", username)
    .addOption(
      new Option("--email <address>", "its e-mail address; only the operator sees it").argParser(
        email,
      ),
    )
    .option("--no-email", "remove its e-mail address")
    .addOption(new Option("--note <text>", "notes that only the operator sees").argParser(userNote))
    .option("--no-note", "remove the notes")
    .action(
      async (
        user: string,
        options: CommonOptions & ContactOptions & { name?: string; rename?: string },
        command: Command,
      ) => {
        const { name, rename } = options;
        const changes = {
          ...(name === undefined ? {} : { name }),
          ...(rename === undefined ? {} : { username: rename }),
          ...contactChanges(options),
        };
        if (Object.keys(changes).length === 0) {
          command.error("error: give --name, --rename, --email or --note.");
        }
        const changed = await withDatabase(options, async ({ execute, store }) => {
          const { account } = await execute("updateUser", { username: user, changes });
          return store.read((reader) => shownUser(reader, findUserByAccount(reader, account)!));
        });
        print(options.json, shownJson(changed), () => userText(changed));
      },
    );
}

function declareSwitch(group: Command, verb: string, active: boolean, description: string): void {
  declare(group, verb, description, `reseller admin user ${verb} alice`)
    .argument("<username>", "the reseller", username)
    .action(async (user: string, options: CommonOptions) => {
      const { changed, keys } = await withDatabase(options, async ({ execute, store }) => {
        const { keys } = await execute("setUserActive", { username: user, active });
        const changed = await store.read((reader) => shownUser(reader, requireUser(reader, user)));
        return { changed, keys };
      });
      print(options.json, { ...stateJson(changed), keys }, () => userText(changed, { keys }));
    });
}

function userTable(users: ListedUser[]): string {
  return table(users.map(userCells), "no users yet: create one with `reseller admin user create`");
}

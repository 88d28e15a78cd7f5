// `admin key …`

import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { findKey, type ListedKey, listKeys } from "../db/keys.ts";
import { refusal } from "../domain/refusals.ts";
import {
  formatKey,
  hashKey,
  KEY_RANDOM_BYTES,
  KEY_SCOPES,
  KEY_TYPES,
  type KeyScope,
  type KeyType,
  startOfKey,
} from "../domain/keys.ts";
import type { UnsignedInput } from "../operations/commands.ts";
import { requireUser } from "../operations/users.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "./command.ts";
import { addColumns, type ColumnOptions, listTable } from "./list-columns.ts";
import { addPaging, type PageOptions, printMore } from "./list-pages.ts";
import { print } from "./output.ts";
import { fields } from "./text-table.ts";
import { duration, keyId, keyLabel, lifetime, networks, username } from "./values.ts";
import { keyJson, KEY_LIST } from "./key-output.ts";

interface CreateOptions extends CommonOptions {
  user: string;
  type: KeyType;
  reach: KeyScope;
  label?: string;
  /** Milliseconds. */
  expires?: number;
  allow?: string;
  test?: true;
}

interface ListOptions extends CommonOptions, PageOptions, ColumnOptions {
  user?: string;
  type?: KeyType;
  active?: true;
  inactive?: true;
  cursor?: string;
}

export function declareKeys(admin: Command): void {
  const group = declareGroup(admin, "key", "API keys of resellers");

  declare(
    group,
    "create",
    "create a key; it is shown this once only",
    "reseller admin key create --user alice --type full",
  )
    .addOption(
      new Option("--user <username>", "the reseller it belongs to")
        .argParser(username)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--type <type>", "what it may do").choices(KEY_TYPES).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--reach <reach>",
        "whom it may look up and recharge: all users, or its reseller's children",
      )
        .choices(KEY_SCOPES)
        .default("all"),
    )
    .option("--label <text>", "a name to recognise it by", keyLabel)
    .option("--expires <duration>", "how long it lives (default: until deactivated)", lifetime)
    .option("--allow <cidr>", "only from this network, v4 or v6; may be given again", networks)
    .option("--test", "a test key: test money, no provider, the same catalogue")
    .action(async (options: CreateOptions) => {
      const { text, input } = newKey(options);
      const key = await withDatabase(options, ({ execute }) => execute("createKey", input));
      printNew(options, key, text);
    });

  const list = declare(
    group,
    "list",
    "list keys, oldest first",
    "reseller admin key list --user alice",
  )
    .option("--user <username>", "only this reseller's", username)
    .addOption(new Option("--type <type>", "only these").choices(KEY_TYPES))
    .addOption(new Option("--active", "only active ones").conflicts("inactive"))
    .addOption(new Option("--inactive", "only inactive ones").conflicts("active"));
  addColumns(list, KEY_LIST);
  addPaging(list, { what: "id", parse: keyId }).action(async (options: ListOptions) => {
    const keys = await withDatabase(options, ({ store }) =>
      store.read((reader) => {
        const { user, type, active, inactive, cursor = null, limit } = options;
        const account = user === undefined ? null : requireUser(reader, user).account;
        const filter = { account, type, active: active ? true : inactive ? false : null };
        if (cursor !== null && !findKey(reader, cursor)) throw refusal("key_not_found");
        return listKeys(reader, filter, cursor, limit);
      }),
    );
    print(options.json, keys.map(keyJson), (rows) => listTable(KEY_LIST, rows, options));
    printMore(options, keys, () => keys.at(-1)!.id);
  });

  declareRotate(group);
  declareUpdate(group);
  declareDeactivate(group);
  declareSwitch(group, "activate", true, "accept a deactivated key again");
}

/** The text of a new key, which is stored nowhere, and the command that creates it. */
export function newKey(options: Omit<CreateOptions, keyof CommonOptions>): {
  text: string;
  input: UnsignedInput<"createKey">;
} {
  const test = options.test ?? false;
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES), test);
  const input = {
    username: options.user,
    type: options.type,
    reach: options.reach,
    label: options.label ?? "",
    hash: hashKey(text),
    start: startOfKey(text),
    lifetimeMilliseconds: options.expires ?? null,
    allow: options.allow ?? "",
    test,
  };
  return { text, input };
}

function declareRotate(group: Command): void {
  declare(
    group,
    "rotate",
    "make a key like it to take its place; the old one lives on for a while",
    "reseller admin key rotate tz4a98xxat96iws9zmbrgj3a --grace 24h",
  )
    .argument("<id>", "the key's id, as `key list` shows it")
    .addOption(
      new Option("--grace <duration>", "how long the old key still works; 0: no longer")
        .argParser(duration)
        .default(duration("24h"), "24h"),
    )
    .action(async (id: string, options: CommonOptions & { grace: number }) => {
      const { key, text } = await withDatabase(options, async ({ store, execute }) => {
        const old = await store.read((reader) => findKey(reader, id));
        if (!old) throw refusal("key_not_found");
        const replacing = formatKey(randomBytes(KEY_RANDOM_BYTES), old.testOf !== null);
        const rotated = await execute("rotateKey", {
          id,
          hash: hashKey(replacing),
          start: startOfKey(replacing),
          graceMilliseconds: options.grace,
        });
        return { key: rotated, text: replacing };
      });
      printNew(options, key, text);
    });
}

interface UpdateOptions extends CommonOptions {
  label?: string;
  /** Infinity: never. */
  expires?: number;
  allow?: string;
}

function declareUpdate(group: Command): void {
  declare(
    group,
    "update",
    "change a key's label, expiry or networks; a running server goes by it on the next request",
    "reseller admin key update tz4a98xxat96iws9zmbrgj3a --expires 90d --allow 10.0.0.0/8",
  )
    .argument("<id>", "the key's id, as `key list` shows it")
    .option("--label <text>", "a name to recognise it by", keyLabel)
    .option(
      "--expires <duration>",
      "how long it lives from now on; never: until deactivated",
      expiry,
    )
    .option(
      "--allow <cidr>",
      "only from this network, v4 or v6; may be given again; any: from everywhere",
      allowed,
    )
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const { label, expires, allow } = options;
      const changes = {
        ...(label === undefined ? {} : { label }),
        ...(expires === undefined
          ? {}
          : { lifetimeMilliseconds: expires === Infinity ? null : expires }),
        ...(allow === undefined ? {} : { allow }),
      };
      if (Object.keys(changes).length === 0) {
        command.error("error: give --label, --expires or --allow.");
      }
      const key = await withDatabase(options, ({ execute }) =>
        execute("updateKey", { id, changes }),
      );
      print(options.json, keyJson(key), fields);
    });
}

/** Infinity for `never`: an option's value is never null. */
function expiry(text: string): number {
  return text === "never" ? Infinity : lifetime(text);
}

/** Empty for `any`. */
function allowed(text: string, before = ""): string {
  return text === "any" ? "" : networks(text, before);
}

function declareDeactivate(group: Command): void {
  declare(
    group,
    "deactivate [id]",
    "refuse a key, or all of a reseller's, from the next request on",
    "reseller admin key deactivate tz4a98xxat96iws9zmbrgj3a",
  )
    .addOption(new Option("--user <username>", "all keys of this reseller").argParser(username))
    .action(
      async (
        id: string | undefined,
        options: CommonOptions & { user?: string },
        command: Command,
      ) => {
        const { user } = options;
        if ((id === undefined) === (user === undefined)) {
          command.error("error: give a key's id or --user, one of them.");
        }
        if (user !== undefined) {
          const { keys } = await withDatabase(options, ({ execute }) =>
            execute("deactivateKeys", { username: user }),
          );
          return print(options.json, { username: user, deactivated: keys }, fields);
        }
        const key = await withDatabase(options, ({ execute }) =>
          execute("setKeyActive", { id: id!, active: false }),
        );
        print(options.json, keyJson(key), fields);
      },
    );
}

/** The only time that a key's text is shown. */
function printNew({ json }: CommonOptions, key: ListedKey, text: string): void {
  const {
    start: _,
    state: __,
    lastUsedAt: ___,
    lastAddress: ____,
    replacedBy: _____,
    ...shown
  } = keyJson(key);
  print(json, { ...shown, key: text }, (result) =>
    [fields(result), "", "Keep the key now: it is not stored and cannot be shown again."].join(
      "\n",
    ),
  );
}

function declareSwitch(group: Command, verb: string, active: boolean, description: string): void {
  declare(group, verb, description, `reseller admin key ${verb} tz4a98xxat96iws9zmbrgj3a`)
    .argument("<id>", "the key's id, as `key list` shows it")
    .action(async (id: string, options: CommonOptions) => {
      const key = await withDatabase(options, ({ execute }) =>
        execute("setKeyActive", { id, active }),
      );
      print(options.json, keyJson(key), fields);
    });
}

// `admin key …`: creates and changes API keys.

import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { firstShownDay, readKeyRequests } from "../../db/users/key-requests.ts";
import { findKey, type ListedKey, listKeys } from "../../db/users/keys.ts";
import { refusal } from "../../domain/values/error-table.ts";
import {
  formatKey,
  hashKey,
  KEY_RANDOM_BYTES,
  KEY_REACHES,
  KEY_TYPES,
  type KeyReach,
  type KeyType,
  keyTypeMay,
  startOfKey,
} from "../../domain/users/keys.ts";
import type { UnsignedInput } from "../../operations/batch/commands.ts";
import { requireUser } from "../../operations/users/users.ts";
import { type CommonOptions, declare, declareGroup, withDatabase } from "../kernel/command.ts";
import { addColumns, type ColumnOptions, listTable } from "../output/list-columns.ts";
import {
  addPaging,
  addWindow,
  type PageOptions,
  printMore,
  type WindowOptions,
  windowOf,
} from "../output/list-pages.ts";
import { print, printError } from "../output/output.ts";
import { fields } from "../output/text-table.ts";
import {
  amount,
  duration,
  keyId,
  keyLabel,
  lifetime,
  networks,
  username,
} from "../kernel/values.ts";
import { declareKeyImport } from "./user-import.ts";
import { keyJson, keyText, KEY_LIST, creditSentence, listedJson } from "./key-output.ts";

interface CreateOptions extends CommonOptions {
  user: string;
  type: KeyType;
  /** Absent only for an order key, which cannot reach users. */
  reach?: KeyReach;
  /** In micros. */
  rechargeLimit?: number;
  rechargeDaily?: number;
  label?: string;
  /** In milliseconds from now. */
  expires?: number;
  allow?: string;
  test?: true;
}

interface ListOptions extends CommonOptions, PageOptions, ColumnOptions, WindowOptions {
  user?: string;
  type?: KeyType;
  active?: true;
  inactive?: true;
  imported?: true;
  cursor?: string;
}

export function declareKeys(admin: Command): void {
  const group = declareGroup(admin, "key", "API keys of resellers");

  declare(
    group,
    "create",
    "create a key; it is shown only once",
    "reseller admin key create --user alice --type order",
  )
    .addOption(
      new Option("--user <username>", "the reseller it belongs to")
        .argParser(username)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--type <type>", "what the key may do").choices(KEY_TYPES).makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--reach <reach>",
        "whom it may look up and recharge: all users, or its reseller's children; required unless --type order",
      ).choices(KEY_REACHES),
    )
    .option("--recharge-limit <amount>", "maximum of one recharge, in USD", amount)
    .option("--recharge-daily <amount>", "maximum of all its recharges per UTC day, in USD", amount)
    .option("--label <text>", "label to recognise it by", keyLabel)
    .option("--expires <duration>", "lifetime (default: until deactivated)", lifetime)
    .option(
      "--allow <cidr>",
      "accept the key only from this IPv4 or IPv6 network; can be repeated",
      networks,
    )
    .option("--test", "a test key: test money, no provider, the same catalogue")
    .action(async (options: CreateOptions, command: Command) => {
      requireReach(options, command);
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
    .option("--user <username>", "only keys of this reseller", username)
    .addOption(new Option("--type <type>", "only keys of this type").choices(KEY_TYPES))
    .addOption(new Option("--active", "only active ones").conflicts("inactive"))
    .addOption(new Option("--inactive", "only inactive ones").conflicts("active"))
    .option("--imported", "only keys of another panel, which should be rotated");
  addColumns(list, KEY_LIST);
  addWindow(list);
  addPaging(list, { what: "id", parse: keyId }).action(async (options: ListOptions) => {
    const keys = await withDatabase(options, ({ store, now }) =>
      store.read((reader) => {
        const { user, type, active, inactive, imported, cursor = null, limit } = options;
        const account = user === undefined ? null : requireUser(reader, user).account;
        const isActive = active ? true : inactive ? false : null;
        const filter = { account, type, active: isActive, imported, ...windowOf(options) };
        if (cursor !== null && !findKey(reader, cursor)) throw refusal("key_not_found");
        const listed = listKeys(reader, filter, cursor, limit);
        const ids = listed.map(({ id }) => id);
        const requestsOf = readKeyRequests(reader, ids, firstShownDay(now()));
        return listed.map((key) => ({ ...key, ...requestsOf(key.id) }));
      }),
    );
    print(options.json, keys.map(listedJson), (rows) => listTable(KEY_LIST, rows, options));
    printMore(options, keys, () => keys.at(-1)!.id);
  });

  declareKeyImport(group);
  declareRotate(group);
  declareUpdate(group);
  declareDeactivate(group);
  declareSwitch(group, "activate", true, "accept a deactivated key again");
}

/** Requires --reach for a key that can add credit. Refuses recharge limits for any other key. */
function requireReach({ type, reach, ...limits }: CreateOptions, command: Command): void {
  const { rechargeLimit, rechargeDaily } = limits;
  if (!keyTypeMay(type, "recharge")) {
    if (rechargeLimit === undefined && rechargeDaily === undefined) return;
    command.error(
      "error: an order key cannot recharge: remove --recharge-limit and --recharge-daily.",
    );
  }
  if (reach !== undefined) return;
  command.error(
    "error: give --reach children (it recharges the child users of its reseller) or --reach all (it recharges any user with any amount: only for your own payment program). To place orders, give --type order.",
  );
}

/** Returns the text of a new key, which is not stored anywhere, and the input of the command that creates it. */
export function newKey(options: Omit<CreateOptions, keyof CommonOptions>): {
  text: string;
  input: UnsignedInput<"createKey">;
} {
  const test = options.test ?? false;
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES), test);
  const input = {
    username: options.user,
    type: options.type,
    reach: options.reach ?? "all",
    rechargeLimitMicros: options.rechargeLimit ?? null,
    rechargeDailyMicros: options.rechargeDaily ?? null,
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
    "create a replacement key with the same settings; the old one works until its grace time ends",
    "reseller admin key rotate tz4a98xxat96iws9zmbrgj3a --grace 24h",
  )
    .argument("<id>", "the key's id, as `key list` shows it")
    .addOption(
      new Option("--grace <duration>", "how long the old key still works; 0: it stops at once")
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
  /** In micros; false removes the limit. */
  rechargeLimit?: number | false;
  rechargeDaily?: number | false;
  label?: string;
  /** In milliseconds from now; Infinity means never. */
  expires?: number;
  allow?: string;
}

function declareUpdate(group: Command): void {
  declare(
    group,
    "update",
    "change a key's label, expiry, networks or limits; running servers apply it to the next request",
    "reseller admin key update tz4a98xxat96iws9zmbrgj3a --expires 90d --allow 10.0.0.0/8",
  )
    .argument("<id>", "the key's id, as `key list` shows it")
    .option("--label <text>", "label to recognise it by", keyLabel)
    .option("--expires <duration>", "lifetime from now; never: until deactivated", expiry)
    .option(
      "--allow <cidr>",
      "accept the key only from this IPv4 or IPv6 network; can be repeated; any: from everywhere",
      allowed,
    )
    .option("--recharge-limit <amount>", "maximum of one recharge, in USD", amount)
    .option("--no-recharge-limit", "remove the maximum of one recharge")
    .option("--recharge-daily <amount>", "maximum of all its recharges per UTC day, in USD", amount)
    .option("--no-recharge-daily", "remove the daily maximum")
    .action(async (id: string, options: UpdateOptions, command: Command) => {
      const { label, expires, allow, rechargeLimit, rechargeDaily } = options;
      const changes = {
        ...(label === undefined ? {} : { label }),
        ...(expires === undefined
          ? {}
          : { lifetimeMilliseconds: expires === Infinity ? null : expires }),
        ...(allow === undefined ? {} : { allow }),
        ...(rechargeLimit === undefined ? {} : { rechargeLimitMicros: rechargeLimit || null }),
        ...(rechargeDaily === undefined ? {} : { rechargeDailyMicros: rechargeDaily || null }),
      };
      if (Object.keys(changes).length === 0) {
        command.error(
          "error: give --label, --expires, --allow, --recharge-limit, --recharge-daily, --no-recharge-limit or --no-recharge-daily.",
        );
      }
      const key = await withDatabase(options, ({ execute }) =>
        execute("updateKey", { id, changes }),
      );
      print(options.json, keyJson(key), keyText);
    });
}

/** Parses --expires. Returns Infinity for `never`, because an option's value is never null. */
function expiry(text: string): number {
  return text === "never" ? Infinity : lifetime(text);
}

/** Parses --allow. Returns an empty text for `any`. */
function allowed(text: string, before = ""): string {
  return text === "any" ? "" : networks(text, before);
}

function declareDeactivate(group: Command): void {
  declare(
    group,
    "deactivate [id]",
    "refuse a key, or all keys of a reseller, from the next request on",
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
          command.error("error: give either a key's id or --user.");
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
        print(options.json, keyJson(key), keyText);
      },
    );
}

/**
 * Prints a new key. Its text is never shown again. A sentence about the credit that it can add goes to stderr, so that
 * --json stays one document.
 */
function printNew({ json }: CommonOptions, key: ListedKey, text: string): void {
  const power = creditSentence(key);
  if (power !== null) printError(power);
  const {
    start: _,
    state: __,
    lastUsedAt: ___,
    lastAddress: ____,
    replacedBy: _____,
    ...shown
  } = keyJson(key);
  print(json, { ...shown, key: text }, (result) =>
    [keyText(result), "", "Keep the key now: it is not stored and cannot be shown again."].join(
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
      print(options.json, keyJson(key), keyText);
    });
}

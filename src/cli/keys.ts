// `admin key …`

import { randomBytes } from "node:crypto";
import { type Command, Option } from "commander";
import { type ListedKey, listKeys } from "../db/keys.ts";
import { findUser } from "../db/users.ts";
import { refusal } from "../domain/errors.ts";
import {
  formatKey,
  hashKey,
  KEY_RANDOM_BYTES,
  KEY_REACHES,
  KEY_TYPES,
  type KeyReach,
  type KeyType,
  startOfKey,
} from "../domain/keys.ts";
import {
  type CommonOptions,
  declare,
  declareGroup,
  type Session,
  withDatabase,
} from "./command.ts";
import { fields, print, table } from "./output.ts";
import { keyLabel, username } from "./values.ts";

interface CreateOptions extends CommonOptions {
  user: string;
  type: KeyType;
  reach: KeyReach;
  label?: string;
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
        .choices(KEY_REACHES)
        .default("all"),
    )
    .option("--label <text>", "a name to recognise it by", keyLabel)
    .action((options: CreateOptions) => {
      const { key, text } = withDatabase(options, (session) => createKey(session, options));
      const { start: _, ...shown } = keyJson(key);
      print(options.json, { ...shown, key: text }, (result) =>
        [fields(result), "", "Keep the key now: it is not stored and cannot be shown again."].join(
          "\n",
        ),
      );
    });

  declare(group, "list", "list keys", "reseller admin key list --user alice")
    .option("--user <username>", "only this reseller's", username)
    .action((options: CommonOptions & { user?: string }) => {
      const keys = withDatabase(options, ({ connection }) => {
        if (options.user === undefined) return listKeys(connection);
        const user = findUser(connection, options.user);
        if (!user) throw refusal("user_not_found");
        return listKeys(connection, user.account);
      });
      print(options.json, keys.map(keyJson), (rows) =>
        table(rows, "no keys yet: create one with `reseller admin key create`"),
      );
    });

  declareSwitch(group, "deactivate", false, "refuse a key from its next request on");
  declareSwitch(group, "activate", true, "accept a deactivated key again");
}

/** Makes a key; its text is in the answer and nowhere else. */
export function createKey(
  { execute }: Pick<Session, "execute">,
  options: Omit<CreateOptions, "data" | "json">,
): { key: ListedKey; text: string } {
  const text = formatKey(randomBytes(KEY_RANDOM_BYTES));
  const key = execute("createKey", {
    username: options.user,
    type: options.type,
    reach: options.reach,
    label: options.label ?? "",
    hash: hashKey(text),
    start: startOfKey(text),
  });
  return { key, text };
}

function declareSwitch(group: Command, verb: string, active: boolean, description: string): void {
  declare(group, verb, description, `reseller admin key ${verb} tz4a98xxat96iws9zmbrgj3a`)
    .argument("<id>", "the key's id, as `key list` shows it")
    .action((id: string, options: CommonOptions) => {
      const key = withDatabase(options, ({ execute }) => execute("setKeyActive", { id, active }));
      print(options.json, keyJson(key), fields);
    });
}

function keyJson(key: ListedKey) {
  return {
    id: key.id,
    start: key.start,
    type: key.type,
    reach: key.reach,
    username: key.username,
    label: key.label,
    active: key.active,
  };
}

// Reads users with starting credits, and keys to create, from CSV. docs/specification/command-line.md#cli-import-users.

import { KEY_COLUMNS, USER_COLUMNS } from "../domain/users/list-columns.ts";
import { keyTypeMay, KEY_REACHES, KEY_TYPES } from "../domain/users/keys.ts";
import {
  AMOUNT,
  DISCOUNT,
  EMAIL,
  KEY_LABEL,
  type Kind,
  LIFETIME,
  oneOf,
  REFERENCE,
  USER_NAME,
  USERNAME,
} from "../domain/values/kinds.ts";
import type { NewUserRow } from "../operations/users/user-import.ts";
import type { CreateKey } from "../operations/users/keys.ts";
import { readRows, type RowForm, type RowList } from "./rows.ts";

const USERS: RowForm<NewUserRow> = {
  what: "users",
  ...USER_COLUMNS,
  keyOf: ({ username }) => username.toLowerCase(),
  read({ value, optional, refuse }) {
    const username = value("username", USERNAME);
    const parent = optional("parent", USERNAME);
    const discountPpm = optional("discount", DISCOUNT) ?? 0;
    const creditMicros = optional("credit", AMOUNT);
    const reference = optional("reference", REFERENCE);
    if (creditMicros !== null && reference === null) {
      refuse("credit needs a reference, so that a repeated import credits once");
    }
    if (creditMicros === null && reference !== null) refuse("reference needs a credit");
    if (parent !== null && discountPpm > 0) refuse("a child user has no discount");
    return {
      username,
      name: optional("name", USER_NAME) ?? username,
      email: optional("email", EMAIL),
      parent,
      discountPpm,
      credit: creditMicros === null ? null : { amountMicros: creditMicros, reference: reference! },
    };
  },
};

export function readUsers(file: string, text: string): RowList<NewUserRow> {
  return readRows(file, text, USERS);
}

/** A key to create, without its text. */
export type NewKeyRow = Omit<CreateKey, "hash" | "start" | "actor">;

/** Networks in one cell are separated by spaces or commas. */
export function readKeys(file: string, text: string, networks: Kind<string>): RowList<NewKeyRow> {
  return readRows(file, text, keysForm(networks));
}

function keysForm(networks: Kind<string>): RowForm<NewKeyRow> {
  const separated: Kind<string> = {
    form: networks.form,
    read: (text) => networks.read(text.replace(/[\s,]+/g, ",")),
  };
  return {
    ...KEY_COLUMNS,
    what: "keys",
    keyOf: () => null,
    read({ value, optional, refuse }) {
      const type = value("type", oneOf(KEY_TYPES));
      const reach = optional("reach", oneOf(KEY_REACHES));
      const limits = {
        rechargeLimitMicros: optional("rechargeLimit", AMOUNT),
        rechargeDailyMicros: optional("rechargeDaily", AMOUNT),
      };
      const mayRecharge = keyTypeMay(type, "recharge");
      if (mayRecharge && reach === null) refuse("reach must be all or children for this type");
      if (!mayRecharge && Object.values(limits).some((limit) => limit !== null)) {
        refuse("an order key has no recharge limits");
      }
      return {
        username: value("username", USERNAME),
        type,
        reach: reach ?? "all",
        label: optional("label", KEY_LABEL) ?? "",
        lifetimeMilliseconds: optional("expires", LIFETIME),
        allow: optional("allow", separated) ?? "",
        ...limits,
      };
    },
  };
}

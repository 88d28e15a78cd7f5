// Output of the key commands.

import type { KeyRequests } from "../../db/users/key-requests.ts";
import type { ListedKey } from "../../db/users/keys.ts";
import { createsCredit, keyState, keyTypeMay, shownStart } from "../../domain/users/keys.ts";
import { jsonAmount } from "../../domain/ledger/money.ts";
import { limitsText } from "../../domain/ledger/recharges.ts";
import { type List } from "../output/list-columns.ts";
import { ageText, isoTime } from "../output/output.ts";
import { fields } from "../output/text-table.ts";

export function keyJson(key: ListedKey) {
  return {
    id: key.id,
    start: shownStart(key),
    type: key.type,
    reach: key.reach,
    createsCredit: createsCredit(key),
    rechargeLimit: amountOrNull(key.rechargeLimitMicros),
    rechargeDaily: amountOrNull(key.rechargeDailyMicros),
    username: key.username,
    label: key.label,
    state: keyState(key, Date.now()),
    active: key.active,
    expiresAt: isoTime(key.expiresAt),
    allow: key.allow,
    lastUsedAt: isoTime(key.lastUsedAt),
    lastAddress: key.lastAddress,
    replacedBy: key.replacedBy,
    test: key.testOf !== null,
    imported: key.imported,
  };
}

/** Returns a key in a list, with its requests of the last 30 UTC days. */
export function listedJson({ requests, errors, ...key }: ListedKey & KeyRequests) {
  return { ...keyJson(key), requests, errors };
}

/** Returns the key for a person, without the reach of an order key, which cannot reach users. */
export function keyText<Shown extends Pick<KeyJson, "type" | "reach">>(key: Shown): string {
  return fields({ ...key, reach: reachText(key) });
}

function reachText({ type, reach }: Pick<KeyJson, "type" | "reach">): string | null {
  return keyTypeMay(type, "user lookup") ? reach : null;
}

function amountOrNull(micros: number | null): number | null {
  return micros === null ? null : jsonAmount(micros);
}

/** Returns one sentence about the credit that a new key can add, or null if it can add none. */
export function creditSentence(key: ListedKey): string | null {
  if (!keyTypeMay(key.type, "recharge")) return null;
  const { username, type, reach, testOf } = key;
  const orders = type === "full" ? `place orders of ${username} and ` : "";
  const money = testOf === null ? "credit" : "test credit";
  const whom =
    reach === "all" ? `any user, ${username} included` : `the child users of ${username}`;
  return `This key can ${orders}add ${money} to ${whom}: ${limitsText(key)}.`;
}

/** Returns the cell that says whom the key can credit, how much at once and how much a day; empty if nobody. */
function creditText({ createsCredit: can, reach, rechargeLimit, rechargeDaily }: KeyJson): string {
  if (!can) return "";
  const once = rechargeLimit === null ? [] : [`${rechargeLimit} once`];
  const daily = rechargeDaily === null ? [] : [`${rechargeDaily} daily`];
  return [reach, ...once, ...daily].join(", ");
}

type KeyJson = ReturnType<typeof keyJson>;

/** The columns of `key list`. The default ones fit into 80 columns. */
export const KEY_LIST: List<ReturnType<typeof listedJson>> = {
  columns: {
    id: ({ id }) => id,
    start: ({ start }) => start,
    type: ({ type }) => type,
    reach: reachText,
    credits: creditText,
    username: ({ username: user }) => user,
    label: ({ label }) => label,
    state: ({ state }) => state,
    test: ({ test }) => test,
    imported: ({ imported }) => imported,
    expires: ({ expiresAt }) => expiresAt,
    used: ({ lastUsedAt }) => lastUsedAt && ageText(Date.now() - Date.parse(lastUsedAt)),
    "last used": ({ lastUsedAt }) => lastUsedAt,
    from: ({ lastAddress }) => lastAddress,
    "replaced by": ({ replacedBy }) => replacedBy,
    requests: ({ requests }) => requests,
    errors: ({ errors }) => errors,
    allow: ({ allow }) => allow,
  },
  shown: ["id", "type", "credits", "username", "label", "state", "used"],
  empty: "no keys yet: create one with `reseller admin key create`",
};

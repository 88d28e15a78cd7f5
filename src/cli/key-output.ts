// What the commands of keys print.

import { type ListedKey } from "../db/keys.ts";
import { keyState, shownStart } from "../domain/keys.ts";
import { type List } from "./list-columns.ts";
import { ageText } from "./output.ts";

export function keyJson(key: ListedKey) {
  return {
    id: key.id,
    start: shownStart(key),
    type: key.type,
    reach: key.reach,
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
  };
}

/** The columns of `key list`; the ones shown have room on 80 columns. */
export const KEY_LIST: List<ReturnType<typeof keyJson>> = {
  columns: {
    id: ({ id }) => id,
    start: ({ start }) => start,
    type: ({ type }) => type,
    reach: ({ reach }) => reach,
    username: ({ username: user }) => user,
    label: ({ label }) => label,
    state: ({ state }) => state,
    test: ({ test }) => test,
    expires: ({ expiresAt }) => expiresAt,
    used: ({ lastUsedAt }) => lastUsedAt && ageText(Date.now() - Date.parse(lastUsedAt)),
    "last used": ({ lastUsedAt }) => lastUsedAt,
    from: ({ lastAddress }) => lastAddress,
    "replaced by": ({ replacedBy }) => replacedBy,
    allow: ({ allow }) => allow,
  },
  shown: ["id", "type", "username", "label", "state", "used"],
  empty: "no keys yet: create one with `reseller admin key create`",
};

export function isoTime(milliseconds: number | null): string | null {
  return milliseconds === null ? null : new Date(milliseconds).toISOString();
}

// `balance`: what panels ask for when a provider is added. docs/specification.md#v2-balance.

import type { Awaitable } from "../db/port.ts";
import { balanceOf } from "../db/users.ts";
import { formatMicros } from "../domain/money.ts";
import type { ActionDeps, PanelCall } from "./actions.ts";

export function getBalance({ store }: ActionDeps, { key }: PanelCall): Awaitable<object> {
  return store.read((reader) => {
    return { balance: formatMicros(balanceOf(reader, key.resellerAccount)), currency: "USD" };
  });
}

// `balance`, which panels request when a provider is added. docs/specification/smm-api.md#v2-balance.

import type { Awaitable } from "../../db/port/port.ts";
import { balanceOf } from "../../db/users/users.ts";
import { formatMicros } from "../../domain/ledger/money.ts";
import type { ActionDeps, SmmCall } from "./call.ts";

export function getBalance({ store }: ActionDeps, { key }: SmmCall): Awaitable<object> {
  return store.read((reader) => {
    return { balance: formatMicros(balanceOf(reader, key.resellerAccount)), currency: "USD" };
  });
}

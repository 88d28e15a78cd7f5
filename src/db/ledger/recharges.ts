// Amounts that a key has recharged on a UTC day. A key and the keys it was rotated to are counted together, under the
// id of the first.

import type { Key } from "../users/keys.ts";
import type { Reader, Tx } from "../port/port.ts";
import { keyRecharges } from "../tables/users.ts";

type CountedKey = Pick<Key, "id" | "originId">;

const counterOf = ({ id, originId }: CountedKey) => originId ?? id;

/** Amount recharged on a day, in micros. The caller must hold the lock of the key's account. */
export function rechargedOn(reader: Reader, key: CountedKey, day: number): bigint {
  return reader.row(keyRecharges.byKey, counterOf(key), day)?.rechargedMicros ?? 0n;
}

/** Adds to the amount recharged on a day. The caller must hold the lock of the key's account. */
export function addRecharged(tx: Tx, key: CountedKey, day: number, amountMicros: number): void {
  const amount = BigInt(amountMicros);
  const row = tx.row(keyRecharges.byKey, counterOf(key), day);
  if (row) tx.update(keyRecharges, row, { rechargedMicros: row.rechargedMicros + amount });
  else tx.insert(keyRecharges, { keyId: counterOf(key), day, rechargedMicros: amount });
}

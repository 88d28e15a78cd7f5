// What each payment method credited lately, as the money report counts it.

import type { ReadStore } from "../db/port/port.ts";
import { DAY_MS } from "../domain/values/spans.ts";
import { readParts } from "./money.ts";

export const METHOD_DAYS = 30;

export interface MethodMoney {
  payments: number;
  /** Without bonuses, in millionths of a US dollar. */
  micros: bigint;
}

/** Returns the payments credited in the last UTC days up to today, by method. */
export async function readMethodMoney(
  store: ReadStore,
  now: number,
): Promise<ReadonlyMap<string, MethodMoney>> {
  const today = Math.floor(now / DAY_MS);
  const from = (today + 1 - METHOD_DAYS) * DAY_MS;
  const parts = await readParts(store, { from, to: (today + 1) * DAY_MS - 1 }, true);
  return new Map(
    parts.map(({ source, transfers: payments, micros }) => [
      source.replace(/^method /, ""),
      { payments, micros },
    ]),
  );
}

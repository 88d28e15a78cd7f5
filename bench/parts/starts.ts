// From exec to the first answered request, on a database without orders and on one of a million.

import type { Options } from "../options.ts";
import { databaseOf } from "../subjects/grown.ts";
import { type Market, market, reseller, serve } from "../subjects/reseller.ts";
import type { Results } from "../tools/results.ts";
import { sizeOf } from "./sizes.ts";

const STARTS_A_ROUND = 5;
export const MILLION = 1_000_000;

export async function starts(options: Options, results: Results): Promise<void> {
  const empty = await market();
  const million = await databaseOf(MILLION, options.cache);
  for (let start = 0; start < options.rounds * STARTS_A_ROUND; start += 1) {
    results.add("starts", sizeOf(0), reseller.name, "ms", await timeStart(empty));
    results.add("starts", sizeOf(MILLION), reseller.name, "ms", await timeStart(million));
  }
}

async function timeStart({ folder, keys }: Market): Promise<number> {
  const started = performance.now();
  const running = await serve(folder, keys);
  const response = await fetch(`${running.url}/api/v1/balance`, {
    headers: { "x-api-key": keys[0]! },
  });
  await response.text();
  const elapsed = performance.now() - started;
  await running.stop();
  if (!response.ok) throw new Error(`the first answer was a ${response.status}`);
  return elapsed;
}

// Whether a database that has grown slows orders down: 0, 1 and 10 million orders in it.

import type { Options } from "../options.ts";
import { databaseOf } from "../subjects/grown.ts";
import { reseller, serve } from "../subjects/reseller.ts";
import { inTurn, RESELLERS, type Subject } from "../subjects/subject.ts";
import type { Results } from "../tools/results.ts";
import { measureOrders } from "./orders.ts";

const CONNECTIONS = 128;

export async function sizes(options: Options, results: Results): Promise<void> {
  const grown: Subject[] = options.sizes.map((orders) => ({
    name: sizeOf(orders),
    async start(env) {
      if (orders === 0) return reseller.start(env);
      const { folder, keys } = await databaseOf(orders, options.cache);
      return serve(folder, keys, env);
    },
  }));
  const mode = { connections: CONNECTIONS, resellers: RESELLERS };
  await inTurn(grown, options.rounds, [mode], (running, { name }, measured) =>
    measureOrders(running, measured, options.seconds, name, (metric, value) =>
      results.add("sizes", name, reseller.name, metric, value),
    ),
  );
}

export function sizeOf(orders: number): string {
  return `${orders.toLocaleString("en")} orders in the database`;
}

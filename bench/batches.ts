// `bun bench/batches.ts OTHER_TREE [ROUNDS]`: what an order costs the writer's thread, batches of 512 on a database in memory, of
// this source tree beside another one, in alternating processes. The least of many batches is what other load on the
// machine cannot add to, where `threads.ts` varies by a fifth.

import { resolve } from "node:path";
import { print, tableOf } from "./tools/table.ts";

const BATCH = 512;
const BATCHES = 160;
const WARM_BATCHES = 60;
const CHILD = "--child";

const [first, second] = process.argv.slice(2);
if (first === CHILD) {
  process.stdout.write(JSON.stringify(await measure(second!)));
} else {
  if (!first) throw new Error("which other tree? bun bench/batches.ts OTHER_TREE [ROUNDS]");
  const trees = { other: resolve(first), this: resolve(import.meta.dir, "..") };
  const rounds: Record<string, number[]> = { other: [], this: [] };
  for (let round = 0; round < Number(second ?? 6); round += 1) {
    for (const [name, tree] of Object.entries(trees)) {
      const child = Bun.spawn([process.execPath, import.meta.path, CHILD, tree], {
        stdout: "pipe",
      });
      rounds[name]!.push(JSON.parse(await new Response(child.stdout).text()) as number);
    }
  }
  const rows = Object.entries(rounds).map(([name, least]) => [
    name,
    Math.min(...least).toFixed(2),
    least.map((each) => each.toFixed(2)).join(" "),
  ]);
  print(tableOf([["tree", "µs an order", "by round"], ...rows]));
}

/** Microseconds of processor time an order, in the cheapest batch. */
async function measure(tree: string): Promise<number> {
  const { Database } = await import("bun:sqlite");
  const { createSqliteStore } = (await import(`${tree}/src/db/sqlite/store.ts`)) as {
    createSqliteStore: (sqlite: object) => never;
  };
  const { migrate, MIGRATIONS } = (await import(`${tree}/src/storage/file/migrate.ts`)) as {
    migrate: (sqlite: object, migrations: unknown, now: number) => void;
    MIGRATIONS: unknown;
  };
  const { runBatch } = (await import(`${tree}/src/operations/batch/commands.ts`)) as {
    runBatch: (
      store: never,
      batch: object[],
      now: number,
    ) => { done?: { account?: number; id?: string } }[];
  };
  const sqlite = new Database(":memory:");
  migrate(sqlite, MIGRATIONS, 0);
  const store = createSqliteStore(sqlite);
  let ids = 0;
  const id = () => `b${String((ids += 1)).padStart(23, "0")}`;
  const run = (name: string, input: object) =>
    runBatch(store, [{ name, input, ids: [id()] }], 1000)[0]!.done!;
  const actor = { keyId: null, operator: "bench" };
  const { account } = run("createUser", { username: "r", name: "r", parent: null, actor });
  run("creditUser", { username: "r", amountMicros: 2 ** 52, note: null, actor });
  const key = { type: "order", reach: "all", label: "", hash: "0".repeat(64), start: "rk_" };
  const { id: keyId } = run("createKey", { username: "r", ...key, actor });
  const terms = { priceMicros: 1_000_000, per: "1000", min: 1, max: 10_000, private: false };
  run("createService", { id: "s", name: "S", ...terms, actor });
  const link = "https://example.com/me";
  const input = { resellerAccount: account, keyId, service: "s", link, quantity: 10 };
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < BATCHES; index += 1) {
    const batch = Array.from({ length: BATCH }, () => ({ name: "placeOrder", input, ids: [id()] }));
    const before = process.cpuUsage();
    const replies = runBatch(store, batch, 1000 + index);
    const { user, system } = process.cpuUsage(before);
    if (!replies.every((reply) => reply.done)) throw new Error("an order was not placed");
    if (index >= WARM_BATCHES) least = Math.min(least, (user + system) / BATCH);
  }
  return least;
}

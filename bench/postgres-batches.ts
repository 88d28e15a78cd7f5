// `bun bench/postgres-batches.ts OTHER_TREE [ROUNDS]`: what an order costs on PostgreSQL without HTTP, the process and the
// database apart, of this source tree beside another one, in alternating processes. The median batch of each, and of the
// rounds the least, is what other load on the machine changes least.

import { resolve } from "node:path";
import { startPostgres } from "./subjects/postgres.ts";
import { runToEnd, stopEverything } from "./tools/children.ts";
import { partMicroseconds } from "./tools/processes.ts";
import { median } from "./tools/results.ts";
import { print, tableOf } from "./tools/table.ts";

const BATCHES = 300;
const WARM_BATCHES = 150;
const CASES = [
  { what: "batches of 8", size: 8, keyed: false },
  { what: "batches of 64", size: 64, keyed: false },
  { what: "batches of 64, Idempotency-Key", size: 64, keyed: true },
];
const ACCOUNTS = 8;
const CHILD = "--child";
const ACTOR = { keyId: null, operator: "bench" };

/** Microseconds of processor time an order. */
interface Spent {
  process: number;
  database: number;
}

interface Tree {
  createPostgresStore: (address: object) => { close(): void };
  parseAddress: (text: string) => object;
  migrate: (address: object, now: number) => Promise<unknown>;
  runBatch: (
    store: object,
    batch: object[],
    now: number,
    seed: string,
  ) => Promise<{ done?: { account: number; id: string } }[]>;
}

const [first, second, third] = process.argv.slice(2);
if (first === CHILD) {
  process.stdout.write(JSON.stringify(await measure(second!, Number(third))));
  process.exit(0);
} else {
  if (!first)
    throw new Error("which other tree? bun bench/postgres-batches.ts OTHER_TREE [ROUNDS]");
  const trees = { other: resolve(first), this: resolve(import.meta.dir, "..") };
  const rounds: Record<string, Spent[][]> = { other: [], this: [] };
  try {
    for (let round = 0; round < Number(second ?? 4); round += 1) {
      const order = Object.entries(trees);
      for (const [name, tree] of round % 2 ? order.toReversed() : order) {
        const cluster = await startPostgres();
        const env = { DATABASE: `postgres://${cluster.user}@127.0.0.1:${cluster.port}/postgres` };
        const command = [process.execPath, import.meta.path, CHILD, tree, String(cluster.pid)];
        rounds[name]!.push(JSON.parse(await runToEnd(command, env)) as Spent[]);
        await cluster.stop();
      }
    }
    const least = (name: string, place: number, of: (spent: Spent) => number) =>
      Math.min(...rounds[name]!.map((each) => of(each[place]!)));
    const line = (title: string, place: number, of: (spent: Spent) => number) => {
      const [old, ours] = [least("other", place, of), least("this", place, of)];
      return [title, "", old.toFixed(1), ours.toFixed(1), (ours / old).toFixed(2)];
    };
    const rows = CASES.flatMap(({ what }, place) => [
      line(`${what}: process`, place, (spent) => spent.process),
      line(`${what}: database`, place, (spent) => spent.database),
      line(`${what}: both`, place, (spent) => spent.process + spent.database),
    ]);
    print(tableOf([["µs an order", "", "other", "this", "ratio"], ...rows]));
  } finally {
    await stopEverything();
  }
}

async function measure(tree: string, postmaster: number): Promise<Spent[]> {
  const { createPostgresStore } = (await import(`${tree}/src/db/postgres/batch/store.ts`)) as Tree;
  const { parseAddress } = (await import(`${tree}/src/db/postgres/connection/address.ts`)) as Tree;
  const { migrate } = (await import(`${tree}/src/db/postgres/schema/migrate.ts`)) as Tree;
  const { runBatch } = (await import(`${tree}/src/operations/batch/commands.ts`)) as Tree;
  const address = parseAddress(process.env["DATABASE"]!);
  await migrate(address, 0);
  const store = createPostgresStore(address);
  let made = 0;
  const fresh = () => `b${String((made += 1)).padStart(23, "0")}`;
  const run = async (name: string, input: object) => {
    const [reply] = await runBatch(store, [{ name, input, ids: [fresh()] }], 1000, fresh());
    if (!reply?.done) throw new Error(`${name}: ${JSON.stringify(reply)}`);
    return reply.done;
  };
  const resellers: { resellerAccount: number; keyId: string }[] = [];
  for (let index = 0; index < ACCOUNTS; index += 1) {
    const username = `r${index}`;
    const { account } = await run("createUser", {
      username,
      name: "r",
      parent: null,
      actor: ACTOR,
    });
    await run("creditUser", { username, amountMicros: 2 ** 52, note: null, actor: ACTOR });
    const hash = String(index).repeat(64);
    const key = { type: "order", reach: "all", label: "", hash, start: "rk_", actor: ACTOR };
    const { id } = await run("createKey", { username, ...key });
    resellers.push({ resellerAccount: account, keyId: id });
  }
  const terms = { priceMicros: 1_000_000, per: "1000", min: 1, max: 10_000, private: false };
  await run("createService", { id: "s", name: "S", ...terms, actor: ACTOR });
  const order = { service: "s", link: "https://example.com/me", quantity: 10, reference: null };
  const spent: Spent[] = [];
  for (const { size, keyed } of CASES) {
    const batches: Spent[] = [];
    for (let index = 0; index < BATCHES; index += 1) {
      const batch = Array.from({ length: size }, (_, place) => {
        const input = { ...order, ...resellers[place % ACCOUNTS] };
        const claim = { key: fresh(), requestHash: "0".repeat(64) };
        return keyed
          ? { name: "placeOrderOnce", input: { order: input, claim }, ids: [fresh()] }
          : { name: "placeOrder", input, ids: [fresh()] };
      });
      const seed = fresh();
      const before = { database: databaseMicroseconds(postmaster), process: process.cpuUsage() };
      const replies = await runBatch(store, batch, 1_700_000_000_000 + index, seed);
      const { user, system } = process.cpuUsage(before.process);
      const database = databaseMicroseconds(postmaster) - before.database;
      if (!replies.every((reply) => reply.done)) throw new Error(JSON.stringify(replies[0]));
      batches.push({ process: (user + system) / size, database: database / size });
    }
    const counted = batches.slice(WARM_BATCHES);
    spent.push({
      process: median(counted.map((each) => each.process)),
      database: median(counted.map((each) => each.database)),
    });
  }
  store.close();
  return spent;
}

function databaseMicroseconds(postmaster: number): number {
  return partMicroseconds([postmaster])["backends"] ?? 0;
}

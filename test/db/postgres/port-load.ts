// `bun test/db/postgres/port-load.ts <port> <database> <seed>`: one of several servers on a database. Batches that move money
// between users and touch shared rows, in every order. Prints how many commands were done and what failed.

import type { Tx } from "../../../src/db/port/port.ts";
import { parseAddress } from "../../../src/db/postgres/connection/address.ts";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import { services } from "../../../src/db/tables/catalogue.ts";
import { keys, users } from "../../../src/db/tables/users.ts";
import { query } from "../../../src/db/port/query.ts";
import { fields, select } from "../../../src/db/port/query.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";

const BATCHES = 150;
const BATCH_LIMIT = 20;
const IN_FLIGHT = 4;

const [port, database, seed] = process.argv.slice(2);
const store = createPostgresStore(
  parseAddress(`postgres://postgres@127.0.0.1:${port}/${database}`),
);
const random = randomFrom(Number(seed));
const ALL_KEYS = query({
  columns: fields(keys, "id", "resellerAccount"),
  text: `SELECT ${select(keys, "id", "resellerAccount")} FROM keys ORDER BY keys.id`,
});
const all = await store.read((reader) => reader.all(ALL_KEYS));

function anyCommand(): (tx: Tx) => unknown {
  const from = all[below(random, all.length)]!;
  const to = all[below(random, all.length)]!;
  const amount = below(random, 10);
  switch (below(random, 6)) {
    case 0:
      return (tx) => tx.update(keys, from, { lastUsedAt: amount });
    case 1:
      return (tx) => tx.update(services, { id: "service" }, { priceMicros: amount });
    case 2:
      return (tx) => tx.update(keys, from, { label: `label ${amount}` });
    default:
      return (tx) => {
        const { balanceMicros } = tx.row(users.byKey, from.resellerAccount)!;
        if (balanceMicros < amount) throw new Error("poor");
        tx.update(
          users,
          { account: from.resellerAccount },
          { balanceMicros: balanceMicros - BigInt(amount) },
        );
        const other = tx.row(users.byKey, to.resellerAccount)!;
        tx.update(users, other, { balanceMicros: other.balanceMicros + BigInt(amount) });
      };
  }
}

let done = 0;
const failures = new Map<string, number>();
await Promise.all(
  Array.from({ length: IN_FLIGHT }, async () => {
    for (let batch = 0; batch < BATCHES / IN_FLIGHT; batch += 1) {
      const jobs = Array.from({ length: 1 + below(random, BATCH_LIMIT) }, () => ({
        run: anyCommand(),
      }));
      for (const outcome of await store.runBatch(jobs)) {
        if ("done" in outcome) done += 1;
        else {
          const { message } = outcome.threw as Error;
          failures.set(message, (failures.get(message) ?? 0) + 1);
        }
      }
    }
  }),
);
await store.close();
process.stdout.write(JSON.stringify({ done, failures: Object.fromEntries(failures) }));

// `bun test/system/crash/payments.ts [rounds] [seed]`: the compiled binary, killed at a random moment while a payment program
// reports what it received. After each kill every acknowledged payment is credited exactly once, nothing else is, and
// verify is clean; after the restart what was not acknowledged is sent again and has one effect.

import { rmSync } from "node:fs";
import { startServerProcess } from "../../support/binary.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { freshFolder } from "../../support/folders.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { METHOD, SECRET, sendNotice } from "./payment-notices.ts";

const RESELLERS = 10;
/** Below the limit of open payments of a reseller. */
const PAYMENTS = 15;
const CONNECTIONS = 8;
const LIFE_MILLISECONDS = 150;

const rounds = Number(process.argv[2] ?? 20);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
let [acknowledged, repeated] = [0, 0];
console.log(`${rounds} rounds, seed ${seed}`);

for (let round = 0; round < rounds; round += 1) await liveAndDie(round);
console.log(
  `ok: ${rounds} rounds, ${acknowledged} payments acknowledged, each credited exactly once; ${repeated} were sent again`,
);

async function liveAndDie(round: number): Promise<void> {
  const folder = freshFolder();
  const database = freshDatabase(folder);
  seedMethod(database, METHOD, "callback", { settings: JSON.stringify({ secret: SECRET }) });
  const ids = Array.from({ length: RESELLERS }, (_, index) =>
    seedMember(database, `reseller${index}`),
  ).flatMap((actor) =>
    Array.from({ length: PAYMENTS }, () =>
      askPayment(database, { methodId: METHOD, actor, now: Date.now() }),
    ),
  );
  database.connection.sqlite.close();
  const taken = new Set<string>();
  const server = await startServerProcess({ data: folder });
  let isAlive = true;
  const killed = Bun.sleep(below(random, LIFE_MILLISECONDS)).then(() => {
    isAlive = false;
    return server.kill();
  });
  await report(server.url, ids, taken, () => isAlive);
  await killed;
  await check(folder, ids, taken, `round ${round}, after the kill`);
  const again = await startServerProcess({ data: folder });
  const left = ids.filter((id) => !taken.has(id));
  repeated += left.length;
  // What was acknowledged is sent again too: a program need not know what arrived.
  await report(again.url, ids, taken, () => true);
  if (taken.size !== ids.length)
    fail([`${ids.length - taken.size} not acknowledged`], "at the end");
  if ((await again.stop()) !== 0) fail(["serve did not stop in order"], `round ${round}`);
  await check(folder, ids, taken, `round ${round}, at the end`);
  acknowledged += taken.size;
  rmSync(folder, { recursive: true });
}

/** Reports all payments, some twice at the same moment. */
async function report(
  url: string,
  ids: readonly string[],
  taken: Set<string>,
  more: () => boolean,
): Promise<void> {
  const queue = [...ids, ...ids.filter(() => random() < 0.3)];
  const lane = async () => {
    for (let id = queue.shift(); id !== undefined && more(); id = queue.shift()) {
      if ((await sendNotice(url, { payment: id, id: `t-${id}` })) === 200) taken.add(id);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

async function check(
  folder: string,
  ids: readonly string[],
  taken: ReadonlySet<string>,
  when: string,
): Promise<void> {
  const database = freshDatabase(folder);
  const rows = database.query<{ id: string; state: string; credits: number; micros: number }>(
    `SELECT id, state, count(transfers.seq) AS credits, coalesce(sum(transfers.amount_micros), 0) AS micros
     FROM payments LEFT JOIN payment_transfers ON payment_transfers.payment_id = payments.payment_id
       LEFT JOIN transfers ON transfers.seq = payment_transfers.seq GROUP BY id, state`,
  );
  const problems = rows.flatMap(({ id, state, credits, micros }) => {
    const isPaid = state === "paid";
    if (taken.has(id) && !isPaid) return [`${id} was acknowledged and is ${state}`];
    if (credits !== (isPaid ? 1 : 0) || micros !== (isPaid ? 10 * DOLLAR : 0)) {
      return [`${id} is ${state} and was credited ${credits} times, ${micros}`];
    }
    return [];
  });
  if (rows.length !== ids.length) problems.push(`${rows.length} payments of ${ids.length}`);
  problems.push(...(await verifyStore(database)).map((each) => JSON.stringify(each)));
  database.close();
  if (problems.length > 0) fail(problems, `${when}, ${folder}`);
}

function fail(problems: readonly string[], when: string): never {
  console.error(`${when}, seed ${seed}:\n${problems.slice(0, 20).join("\n")}`);
  process.exit(1);
}

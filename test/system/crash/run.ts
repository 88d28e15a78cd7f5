// `bun run test:crash [rounds] [seed]`: the compiled binary under load, killed at a random moment, started again.
// After each kill: every acknowledged order and recharge exists exactly once, nothing that was refused is,
// verify is clean; after the restart those in flight are sent again and have one effect each.
// Shows docs/specification/README.md#guarantee-durable, docs/specification/README.md#guarantee-once.

import { rmSync } from "node:fs";
import {
  problemsOf,
  prepareLoad,
  send,
  sendLoad,
  someConnections,
  type Wish,
} from "../../support/random/wishes.ts";
import { startServerProcess } from "../../support/binary.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";

/** A database is given up after so many rounds: verifying it takes longer as it grows. */
const ROUNDS_PER_DATABASE = 25;
/** The kill comes at most so long after the first request. */
const LIFE_MILLISECONDS = 250;

const rounds = Number(process.argv[2] ?? 20);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
let acknowledged = 0;
let retried = 0;
console.log(`${rounds} rounds, seed ${seed}`);

for (let done = 0; done < rounds;) {
  const folder = freshFolder();
  const database = freshDatabase(folder);
  const key = prepareLoad(database);
  database.connection.sqlite.close();
  const wishes: Wish[] = [];
  for (let round = 0; round < ROUNDS_PER_DATABASE && done < rounds; round++) {
    await liveAndDie(folder, key, wishes);
    await check(folder, wishes, `round ${done}`);
    done++;
    if (done % 50 === 0) console.log(`${done} rounds, ${acknowledged} acknowledged`);
  }
  await settle(folder, key, wishes);
  await check(folder, wishes, `after round ${done}`);
  acknowledged += wishes.filter(({ answer }) => answer?.status === 200).length;
  rmSync(folder, { recursive: true });
}
console.log(
  `ok: ${rounds} rounds, ${acknowledged} orders and recharges acknowledged, each there exactly once; ` +
    `${retried} were sent again after a kill and had one effect; verify clean after every kill`,
);

/** One life of the server: what was unanswered is sent again, then new wishes, until the kill. */
async function liveAndDie(folder: string, key: string, wishes: Wish[]): Promise<void> {
  const server = await startServerProcess({ data: folder });
  const inFlight = wishes.filter(({ answer }) => answer === null);
  let alive = true;
  const killed = Bun.sleep(below(random, LIFE_MILLISECONDS)).then(() => {
    alive = false;
    return server.kill();
  });
  retried += inFlight.length;
  await Promise.all(inFlight.map((wish) => send(server.url, key, wish)));
  const sent = await sendLoad(server.url, key, {
    first: wishes.length,
    connections: someConnections(random),
    random,
    more: () => alive,
  });
  wishes.push(...sent);
  await killed;
}

/** The last life: everything unanswered is sent until it is answered, and the server stops in order. */
async function settle(folder: string, key: string, wishes: readonly Wish[]): Promise<void> {
  const server = await startServerProcess({ data: folder });
  for (const wish of wishes.filter(({ answer }) => answer === null)) {
    retried++;
    await send(server.url, key, wish);
    if (wish.answer === null) fail([`wish ${wish.number} was never answered`], "at the end");
  }
  const exitCode = await server.stop();
  if (exitCode !== 0) fail([`serve stopped with exit ${exitCode}`], "at the end");
}

async function check(folder: string, wishes: readonly Wish[], when: string): Promise<void> {
  const problems = await problemsOf(folder, wishes);
  if (problems.length > 0) fail(problems, `${when}, ${folder}`);
}

function fail(problems: readonly string[], when: string): never {
  console.error(`${when}, seed ${seed}:\n${problems.slice(0, 20).join("\n")}`);
  process.exit(1);
}

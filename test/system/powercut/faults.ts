// `bun run test:faults [calls] [seed]`: the n-th call on the database's files fails, for every n of a range, once with
// EIO and once with ENOSPC (for some calls in a row). Whatever the server then does: what it acknowledged is there
// once, what it refused is not, verify is clean after a restart, and every wish can be fulfilled then.
// With ENOSPC it must go on without a restart; with EIO it may end, and then says so and exits non-zero.
// Shows docs/specification/README.md#guarantee-refused, docs/specification/README.md#guarantee-full-disk, docs/specification/README.md#guarantee-damage.

import { cpSync, rmSync } from "node:fs";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { freshDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { type ServerProcess, startServerProcess } from "../../support/binary.ts";
import { problemsOf, prepareLoad, send, sendLoad, type Wish } from "../../support/random/wishes.ts";
import { compileShim } from "./shim.ts";

const WISHES = 80;
const CONNECTIONS = 8;
/** How many calls in a row find the disk full, at most. */
const FULL_CALLS = 40;

const calls = Number(process.argv[2] ?? 30);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const shim = await compileShim();
const prepared = freshFolder();
const database = freshDatabase(prepared);
const key = prepareLoad(database);
database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
database.connection.sqlite.close();

const tally = { notStarted: 0, ended: 0, wentOn: 0, acknowledged: 0, refused: 0 };
for (const kind of ["EIO", "ENOSPC"]) {
  for (let call = 1; call <= calls; call++) {
    // Every call at first, then further and further into the load.
    const nth = call <= 60 ? call : call + below(random, 4 * call);
    const count = kind === "EIO" ? 1 : 1 + below(random, FULL_CALLS);
    await fault(kind, nth, count);
  }
  console.log(`${kind}: ${calls} faults`, JSON.stringify(tally));
}
console.log(
  `ok: ${2 * calls} faults, nothing acknowledged was lost, no answer was wrong (seed ${seed})`,
);

async function fault(kind: string, nth: number, count: number): Promise<void> {
  const folder = freshFolder();
  cpSync(prepared, folder, { recursive: true });
  const what = `${kind} on call ${nth}, ${count} times, seed ${seed}`;
  const environment = shim.environment(folder, { fault: `${kind}:${nth}:${count}` });
  const server = await startServerProcess({ data: folder, environment }).catch((error) => {
    // One that does not end is killed, and that is another code.
    if (!String(error).includes("(exit 1)")) fail([String(error)], what);
    return null;
  });
  const wishes = server ? await loadOn(server, kind, what) : [];
  if (!server) tally.notStarted++;
  await check(folder, wishes, what);
  await fulfil(folder, wishes, what);
  rmSync(folder, { recursive: true });
}

/** Sends a load and sees the server off. */
async function loadOn(server: ServerProcess, kind: string, what: string): Promise<Wish[]> {
  const more = (sent: number) => sent < WISHES;
  const wishes = await sendLoad(server.url, key, {
    first: 0,
    connections: CONNECTIONS,
    random,
    more,
  });
  const ended = await Promise.race([server.exited, Bun.sleep(0).then(() => null)]);
  const exitCode = ended ?? (await server.stop());
  for (const { answer } of wishes) {
    if (answer?.status === 200) tally.acknowledged++;
    else if (answer?.status === 503) tally.refused++;
    else if (answer && answer.status !== 500) fail([`answered ${answer.status}`], what);
  }
  const died = ended !== null || wishes.some(({ answer }) => answer === null);
  if (died) tally.ended++;
  else tally.wentOn++;
  if (died && exitCode === 0) fail(["it ended with exit 0"], what);
  if (died && !server.log().includes("stopping"))
    fail([`it ended without a word: ${server.log()}`], what);
  if (died && kind === "ENOSPC") fail([`it ended for want of room: ${server.log()}`], what);
  return wishes;
}

/** A server without faults fulfils what is left. */
async function fulfil(folder: string, wishes: readonly Wish[], what: string): Promise<void> {
  const server = await startServerProcess({ data: folder });
  for (const wish of wishes) {
    if (wish.answer?.status !== 200) await send(server.url, key, wish);
    if (wish.answer?.status !== 200) fail([`wish ${wish.number} cannot be fulfilled`], what);
  }
  await server.stop();
  await check(folder, wishes, what);
}

async function check(folder: string, wishes: readonly Wish[], what: string): Promise<void> {
  const problems = await problemsOf(folder, wishes);
  if (problems.length > 0) fail(problems, what);
}

function fail(problems: readonly string[], what: string): never {
  console.error(`${what}:\n${problems.slice(0, 20).join("\n")}`);
  process.exit(1);
}

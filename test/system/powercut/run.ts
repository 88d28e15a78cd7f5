// `bun run test:powercut [images] [seed] [--synchronous-normal]`: power cuts, replayed.
// The binary's writes, syncs and responses are traced under load; the trace is cut anywhere, unsynced writes are
// dropped, kept, cut off, reordered or torn, and the server's own code opens what is left. Each image must be
// intact, add up, and hold every order, recharge and payment that was acknowledged before the cut, once.
// With --synchronous-normal a binary is built that does not sync its commits: it must be seen to lose some.
// Shows docs/specification/README.md#guarantee-durable, docs/specification/README.md#guarantee-once, docs/specification/README.md#guarantee-together.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Connection } from "../../../src/db/sqlite/connection.ts";
import { claimDataDirectory, openForCommand } from "../../../src/storage/file/open.ts";
import { verify } from "../../../src/storage/doctor/verify.ts";
import { effects, prepareLoad, sendLoad } from "../../support/random/wishes.ts";
import { BINARY, startServerProcess } from "../../support/binary.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { freshDatabase, type TestDatabase } from "../../support/databases/test-database.ts";
import { freshFolder } from "../../support/folders.ts";
import { askPayment, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { METHOD, SECRET, sendNotice } from "../crash/payment-notices.ts";
import { diskOf, FATES } from "./disk.ts";
import { compileShim } from "./shim.ts";
import { Operation, readTrace, type TraceRecord } from "./trace.ts";

/** Orders and recharges in one life of the server: enough for the write-ahead log to be checkpointed. */
const WISHES_PER_LIFE = 3000;
/** Resellers whose payments a program reports during the orders; each has fewer open payments than it may. */
const PAYERS = 20;
const PAYMENTS_PER_PAYER = 15;
const CONNECTIONS = 16;
const IMAGES_PER_LIFE = 250;
const FIRST_START_IMAGES = 20;
const LOSSES_SHOWN = 10;
const DATABASE = "reseller.db";
/** The id of the request is that of the payment. */
const PAYMENT_ANSWER = /^HTTP\/1\.1 200 [^]*?\r\nx-request-id: (\w{24})\r\n/i;

const words = process.argv.slice(2);
const unsafe = words.includes("--synchronous-normal");
const [images = 600, seed = Date.now() % 1_000_000] = words
  .filter((word) => /^\d+$/.test(word))
  .map(Number);
const random = randomFrom(seed);
const shim = await compileShim();
const binary = unsafe ? await buildUnsafe() : BINARY;
/** In memory where there is such a place: an image lives for some milliseconds. */
const imageFolder = mkdtempSync(
  join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "reseller-image-"),
);
process.on("exit", () => rmSync(imageFolder, { recursive: true, force: true }));

const tally = { images: 0, lost: 0, acknowledged: 0, traces: 0, checkpoints: 0 };
console.log(`${images} images, seed ${seed}${unsafe ? ", synchronous=NORMAL" : ""}`);
while (tally.images < images) {
  const folder = freshFolder();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  await liveOnce(folder, null, FIRST_START_IMAGES);
  const database = freshDatabase(folder);
  const key = prepareLoad(database);
  const payments = preparePayments(database);
  const half = payments.length / 2;
  database.connection.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.connection.sqlite.close();
  const lives = [
    { key, first: 0, payments: payments.slice(0, half) },
    { key, first: WISHES_PER_LIFE, payments: payments.slice(half) },
  ];
  for (const life of lives) await liveOnce(folder, life, IMAGES_PER_LIFE);
  rmSync(folder, { recursive: true });
  console.log(`${tally.images} images, ${tally.lost} with a loss`);
}
console.log(
  `${tally.lost === 0 ? "ok" : "LOST"}: ${tally.images} images of ${tally.traces} traces, ` +
    `${tally.acknowledged} acknowledgements looked up, ${tally.checkpoints} checkpoints amid the load, ` +
    `${tally.lost} images with a loss (seed ${seed})`,
);
if (tally.traces > 1 && tally.checkpoints === 0) {
  console.log("no checkpoint came amid the load: place more orders in a life");
  process.exit(1);
}
process.exit(tally.lost > 0 === unsafe ? 0 : 1);

/** One life of the server under the shim, with its power cut at many places. */
async function liveOnce(
  folder: string,
  load: { key: string; first: number; payments: string[] } | null,
  count: number,
): Promise<void> {
  const before = freshFolder();
  cpSync(folder, before, { recursive: true });
  const trace = join(freshFolder(), "trace");
  const environment = shim.environment(folder, { trace });
  const server = await startServerProcess({ data: folder, binary, environment });
  if (load) {
    const more = (sent: number) => sent < WISHES_PER_LIFE;
    const { key, first, payments } = load;
    await Promise.all([
      sendLoad(server.url, key, { first, connections: CONNECTIONS, random, more }),
      reportAll(server.url, payments),
    ]);
  }
  await server.stop();
  const records = readTrace(trace);
  tally.traces++;
  tally.checkpoints += checkpointsAmid(records);
  await cutAnywhere(before, records, Math.min(count, images - tally.images));
  rmSync(before, { recursive: true });
  rmSync(trace);
}

/** Payments that a program is to report; returns their ids. */
function preparePayments(database: TestDatabase): string[] {
  seedMethod(database, METHOD, "callback", { settings: JSON.stringify({ secret: SECRET }) });
  return Array.from({ length: PAYERS }, (_, index) => {
    const actor = seedMember(database, `payer${index}`);
    const ask = () => askPayment(database, { methodId: METHOD, actor, now: Date.now() });
    return Array.from({ length: PAYMENTS_PER_PAYER }, ask);
  }).flat();
}

async function reportAll(url: string, payments: readonly string[]): Promise<void> {
  for (const payment of payments) {
    const status = await sendNotice(url, { payment, id: `t-${payment}` });
    if (status !== 200) throw new Error(`a notice was answered with ${status}`);
  }
}

/** What the database holds of orders, recharges and payments. */
function allEffects(connection: Connection) {
  const credits = connection.sqlite
    .query(
      `SELECT id, count(*) AS times FROM payment_transfers JOIN payments USING (payment_id)
      WHERE kind = 'payment' GROUP BY id`,
    )
    .all() as { id: string; times: number }[];
  const found = effects(connection);
  for (const { id, times } of credits) found.set(id, { times, orderId: null });
  return found;
}

/** Checkpoints that were followed by more answers: the log began anew in between. */
function checkpointsAmid(records: readonly TraceRecord[]): number {
  const last = records.findLastIndex(({ operation }) => operation === Operation.Answer);
  const amid = records.slice(0, Math.max(0, last));
  return amid.filter(({ operation, file }) => operation === Operation.Sync && file === DATABASE)
    .length;
}

async function cutAnywhere(
  before: string,
  records: readonly TraceRecord[],
  count: number,
): Promise<void> {
  const cuts = cutPoints(records, count);
  const disk = diskOf(before);
  const told = new Map<string, number | null>(acknowledgedIn(before));
  let at = 0;
  for (const cut of cuts) {
    for (; at < cut; at++) {
      const record = records[at]!;
      disk.apply(record);
      if (record.operation === Operation.Answer) recordRequest(record.data.toString(), told);
    }
    const folder = join(imageFolder, "image");
    mkdirSync(folder);
    const fate = FATES[below(random, FATES.length)]!;
    disk.cut(folder, fate, random);
    const problems = await judge(folder, told);
    tally.images++;
    tally.acknowledged += told.size;
    if (problems.length > 0) {
      tally.lost++;
      if (tally.lost <= LOSSES_SHOWN) {
        console.log(
          `cut at ${cut} of ${records.length}, unsynced writes ${fate}: ${problems.length} problems: ${problems[0]}`,
        );
      }
    }
    rmSync(folder, { recursive: true });
  }
}

/** A third right after an answer, a third right before a sync, a third anywhere. */
function cutPoints(records: readonly TraceRecord[], count: number): number[] {
  const places = (wanted: Operation, shift: number) =>
    records.flatMap(({ operation }, index) => (operation === wanted ? [index + shift] : []));
  const choices = [places(Operation.Answer, 1), places(Operation.Sync, 0)];
  return Array.from({ length: count }, (_, index) => {
    const choice = choices[index % 3];
    return choice && choice.length > 0
      ? choice[below(random, choice.length)]!
      : below(random, records.length + 1);
  }).sort((a, b) => a - b);
}

/** Opens an image as a server's start does and says what is wrong with it. */
async function judge(folder: string, told: ReadonlyMap<string, number | null>): Promise<string[]> {
  try {
    claimDataDirectory(folder, Date.now()).release();
    const connection = openForCommand(folder);
    try {
      const problems = (await verify(connection)).problems.map(
        ({ check, subject, problem }) => `${check}: ${subject}: ${problem}`,
      );
      const found = allEffects(connection);
      for (const [name, orderId] of told) {
        const effect = found.get(name);
        if (effect?.times !== 1 || effect.orderId !== orderId)
          problems.push(`${name} was acknowledged and is not there once`);
      }
      for (const [name, { times }] of found)
        if (times > 1) problems.push(`${name} is there ${times} times`);
      return problems;
    } finally {
      connection.sqlite.close();
    }
  } catch (error) {
    return [`it cannot be opened: ${String(error)}`];
  }
}

/** What an earlier life acknowledged: all that a stopped server left. */
function acknowledgedIn(folder: string): [string, number | null][] {
  if (!existsSync(join(folder, "reseller.db"))) return [];
  const copy = freshFolder();
  cpSync(folder, copy, { recursive: true });
  const connection = openForCommand(copy);
  const found = allEffects(connection);
  connection.sqlite.close();
  rmSync(copy, { recursive: true });
  return [...found].map(([name, { orderId }]) => [name, orderId]);
}

/** Notes the order, the recharge or the payment that an answer acknowledged. */
function recordRequest(text: string, told: Map<string, number | null>): void {
  const body = text.slice(text.indexOf("\r\n\r\n") + 4);
  const payment = PAYMENT_ANSWER.exec(text)?.[1];
  if (payment !== undefined) told.set(payment, null);
  if (!text.startsWith("HTTP/1.1 200") || !body.startsWith('{"status":"success"')) return;
  const answer = JSON.parse(body) as { order?: { link: string; orderId: number }; amount?: number };
  if (answer.order) told.set(answer.order.link, answer.order.orderId);
  else if (answer.amount !== undefined) told.set(String(Math.round(answer.amount * 1e6)), null);
}

/** The same program, its commits not synced. */
async function buildUnsafe(): Promise<string> {
  const root = new URL("../../..", import.meta.url).pathname;
  const copy = freshFolder();
  for (const part of [
    "src",
    "migrations",
    "deploy",
    "docs",
    "package.json",
    "tsconfig.json",
    "bun.lock",
    "bunfig.toml",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  cpSync(join(root, "node_modules"), join(copy, "node_modules"), { recursive: true });
  const open = join(copy, "src/storage/file/open.ts");
  const source = readFileSync(open, "utf8");
  const patched = source.replaceAll("synchronous = FULL", "synchronous = NORMAL");
  if (patched === source)
    throw new Error("src/storage/file/open.ts does not set synchronous = FULL");
  writeFileSync(open, patched);
  const build = Bun.spawn([process.execPath, "run", "build"], {
    cwd: copy,
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0) throw new Error("the patched program does not build");
  return join(copy, "dist/reseller");
}

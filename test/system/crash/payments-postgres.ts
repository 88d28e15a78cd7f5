// `bun test/system/crash/payments-postgres.ts [rounds] [seed]`: two servers, the compiled binary, on one PostgreSQL
// database. One or both are killed at a random moment while a payment program reports what it received, doubled and
// reordered, to either, the operator approves payments in the panels of both, and the members get e-mails. After each
// kill, and again once all was repeated: every acknowledged payment is credited exactly once, nothing else is, the
// balances are what this script counted, and verify is clean. Every credit is told by e-mail to the member, a second time
// only from a server that was killed, and then with the same Message-ID.

import { freshPostgresDatabase } from "../../support/databases/test-database.ts";
import { SERVICE_ROLE } from "../../support/databases/postgres.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { runBinary, type ServerProcess, startServerProcess } from "../../support/binary.ts";
import { freshFolder } from "../../support/folders.ts";
import { startScriptedMailServer } from "../../support/peers/scripted-mail-server.ts";
import { freePort } from "../../support/ports.ts";
import { below, randomFrom } from "../../support/random/seeded.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../../support/seeds/payments.ts";
import { hiddenFields } from "../../support/worlds/panel.ts";
import { METHOD, SECRET, sendNotice } from "./payment-notices.ts";

const SERVERS = 2;
const RESELLERS = 5;
/** Of a reseller, in each round: below the limit of open payments. */
const PAYMENTS = 12;
const CONNECTIONS = 8;
/** Credited for money in another currency. */
const EXACT = 7;
/** Limit for the e-mails that a server sends at a time. */
const IN_FLIGHT = 4;
const PASSWORD = "several easy words";

const rounds = Number(process.argv[2] ?? 20);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
console.log(`${rounds} rounds on PostgreSQL with two servers, seed ${seed}`);

/** Reported by the program; by the program in another currency, and approved; claimed by the customer, and approved. */
type Kind = "reported" | "foreign" | "claimed";
interface Payment {
  id: string;
  reseller: string;
  kind: Kind;
  /** Whether the program or the operator was told that the credit is recorded. */
  isAcknowledged: boolean;
}

const database = freshPostgresDatabase();
const owner = database.location.database!;
const address = owner.replace("//postgres@", `//${SERVICE_ROLE}@`);
const mails = await startScriptedMailServer(() => null);
const places = Array.from({ length: SERVERS }, (_, index) => ({
  data: freshFolder(),
  name: `server${index}`,
  panel: `127.0.0.1:${freePort()}`,
}));
const all: Payment[] = [];
const sums = { kills: 0, unacknowledged: 0 };

seedMethod(database, METHOD, "callback", { settings: JSON.stringify({ secret: SECRET }) });
seedMethod(database, "bank", "manual");
const resellers = Array.from({ length: RESELLERS }, (_, index) => `reseller${index}`);
const actors = resellers.map((name) => seedMember(database, name));
const servers = await Promise.all(places.map(start));
const cookie = await signIn();

for (let round = 0; round < rounds; round += 1) await liveAndDie(round);
for (const server of servers) {
  if ((await server.stop()) !== 0) fail(["serve did not stop in order"], server.log());
}
const verified = await runBinary(["verify", "--database", owner, "--data", freshFolder()]);
if (verified.exitCode !== 0) fail([verified.stderr], "verify");
await mails.close();
const told = new Set(mails.arrived.map(({ messageId }) => messageId)).size;
console.log(
  `ok: ${rounds} rounds, ${sums.kills} servers killed, ${all.length} payments acknowledged, each credited exactly once; ` +
    `${sums.unacknowledged} were not yet acknowledged when a server died; ${told} e-mails, ${mails.arrived.length - told} of them twice`,
);
process.exit(0);

function start({ data, name, panel }: (typeof places)[number]): Promise<ServerProcess> {
  const mail = `--smtp smtp://127.0.0.1:${mails.port} --mail-from orders@nova.example --mail-per-hour 1000`;
  const rest = `--portal --backup-every 0 --panel-listen ${panel} --server ${name} --database ${address}`;
  return startServerProcess({ data, arguments: `${mail} ${rest}`.split(" ") });
}

async function signIn(): Promise<string> {
  const { data, panel } = places[0]!;
  const invite = `panel invite olga --database ${owner} --data ${data} --json`.split(" ");
  const { stdout, stderr, exitCode } = await runBinary(invite);
  if (exitCode !== 0) throw new Error(stderr);
  const { link } = JSON.parse(stdout) as { link: string };
  const entered = await fetch(`http://${panel}/setup`, {
    method: "POST",
    body: new URLSearchParams({ token: link.split("#").at(-1)!, password: PASSWORD }),
    headers: { origin: `http://${panel}` },
    redirect: "manual",
  });
  return entered.headers.get("set-cookie")!.split(";")[0]!;
}

async function liveAndDie(round: number): Promise<void> {
  const asked = ask();
  all.push(...asked);
  const first = below(random, SERVERS);
  // One, or both at the same moment, after some of the answers.
  const killed = random() < 0.4 ? [0, 1] : [first];
  let left = 1 + below(random, asked.length);
  const deaths: Promise<void>[] = [];
  await settle(asked, () => {
    left -= 1;
    if (left === 0) deaths.push(...killed.map((place) => servers[place]!.kill()));
    return left > 0;
  });
  if (deaths.length === 0) deaths.push(...killed.map((place) => servers[place]!.kill()));
  await Promise.all(deaths);
  sums.kills += killed.length;
  sums.unacknowledged += asked.filter(({ isAcknowledged }) => !isAcknowledged).length;
  await check(`round ${round}, after the kill`);
  for (const place of killed) servers[place] = await start(places[place]!);
  // What was acknowledged is sent again too: a program need not know what arrived.
  await settle(asked, () => true);
  const open = asked.filter(({ isAcknowledged }) => !isAcknowledged);
  if (open.length > 0)
    fail(
      open.map(({ id, kind }) => `${id}, ${kind}: not acknowledged`),
      "at the end",
    );
  await check(`round ${round}, at the end`);
  await checkMails(`round ${round}, e-mails`);
  if ((round + 1) % 5 === 0) console.log(`${round + 1} rounds, ${all.length} payments`);
}

function ask(): Payment[] {
  const now = Date.now();
  return actors.flatMap((actor, index) =>
    Array.from({ length: PAYMENTS }, (_, place): Payment => {
      const kind = place % 4 === 0 ? "claimed" : place % 4 === 1 ? "foreign" : "reported";
      const methodId = kind === "claimed" ? "bank" : METHOD;
      const id = askPayment(database, { methodId, actor, now });
      if (kind === "claimed") {
        const said = { id, reference: "t", file: null, isClaimed: true, actor };
        database.execute("claimPayment", said, now);
      }
      return { id, reseller: resellers[index]!, kind, isAcknowledged: false };
    }),
  );
}

/** Has everything reported and approved in any order, some of it twice, at any server. */
async function settle(asked: readonly Payment[], more: () => boolean): Promise<void> {
  const steps = asked.flatMap((payment): (() => Promise<void>)[] => {
    const again = random() < 0.3 ? [payment] : [];
    const some = [payment, ...again];
    if (payment.kind === "claimed") return some.map((each) => () => approve(each));
    if (payment.kind === "reported") return some.map((each) => () => report(each));
    return some.map((each) => async () => {
      await report(each);
      await approve(each);
    });
  });
  const queue = shuffled(steps);
  const lane = async () => {
    for (let step = queue.shift(); step && more(); step = queue.shift()) await step();
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, lane));
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** The program sometimes reports under two ids of its own: one is taken, and the other is answered with 409. */
async function report(payment: Payment): Promise<void> {
  const id = `${random() < 0.2 ? "u" : "t"}-${payment.id}`;
  const currency = payment.kind === "foreign" ? "EUR" : "USD";
  const { url } = servers[below(random, SERVERS)]!;
  const status = await sendNotice(url, { payment: payment.id, id, currency });
  const isPaid = payment.kind === "reported" && (status === 200 || status === 409);
  if (isPaid) payment.isAcknowledged = true;
  if (![200, 409, 503, null].includes(status)) fail([`${payment.id}: ${status}`], "a notice");
}

/** 422: it was approved before. That is no acknowledgement, but nothing is left to do. */
async function approve(payment: Payment): Promise<void> {
  const { panel } = places[below(random, SERVERS)]!;
  const send = (fields: Record<string, string>) =>
    fetch(`http://${panel}/payments/${payment.id}/approve`, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { origin: `http://${panel}`, cookie },
      redirect: "manual",
    });
  const fields = { received: "", credit: payment.kind === "foreign" ? String(EXACT) : "" };
  try {
    let response = await send(fields);
    if (response.status === 200) {
      response = await send({ ...hiddenFields(await response.text()), ...fields });
    }
    const { status } = response;
    if (status === 303 || status === 422)
      payment.isAcknowledged ||= status === 303 || isPaid(payment);
    else if (status !== 503) fail([`${payment.id}: ${status}`], "an approval");
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The server is gone.
  }
}

function isPaid({ id }: Payment): boolean {
  return (
    database.query("SELECT 1 AS one FROM payments WHERE id = ? AND state = 'paid'", id).length === 1
  );
}

interface Found {
  id: string;
  state: string;
  credits: string | number;
  micros: string | number;
}

/** Counts again what every payment and every reseller was credited, from the rows of the ledger. */
async function check(when: string): Promise<void> {
  const rows = database.query<Found>(
    `SELECT payments.id, state, count(transfers.seq) AS credits, coalesce(sum(transfers.amount_micros), 0) AS micros
     FROM payments LEFT JOIN payment_transfers ON payment_transfers.payment_id = payments.payment_id
       LEFT JOIN transfers ON transfers.seq = payment_transfers.seq GROUP BY payments.id, state`,
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  const counted = new Map(resellers.map((reseller) => [reseller, 0]));
  const problems: string[] = [];
  for (const { id, kind, reseller, isAcknowledged } of all) {
    const { state, credits, micros } = found.get(id)!;
    const due = (kind === "foreign" ? EXACT : 10) * DOLLAR;
    if (isAcknowledged && state !== "paid") problems.push(`${id} was acknowledged and is ${state}`);
    const [times, sum] = state === "paid" ? [1, due] : [0, 0];
    if (Number(credits) !== times || Number(micros) !== sum) {
      problems.push(`${id} (${kind}) is ${state} and was credited ${credits} times, ${micros}`);
    }
    if (state === "paid") counted.set(reseller, counted.get(reseller)! + due);
  }
  if (rows.length !== all.length) problems.push(`${rows.length} payments of ${all.length}`);
  for (const [reseller, sum] of counted) {
    const balance = Number(database.balance(reseller));
    if (balance !== sum) problems.push(`${reseller} has ${balance} instead of ${sum}`);
  }
  problems.push(...(await verifyStore(database)).map((each) => JSON.stringify(each)));
  if (problems.length > 0) fail(problems, when);
}

/** Waits until no mail waits: each payment has one, and each mail has arrived. */
async function checkMails(when: string): Promise<void> {
  const waiting = () =>
    database.query("SELECT 1 AS one FROM mails WHERE state IN ('waiting', 'sending')").length > 0;
  while (waiting()) await Bun.sleep(100);
  const rows = database.query<{ id: string; state: string; payment: string }>(
    `SELECT id, state, data::json ->> 'payment' AS payment FROM mails WHERE kind = 'payment_paid'`,
  );
  const arrived = new Map<string, number>();
  for (const { messageId } of mails.arrived)
    arrived.set(messageId, (arrived.get(messageId) ?? 0) + 1);
  const problems = rows
    .filter(({ state, id }) => state !== "sent" || !arrived.has(messageIdOf(id)))
    .map(({ id, state, payment }) => `${id} of ${payment} is ${state} and did not arrive`);
  if (new Set(rows.map(({ payment }) => payment)).size !== all.length || rows.length !== all.length)
    problems.push(`${rows.length} e-mails for ${all.length} payments`);
  if (arrived.size !== rows.length)
    problems.push(`${arrived.size} e-mails arrived of ${rows.length}`);
  // Only what a killed server was sending comes twice.
  const twice = mails.arrived.length - arrived.size;
  if (twice > sums.kills * IN_FLIGHT) problems.push(`${twice} e-mails arrived twice`);
  if (problems.length > 0) fail(problems, when);
}

function messageIdOf(id: string): string {
  return `<${Bun.SHA256.hash(id, "hex").slice(0, 32)}@nova.example>`;
}

function fail(problems: readonly string[], when: string): never {
  console.error(`${when}, seed ${seed}:\n${problems.slice(0, 20).join("\n")}`);
  process.exit(1);
}

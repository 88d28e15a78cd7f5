// Two servers run every pair of commands that lock users, members, invoices, payments or sign-ins at the same time, each in
// the other's order: docs/decisions/0026-batches-on-postgresql.md says in which order a transaction takes its locks.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import { createPostgresStore } from "../../../src/db/postgres/batch/store.ts";
import {
  type CommandInput,
  type CommandName,
  type CommandOutput,
  type CommandRequest,
  type Reply,
  runBatch,
} from "../../../src/operations/batch/commands.ts";
import { createCommandIds, execute } from "../../../src/operations/batch/execute.ts";
import type { Actor } from "../../../src/domain/ledger/ledger.ts";
import { memberAuthor } from "../../../src/domain/members/members.ts";
import { hashKey } from "../../../src/domain/users/keys.ts";
import { SERVICE_ROLE, startCluster } from "../../support/databases/postgres.ts";
import { verifyStore } from "../../support/databases/verify.ts";
import { runs } from "../../support/runs.ts";
import { TERMS } from "../../support/seeds/payments.ts";
import { COVERED, INPUTS, LIKE, type World } from "./command-pairs.ts";

const OPERATOR = { keyId: null, operator: "tester" };
const NAMES = Object.keys(INPUTS) as CommandName[];
/** Each pair is run so many times by each server; in short runs every command with every `STEP`-th other one. */
const ROUNDS = Number(process.env["TEST_ROUNDS"] ?? runs(1, 3));
const STEP = runs(5, 1);

const PAIRS = NAMES.flatMap((first, place) =>
  NAMES.slice(place)
    .filter((_, distance) => distance % STEP === 0)
    .map((second) => [first, second] as const),
);

test("every command of these nouns has an input here, or is like another that has one", () => {
  const missing = COVERED.filter((name) => !(name in INPUTS) && !(LIKE[name]! in INPUTS));
  expect(missing).toEqual([]);
});

test("no two commands of two servers deadlock or fail, in whatever order they run", async () => {
  // A wait that is longer is checked for a deadlock, and logged.
  const server = await startCluster({
    fsync: "off",
    full_page_writes: "off",
    synchronous_commit: "off",
    deadlock_timeout: "200ms",
    log_lock_waits: "on",
  });
  const database = await server.createDatabase();
  const address = { ...server.address(database), username: SERVICE_ROLE };
  const stores = [createPostgresStore(address), createPostgresStore(address)] as const;
  let now = Date.parse("2026-11-28T12:00:00Z");
  const run = <Name extends CommandName>(name: Name, input: CommandInput<Name>) =>
    execute(stores[0], name, input, now) as Promise<CommandOutput<Name>>;
  const world = await createWorld(run, (text) => server.query(database, text));
  const done = new Map<CommandName, number>();
  const failed: string[] = [];
  let count = 0;
  const batch = async (place: 0 | 1, names: readonly CommandName[]) => {
    const requests = names.map((name): CommandRequest => {
      const input = INPUTS[name]!(world, (count += 1)) as never;
      return { name, input, ids: createCommandIds(name, input) };
    });
    const replies = await runBatch(stores[place], requests, now, crypto.randomUUID());
    for (const [index, reply] of replies.entries()) {
      note(world, names[index]!, requests[index]!, reply);
      if ("done" in reply) done.set(names[index]!, (done.get(names[index]!) ?? 0) + 1);
      const isRefused = "refused" in reply && reply.refused !== "service_unavailable";
      if (!("done" in reply) && !isRefused)
        failed.push(`${names.join()}: ${JSON.stringify(reply)}`);
    }
  };
  const began = performance.now();
  for (const [first, second] of PAIRS) {
    for (let round = 0; round < ROUNDS; round += 1) {
      now += 1000;
      // Something new to decide about, as other pairs leave little that is open.
      await batch(0, ["placeOrder", "createPayment", "createOwnKey", "resetMember"]);
      await Promise.all([
        batch(0, [first, second]),
        batch(1, [second, first]),
        batch(0, [second]),
        batch(1, [first]),
      ]);
    }
  }
  const [statistics] = await server.query(
    database,
    `SELECT deadlocks::int AS deadlocks FROM pg_stat_database WHERE datname = '${database}'`,
  );
  const log = readFileSync(join(server.folder, "log"), "utf8");
  const linesWith = (text: RegExp) => log.split("\n").filter((line) => text.test(line));
  // On a busy machine a wait may be long; it only must end.
  const waits = linesWith(/still waiting for/);
  const deadlocks = linesWith(/deadlock detected/);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.info(
    `${PAIRS.length} pairs, ${count} commands, ${waits.length} long waits, ${seconds} s`,
  );
  expect(failed).toEqual([]);
  expect([statistics, deadlocks]).toEqual([{ deadlocks: 0 }, []]);
  // Refusals prove little: every command was done, too.
  expect(NAMES.filter((name) => !done.has(name))).toEqual([]);
  expect(await verifyStore({ store: stores[0] })).toEqual([]);
  for (const store of stores) await store.close();
  server.stop();
});

type Run = <Name extends CommandName>(
  name: Name,
  input: CommandInput<Name>,
) => Promise<CommandOutput<Name>>;

async function createWorld(
  run: Run,
  query: (text: string) => Promise<Record<string, unknown>[]>,
): Promise<World> {
  const usernames = ["alice", "bob"] as const;
  const seller = { sellerName: "Nova Ltd", sellerAddress: "Street 1" };
  const invoicing = { ...seller, mode: "credit", prefix: "A-" } as const;
  await run("setInvoicing", { changes: invoicing, actor: OPERATOR });
  await run("setMailSettings", { active: true, operator: "o@x.example" });
  const terms = { name: "Likes", priceMicros: 1000, per: "1000", min: 1, max: 1000 } as const;
  const service = { id: "likes", ...terms, private: false, type: "default", provider: null };
  const more = { dripfeed: false, cancel: true, refill: false, refillDays: null };
  await run("createService", { ...service, ...more, actor: OPERATOR } as never);
  for (const [methodId, kind] of [
    ["bank", "manual"],
    ["program", "callback"],
  ] as const) {
    const method = { methodId, kind, currency: "USD", terms: TERMS, known: [] };
    await run("createPaymentMethod", { ...method, resellers: null, actor: OPERATOR });
  }
  const made = { members: [] as string[], keys: [] as string[], sessions: [] as string[] };
  for (const [place, username] of usernames.entries()) {
    await run("createUser", { username, name: "", parent: null, actor: OPERATOR });
    const credit = { username, amountMicros: 100_000_000, note: null, actor: OPERATOR };
    for (let times = 0; times < 3; times += 1) await run("creditUser", credit);
    const key = { username, type: "full", reach: "all", label: "", start: "rk_abcde" } as const;
    const hash = hashKey(`key of ${username}`);
    made.keys.push((await run("createKey", { ...key, hash, actor: OPERATOR })).id);
    const email = `owner-${place}@x.example`;
    const invitationHash = hashKey(email);
    const owner = { email, name: null, role: "owner", language: "en", invitationHash } as const;
    made.members.push(await run("inviteMember", { username, ...owner, actor: OPERATOR }));
    await run("acceptInvitation", { site: "portal", invitationHash, passwordHash: "p" });
  }
  await run("issueInvoices", { limit: 20 });
  const accounts = await query("SELECT account::int AS account FROM users ORDER BY account");
  const world = {
    usernames,
    accounts: accounts.map(({ account }) => account as number).slice(0, 2),
    ownKeys: [],
    orders: [],
    payments: [],
    invitation: "",
    ...made,
  };
  await run("openSession", INPUTS.openSession!(world, 0));
  world.sessions.push(INPUTS.openSession!(world, 0).session.id);
  return world;
}

/** Adds what a command made to what later ones are about. */
function note(world: World, name: CommandName, { input }: CommandRequest, reply: Reply): void {
  if (!("done" in reply)) return;
  const made = reply.done as { orderId?: number; id?: string };
  const ownerOf = ({ actor }: { actor: Actor }) =>
    world.members.findIndex((id) => actor.operator === memberAuthor(id));
  if (name === "placeOrder") {
    const of = world.accounts.indexOf((input as CommandInput<"placeOrder">).resellerAccount);
    world.orders.push({ id: String(made.orderId), of });
  }
  if (name === "createPayment") world.payments.push({ id: made.id!, of: ownerOf(input as never) });
  if (name === "createOwnKey") world.ownKeys.push({ id: made.id!, of: ownerOf(input as never) });
  if (name === "inviteMember" || name === "resetMember") {
    world.invitation = (input as CommandInput<typeof name>).invitationHash!;
  }
  if (name === "openSession") {
    world.sessions.push((input as CommandInput<"openSession">).session.id);
    if (world.sessions.length > 8) world.sessions.shift();
  }
}

// `bun test/system/month.ts [transactions] [seed]`: a month with orders, refunds, recharges, payments with fees and bonuses,
// refunds and disputes, of resellers, child users and test accounts, beside some of the months around it. Its exports are
// added up by accounts.py, which knows nothing of this program. TEST_ENGINE=postgres: the same on PostgreSQL.
// Last: 100,697 on SQLite, 100,648 on PostgreSQL (seed 2), equal to the micro.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findUser } from "../../src/db/users/users.ts";
import { HOUR_MS } from "../../src/domain/values/spans.ts";
import type { Actor } from "../../src/domain/ledger/ledger.ts";
import type {
  CommandInput,
  CommandName,
  CommandRequest,
} from "../../src/operations/batch/commands.ts";
import { createCommandIds } from "../../src/operations/batch/execute.ts";
import { ENGINE } from "../support/databases/engine.ts";
import { freshDatabase, OPERATOR } from "../support/databases/test-database.ts";
import { verifyStore } from "../support/databases/verify.ts";
import { below, randomFrom } from "../support/random/seeded.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { optionsOf } from "../support/worlds/shop.ts";

const [transactions = 100_000, seed = 1] = process.argv.slice(2).map(Number);
const MONTH = "2025-11";
const BEGIN = Date.parse("2025-11-01T00:00:00.000Z");
const END = Date.parse("2025-11-30T23:59:59.999Z");
const RESELLERS = 40;
const BATCH = 400;
const random = randomFrom(seed);
const database = freshDatabase();

interface Reseller {
  username: string;
  account: number;
  keyId: string;
  testKeyId: string;
  testAccount: number;
  actor: Actor;
}

function seedMarket(): Reseller[] {
  const seller = { sellerName: "Nova Ltd", sellerAddress: "1 Main Street" };
  const tax = { taxPpm: 190_000, taxText: "VAT" };
  database.run("setInvoicing", { changes: { ...seller, ...tax, mode: "month" } });
  database.service({ id: "likes", price: "0.333333", cancel: true });
  database.service({ id: "views", price: "7.77", min: 1 });
  const bonusSteps = JSON.stringify([{ fromMicros: 100 * DOLLAR, ppm: 30_000 }]);
  const fee = { feePpm: 29_000, feeFixedMicros: 300_000, bonusSteps };
  seedMethod(database, "card", "stripe", fee);
  seedMethod(database, "bank", "manual", { ...fee, feePayer: "operator" });
  seedMethod(database, "program", "callback", { ...fee, rateToUsd: "1.083471" }, "EUR");
  return Array.from({ length: RESELLERS }, (_, place) => {
    const username = `reseller-${place}`;
    const actor = seedMember(database, username);
    database.user(`kid-${place}`, "0", username);
    const { id: keyId } = database.key(username, "full");
    const { id: testKeyId } = database.key(username, "full", "all", true);
    const { account } = database.read((reader) => findUser(reader, username)!);
    const [test] = database.query<{ account: number }>(
      `SELECT account FROM users WHERE test_of = ${account}`,
    );
    return { username, account, keyId, testKeyId, testAccount: Number(test!.account), actor };
  });
}

const pick = <T>(all: readonly T[]): T => all[below(random, all.length)]!;
const micros = (most: number) => 1 + below(random, most);

function request<Name extends CommandName>(name: Name, input: CommandInput<Name>): CommandRequest {
  return { name, input, ids: createCommandIds(name, input) };
}

const openOrders: string[] = [];

/** A command that moves money of a reseller, or is refused. */
function anyRequest(market: readonly Reseller[]): CommandRequest {
  const by = pick(market);
  const { username, account, keyId } = by;
  const kind = below(random, 20);
  const kid = username.replace("reseller", "kid");
  if (kind < 1) {
    const credit = { username: pick([username, kid]), amountMicros: micros(90_000_000) };
    return request("creditUser", { ...credit, note: null, actor: OPERATOR });
  }
  if (kind < 2) {
    const debit = { username: pick([username, kid]), amountMicros: micros(2_000_000) };
    return request("debitUser", { ...debit, note: "fee", actor: OPERATOR });
  }
  if (kind < 5) {
    const recharge = { keyId, resellerAccount: account, amountMicros: micros(50_000_000) };
    return request("recharge", { ...recharge, username: pick([username, kid]) });
  }
  if (kind < 9 && openOrders.length > 0) {
    const id = openOrders.splice(below(random, openOrders.length), 1)[0]!;
    const to = pick(["CANCELLED", "FAILED", "PARTIAL", "COMPLETED"] as const);
    const remains = to === "PARTIAL" ? { remains: micros(9) } : {};
    return request("transitionOrder", { id, to, ...remains, note: null, actor: OPERATOR });
  }
  const isTest = kind === 19;
  return request("placeOrder", {
    resellerAccount: isTest ? by.testAccount : account,
    keyId: isTest ? by.testKeyId : keyId,
    service: pick(["likes", "views"]),
    link: "https://example.com/",
    quantity: 10 + below(random, 900),
    reference: null,
  });
}

/** A payment with what becomes of it: paid, approved, rejected, left; then refunded or disputed, and debited or not. */
function makePayment(by: Reseller, at: number): void {
  const methodId = pick(["card", "bank", "program"]);
  const { actor } = by;
  const id = askPayment(database, { methodId, actor, amount: 5 + below(random, 400), now: at });
  const [{ due, currency }] = database.query<{ due: number; currency: string }>(
    `SELECT due_micros AS due, currency FROM payments WHERE id = '${id}'`,
  ) as [{ due: number; currency: string }];
  const amountMicros = Number(due);
  const reading = { paymentId: id, amountMicros, currency, refundedMicros: 0, disputedMicros: 0 };
  const read = (more: object) =>
    database.execute(
      "recordReading",
      {
        id,
        reference: `cs-${id}`,
        reads: 0,
        reading: { state: "paid", cause: null, ...reading, ...more },
      },
      at,
    );
  const chance = below(random, 10);
  if (chance === 0) return;
  if (chance === 1) {
    database.execute("rejectPayment", { id, reason: "no", actor: OPERATOR }, at);
    return;
  }
  if (methodId === "card") read({});
  else if (methodId === "bank") {
    const approval = { id, receivedMicros: null, creditMicros: null, actor: OPERATOR };
    database.execute("approvePayment", approval, at);
  } else {
    const paid = { methodId, id, programId: `p-${id}`, amountMicros, currency };
    database.execute("recordPaid", paid, at);
  }
  if (chance > 4) return;
  const part = chance === 2 ? amountMicros : Math.floor(amountMicros / 3);
  if (methodId === "card") {
    read(chance === 3 ? { disputedMicros: part } : { refundedMicros: part });
  }
  const [{ balance }] = database.query<{ balance: number }>(
    `SELECT balance_micros AS balance FROM users WHERE account = ${by.account}`,
  ) as [{ balance: number }];
  if (Number(balance) === 0) return;
  const settled = { id, amountMicros: null, publicNote: "given back", actor: OPERATOR };
  try {
    database.execute("settleReversal", settled, at);
  } catch {
    // The balance has nothing left of it, or nothing is to decide.
  }
}

function seedMonth(market: readonly Reseller[]): void {
  const counted = () =>
    Number(
      database.query<{ rows: number }>(
        `SELECT count(*) AS rows FROM transfers WHERE created_at BETWEEN ${BEGIN} AND ${END}
          AND debit_account > 0 AND credit_account > 0`,
      )[0]!.rows,
    );
  let tick = 0;
  const step = (at: number) => {
    const requests = Array.from({ length: BATCH }, () => anyRequest(market));
    for (const reply of database.batch(requests, at)) {
      const made = "done" in reply ? (reply.done as { orderId?: number } | null) : null;
      if (made?.orderId !== undefined) openOrders.push(String(made.orderId));
    }
    for (let payments = 0; payments < 8; payments += 1) makePayment(pick(market), at);
    if (openOrders.length > 5000) openOrders.splice(0, 2500);
    tick += 1;
  };
  // The months around it, up to its very edges.
  for (const at of [BEGIN - 30 * 24 * HOUR_MS, BEGIN - HOUR_MS, BEGIN - 1]) step(at);
  const steps = Math.ceil(transactions / (BATCH * 0.6));
  step(BEGIN);
  for (let place = 1; counted() < transactions; place += 1) {
    step(Math.min(END - 1, BEGIN + Math.floor(((END - BEGIN) * place) / steps)));
  }
  step(END);
  for (const at of [END + 1, END + HOUR_MS]) step(at);
  console.log(`${ENGINE}, seed ${seed}: ${counted()} transfers in ${MONTH}, ${tick} steps`);
}

async function reseller(...argv: string[]): Promise<string> {
  const main = new URL("../../src/main.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, main, ...argv, ...optionsOf(database)], {
    stdout: "pipe",
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} failed`);
  return text;
}

const folder = mkdtempSync(join(tmpdir(), "month-"));
try {
  seedMonth(seedMarket());
  while (database.execute("issueInvoices", { limit: 50 }, END + 2) > 0);
  while (database.run("countDailyTotals", { limit: 10_000 }) !== "reached");
  const window = ["--since", `${MONTH}-01`, "--until", `${MONTH}-30`];
  const files: Record<string, string[]> = {
    "transactions.csv": ["admin", "transaction", "export", ...window],
    "money.json": ["report", "--money", "--json", ...window],
    "payments.csv": ["admin", "payment", "list", "--csv"],
    "invoices.csv": ["admin", "invoice", "export"],
    "users.csv": ["admin", "user", "list", "--csv"],
  };
  for (const [name, argv] of Object.entries(files)) {
    writeFileSync(join(folder, name), await reseller(...argv));
  }
  const script = new URL("./accounts.py", import.meta.url).pathname;
  const added = Bun.spawn(["python3", script, folder, MONTH], { stdout: "inherit" });
  const code = await added.exited;
  const problems = await verifyStore(database);
  console.log(`verify: ${problems.length} problems`);
  process.exitCode = code === 0 && problems.length === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
  database.close();
}
process.exit();

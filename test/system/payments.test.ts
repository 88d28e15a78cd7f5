// What is exported about a month of payments is what a script in another language works out from the statements of those
// who received the money.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "bun:test";
import type { Actor } from "../../src/domain/ledger/ledger.ts";
import type { MethodTerms } from "../../src/operations/payments/payment-methods.ts";
import { OPERATOR } from "../support/databases/test-database.ts";
import { freshFolder } from "../support/folders.ts";
import { chanceOf } from "./simulation/world.ts";
import { askPayment, DOLLAR, seedMember, seedMethod } from "../support/seeds/payments.ts";
import { openShop, type Shop } from "../support/worlds/shop.ts";

const SCRIPT = new URL("payments.py", import.meta.url).pathname;
const DAYS = 30;
const DAY_MS = 86_400_000;
const START = Date.parse("2026-10-01T08:00:00Z");
const PERIOD = ["--since", "2026-10-01", "--until", "2026-10-31"];
const CENT = 10_000;

const bonusSteps = JSON.stringify([
  { fromMicros: 100 * DOLLAR, ppm: 30_000 },
  { fromMicros: 500 * DOLLAR, ppm: 50_000 },
]);
const METHODS: Record<string, [kind: string, currency: string, terms: Partial<MethodTerms>]> = {
  card: ["stripe", "USD", { feePpm: 29_000, feeFixedMicros: 300_000, bonusSteps }],
  wallet: ["callback", "EUR", { feePpm: 15_000, rateToUsd: "1.0837", bonusSteps }],
  bank: ["manual", "USD", { feePayer: "operator", feePpm: 5000 }],
};

interface Line {
  payment: string;
  amountMicros: number;
  currency: string;
  returnedMicros: number;
}

test("a month of payments by all kinds of methods adds up, and one line that is missing or wrong is named", async () => {
  const shop = openShop();
  const folder = freshFolder();
  const lines = makeMonth(shop);
  expect(lines.length).toBeGreaterThan(200);
  expect(lines.filter(({ returnedMicros }) => returnedMicros > 0).length).toBeGreaterThan(10);
  await exportTo(shop, folder);

  const equal = addUp(folder, lines);
  expect(equal).toEqual([0, expect.stringMatching(/^\d+ payments, \d+ received, 0 wrong$/)]);
  const [first, ...rest] = lines as [Line, ...Line[]];
  expect(addUp(folder, rest)[1]).toContain(`${first.payment}: credited, and nothing was received`);
  const less = { ...first, amountMicros: first.amountMicros - CENT };
  expect(addUp(folder, [less, ...rest])[1]).toContain(`${first.payment}: received `);

  // A credit that is missing in the ledger, and one that is there twice.
  const ledger = join(folder, "transactions.csv");
  const rows = readFileSync(ledger, "utf8").split("\n");
  const at = rows.findIndex((row) => row.includes(first.payment));
  for (const changed of [rows.toSpliced(at, 1), rows.toSpliced(at, 0, rows[at]!)]) {
    writeFileSync(ledger, changed.join("\n"));
    const [code, said] = addUp(folder, lines);
    expect(code).toBe(1);
    expect(said).toContain(`${first.payment}: `);
    expect(said).toContain("more than reported");
  }
});

/** What banks and programs received; what they say of it arrives twice. */
function makeMonth(shop: Shop): Line[] {
  const chance = chanceOf(35);
  for (const [id, [kind, currency, terms]] of Object.entries(METHODS)) {
    seedMethod(shop, id, kind, { maxMicros: 2000 * DOLLAR, ...terms }, currency);
  }
  const members = ["carol", "dave", "erin"].map((username) => seedMember(shop, username));
  const lines: Line[] = [];
  for (let day = 0; day < DAYS; day += 1) {
    for (let each = 0; each < 12; each += 1) {
      const now = START + day * DAY_MS + each * 3_600_000;
      // Ends those for which nothing came.
      shop.execute("takeDuePayments", { limit: 100, readableKinds: [] }, now);
      const line = onePayment(shop, chance, chance.pick(members), now);
      if (line !== null) lines.push(line);
    }
  }
  return lines;
}

function onePayment(
  shop: Shop,
  chance: ReturnType<typeof chanceOf>,
  actor: Actor,
  now: number,
): Line | null {
  const methodId = chance.pick(Object.keys(METHODS));
  const id = askPayment(shop, { methodId, actor, amount: chance.whole(1, 900), now });
  const find = `SELECT due_micros AS due FROM payments WHERE id = '${id}'`;
  const due = Number(shop.query<{ due: number }>(find)[0]!.due);
  if (chance.happens(0.2)) return null;
  const amountMicros = chance.happens(0.8) ? due : chance.whole(100, 90_000) * CENT;
  const own = METHODS[methodId]![1];
  const currency = methodId !== "bank" && chance.happens(0.05) ? "GBP" : own;
  const approve = (receivedMicros: number | null, creditMicros: number | null) =>
    shop.execute("approvePayment", { id, receivedMicros, creditMicros, actor: OPERATOR }, now);
  let returnedMicros = 0;
  if (methodId === "bank") approve(amountMicros, null);
  for (let times = methodId === "bank" ? 0 : 2; times > 0; times -= 1) {
    if (methodId === "wallet") {
      const paid = { methodId, id, programId: `w-${id}`, amountMicros, currency };
      shop.execute("recordPaid", paid, now);
    } else {
      const given = times === 1 && chance.happens(0.2) ? chance.whole(1, amountMicros / CENT) : 0;
      returnedMicros = currency === own ? given * CENT : 0;
      const reading = {
        state: "paid" as const,
        paymentId: id,
        amountMicros,
        currency,
        refundedMicros: returnedMicros,
        disputedMicros: 0,
        cause: null,
      };
      shop.execute("recordReading", { id, reference: `c-${id}`, reads: 9, reading }, now);
    }
  }
  if (currency !== own) approve(null, chance.whole(100, 5000) * CENT);
  if (returnedMicros > 0) {
    const decided = { id, amountMicros: chance.pick([null, 0]), publicNote: null, actor: OPERATOR };
    shop.execute("settleReversal", decided, now);
  }
  return { payment: id, amountMicros, currency, returnedMicros };
}

async function exportTo(shop: Shop, folder: string): Promise<void> {
  const files: Record<string, string[]> = {
    "methods.json": ["admin", "payment", "method", "list", "--json"],
    "payments.csv": ["admin", "payment", "list", "--csv", ...PERIOD],
    "transactions.csv": ["admin", "transaction", "export", ...PERIOD],
    "month.json": ["report", "--money", "--json", ...PERIOD],
  };
  for (const [name, argv] of Object.entries(files)) {
    const { code, stdout } = await shop.cli(...argv);
    expect([name, code]).toEqual([name, 0]);
    writeFileSync(join(folder, name), stdout);
  }
}

/** The exit code of the script and what it printed. */
function addUp(folder: string, lines: readonly Line[]): [code: number, said: string] {
  const money = (micros: number) => (micros / DOLLAR).toFixed(6);
  const rows = lines.map(({ payment, amountMicros, currency, returnedMicros }) =>
    [payment, money(amountMicros), currency, money(returnedMicros)].join(","),
  );
  const statement = ["payment,amount,currency,returned", ...rows].join("\n");
  writeFileSync(join(folder, "statement.csv"), `${statement}\n`);
  const { exitCode, stdout, stderr } = Bun.spawnSync(["python3", SCRIPT, folder]);
  return [exitCode, `${stdout.toString()}${stderr.toString()}`.trim()];
}

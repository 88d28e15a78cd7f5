// The journal held against the database, and the database against itself.

import type { Journal } from "./journal.ts";

export type Ask = (text: string) => Promise<Record<string, unknown>[]>;

export interface Findings {
  /** Acknowledged, but not there. */
  lost: string[];
  /** There more than once. */
  doubled: string[];
  /** Answered as refused, but there; or under another number than the answer's; or never sent. */
  wrong: string[];
  /** Sums that do not agree. */
  sums: string[];
}

/** May run under load: only what was answered before it asked is held against the database. */
export async function audit(journal: Journal, ask: Ask): Promise<Findings> {
  const before = new Map([...journal.entries].map(([name, entry]) => [name, { ...entry }]));
  const rows = (await ask(
    "SELECT link, count(*)::int AS times, max(order_id)::int AS number FROM orders GROUP BY link",
  )) as { link: string; times: number; number: number }[];
  const there = new Map(rows.map((row) => [nameOf(row.link), row]));
  const findings: Findings = { lost: [], doubled: [], wrong: [...journal.faults], sums: [] };
  for (const [name, { times }] of there) {
    if (times > 1) findings.doubled.push(name);
    if (!journal.entries.has(name)) findings.wrong.push(`${name}: there, but never sent`);
  }
  for (const [name, { fate, orderId }] of before) {
    const found = there.get(name);
    if (fate === "acknowledged" && !found) findings.lost.push(name);
    if (fate === "refused" && found) findings.wrong.push(`${name}: refused, but there`);
    if (orderId !== null && found?.times === 1 && found.number !== orderId) {
      findings.wrong.push(`${name}: told order ${orderId}, found ${found.number}`);
    }
  }
  for (const [problem, text] of SUMS) {
    const [row] = await ask(`SELECT count(*)::int AS count FROM (${text}) AS found`);
    if (row!["count"] !== 0) findings.sums.push(`${String(row!["count"])} × ${problem}`);
  }
  return findings;
}

export function isClean({ lost, doubled, wrong, sums }: Findings): boolean {
  return lost.length + doubled.length + wrong.length + sums.length === 0;
}

export function describeFindings({ lost, doubled, wrong, sums }: Findings): string {
  const some = (names: readonly string[]) => names.slice(0, 5).join(", ");
  return [
    `${lost.length} lost (${some(lost)})`,
    `${doubled.length} doubled (${some(doubled)})`,
    `${wrong.length} wrong (${some(wrong)})`,
    `sums: ${sums.length === 0 ? "agree" : sums.join("; ")}`,
  ].join("; ");
}

export const linkOf = (name: string): string => `https://example.com/${name}`;

export const nameOf = (link: string): string => link.slice(linkOf("").length);

const SUMS: readonly (readonly [problem: string, rows: string])[] = [
  [
    "a balance that is not the sum of its transfers",
    `SELECT users.account FROM users LEFT JOIN transfers ON users.account IN (debit_account, credit_account)
     GROUP BY users.account, users.balance_micros
     HAVING users.balance_micros <> coalesce(sum(
       CASE WHEN credit_account = users.account THEN amount_micros ELSE -amount_micros END), 0)`,
  ],
  [
    "an order without its one charge",
    `SELECT orders.order_id FROM orders LEFT JOIN transfers ON transfers.order_id = orders.order_id
       AND transfers.kind = 'order' AND transfers.debit_account = orders.reseller_account
       AND transfers.amount_micros = orders.charge_micros
     GROUP BY orders.order_id HAVING count(transfers.seq) <> 1`,
  ],
  [
    "a transfer that does not continue the balance before it",
    `SELECT seq FROM (
       SELECT seq, balance_after_micros, sum(CASE WHEN credit_account > 2 THEN amount_micros ELSE -amount_micros END)
         OVER (PARTITION BY CASE WHEN credit_account > 2 THEN credit_account ELSE debit_account END ORDER BY seq) AS total
       FROM transfers) AS running
     WHERE balance_after_micros <> total`,
  ],
];

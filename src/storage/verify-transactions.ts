// Recomputes the balance that each transfer stores, in one pass with one number for each user in memory.

import type { Connection } from "../db/sqlite/connection.ts";
import type { Problem } from "./verify.ts";

/** [seq, debit account, credit account, amount, balance after] */
type Row = [number, number, number, number, string];

const CHECK = "statements add up";

export function* transactionProblems({ sqlite }: Connection): Generator<Problem> {
  const balances = new Map<number, bigint>();
  const select = sqlite.query(
    `SELECT seq, debit_account, credit_account, amount_micros, CAST(balance_after_micros AS TEXT)
    FROM transfers WHERE seq > ? ORDER BY seq LIMIT 1000`,
  );
  for (let last = 0; ;) {
    const rows = select.values(last) as Row[];
    for (const [seq, debit, credit, amount, afterText] of rows) {
      const after = BigInt(afterText);
      const account = Math.max(debit, credit);
      const total = (balances.get(account) ?? 0n) + BigInt(account === credit ? amount : -amount);
      balances.set(account, total);
      if (total === after) continue;
      const problem = `the balance after it is ${after} micros, the transfers up to it make ${total}`;
      yield { check: CHECK, subject: `transfer ${seq}`, problem };
      // Later transfers are compared with the stored balance, so that one wrong balance is reported once.
      balances.set(account, after);
    }
    if (rows.length === 0) return;
    last = rows.at(-1)![0];
  }
}

// The largest balances there can be: a refund never fails, and what it leads to is exact to the micro.

import { beforeEach, describe, expect, test } from "bun:test";
import { transact } from "../../../src/db/port/port.ts";
import { balanceOf, findUser } from "../../../src/db/users/users.ts";
import { AMOUNT_LIMIT_MICROS, DEPOSIT_LIMIT_MICROS } from "../../../src/domain/ledger/money.ts";
import { executeIn } from "../../support/databases/execute-in.ts";
import { optionsOf, reseller } from "../../support/worlds/shop.ts";
import { refusalCode } from "../../support/http/refusal.ts";
import {
  freshDatabase,
  OPERATOR,
  openStore,
  type TestDatabase,
} from "../../support/databases/test-database.ts";
import { ENGINE } from "../../support/databases/engine.ts";

/** The largest charge of an order here: 9,000,000,000 USD. */
const CHARGE = 9_000_000_000_000_000n;

let database: TestDatabase;
let keyId: string;

beforeEach(() => {
  database = freshDatabase();
  database.user("rich");
  database.user("other");
  keyId = database.key("rich", "full").id;
  database.service({ id: "dear", price: "1000000000", per: "1", min: 1, max: 1_000_000_000 });
});

const accountOf = (username: string) =>
  database.read((reader) => findUser(reader, username))!.account;
const balance = (username = "rich") =>
  database.read((reader) => balanceOf(reader, accountOf(username)));

const credit = (amountMicros: number, username = "rich") =>
  database.run("creditUser", { username, amountMicros, note: null, actor: OPERATOR });

const orderOf = (quantity: number, username = "rich") => ({
  resellerAccount: accountOf(username),
  keyId,
  service: "dear",
  link: "x",
  quantity,
});

const cancel = (id: string) =>
  database.run("transitionOrder", { id, to: "CANCELLED", note: null, actor: OPERATOR });

/** Deposits as `credits` of 1,000,000,000 USD each make them, with the balance as if none was spent; straight SQL. */
function depositInBulk(username: string, credits: number): void {
  const account = accountOf(username);
  const amount = AMOUNT_LIMIT_MICROS;
  const seq = ENGINE === "sqlite" ? "NULL" : "nextval('transfers_number')";
  database.query(`INSERT INTO transfers (seq, debit_account, credit_account, amount_micros, kind, operator, created_at,
      balance_after_micros)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${credits})
    SELECT ${seq}, 1, ${account}, ${amount}, 'adjustment', 'x', 1, n * ${amount} FROM numbers ORDER BY n`);
  database.query(`UPDATE users SET balance_micros = ${credits} * ${amount}, deposited_micros = ${credits} * ${amount}
    WHERE account = ${account}`);
}

const problems = async (): Promise<unknown[]> =>
  (await reseller("verify", "--json", ...optionsOf(database))).json.problems;

test("refunds lead back exactly to the largest possible balance", async () => {
  depositInBulk("rich", 9000);
  expect(balance()).toBe(DEPOSIT_LIMIT_MICROS);
  const { id } = database.run("placeOrder", orderOf(9));
  expect(balance()).toBe(DEPOSIT_LIMIT_MICROS - CHARGE);
  const part = database.run("placeOrder", orderOf(7));
  database.run("transitionOrder", {
    id: part.id,
    to: "PARTIAL",
    remains: 3,
    note: null,
    actor: OPERATOR,
  });
  expect(balance()).toBe(DEPOSIT_LIMIT_MICROS - CHARGE - 4_000_000_000_000_000n);
  cancel(id);
  database.run("transitionOrder", { id: part.id, to: "REFUNDED", note: null, actor: OPERATOR });
  expect(balance()).toBe(DEPOSIT_LIMIT_MICROS);
  expect(await problems()).toEqual([]);
});

describe("a credit past all deposits that an account may have is refused", () => {
  test.each([
    ["of an operator", () => credit(2)],
    [
      "of a key",
      () => {
        const resellerAccount = accountOf("rich");
        const reach = "all" as const;
        const recharge = { keyId, reach, resellerAccount, username: "rich", amountMicros: 2 };
        return database.run("recharge", recharge);
      },
    ],
  ])("%s, though its balance is low, because a refund could pass 64 bits", (_whose, act) => {
    database.query(`UPDATE users SET deposited_micros = ${DEPOSIT_LIMIT_MICROS - 1n}`);
    expect(refusalCode(act, database)).toBe("deposits_too_large");
    credit(1);
    expect(balance()).toBe(1n);
    // What is debited can be credited again.
    database.run("debitUser", { username: "rich", amountMicros: 1, note: null, actor: OPERATOR });
    credit(1);
    expect(refusalCode(() => credit(1), database)).toBe("deposits_too_large");
  });
});

test("an order of more than 2^53 micros is refused, one below it charged exactly, whatever the balance", () => {
  depositInBulk("rich", 100);
  expect(refusalCode(() => database.run("placeOrder", orderOf(10)), database)).toBe(
    "charge_too_large",
  );
  expect(refusalCode(() => database.run("placeOrder", orderOf(101)), database)).toBe(
    "insufficient_balance",
  );
  const priceMicros = Number.MAX_SAFE_INTEGER;
  // No command sets such a price; the limit of a charge holds where there is one.
  database.query(`UPDATE services SET per = 'order', price_micros = ${priceMicros}`);
  const order = database.run("placeOrder", orderOf(1));
  expect(balance()).toBe(100n * BigInt(AMOUNT_LIMIT_MICROS) - BigInt(priceMicros));
  cancel(order.id);
  expect(balance()).toBe(100n * BigInt(AMOUNT_LIMIT_MICROS));
});

test("verify adds up an account whose charges and refunds each pass 64 bits, and names a micro that is off", async () => {
  depositInBulk("rich", 9);
  const store = openStore(database);
  // PostgreSQL loads what each cancellation needs after that of the one before, in 100 rounds a transaction at most.
  for (let batch = 0; batch < 110; batch++) {
    await transact(store, (tx) => {
      for (let times = 0; times < 10; times++) {
        const { id } = executeIn(tx, "placeOrder", orderOf(9), 1);
        const command = { id, to: "CANCELLED" as const, note: null, actor: OPERATOR };
        executeIn(tx, "transitionOrder", command, 1);
      }
    });
  }
  await store.close();
  expect(balance()).toBe(CHARGE);
  expect(await problems()).toEqual([]);
  database.query("UPDATE users SET balance_micros = balance_micros - 1 WHERE username = 'rich'");
  expect(await problems()).toMatchObject([
    {
      subject: "user rich",
      problem: "balance is 8999999999999999 micros, its transfers add up to 9000000000000000",
    },
    { check: "the two sides of the ledger match", subject: "the live side" },
  ]);
});

test("verify names a micro that is off in a statement above 2^53", async () => {
  depositInBulk("rich", 18);
  const { id } = database.run("placeOrder", orderOf(8));
  cancel(id);
  const trigger = "transfers_append_only_update";
  const subject = `trigger ${trigger}${ENGINE === "sqlite" ? "" : " of transfers"}`;
  database.dropTrigger(trigger);
  database.query(
    "UPDATE transfers SET balance_after_micros = balance_after_micros + 1 WHERE seq = 20",
  );
  expect(await problems()).toMatchObject([
    { subject, problem: "is missing" },
    {
      subject: "transfer 20",
      problem: expect.stringContaining(
        "is 18000000000000001 micros, but the transfers up to it add up to",
      ),
    },
  ]);
});

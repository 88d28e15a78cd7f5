// Recharges: a payment bot credits a balance with its Recharge key. docs/specification.md#post-recharge.

import { refusal } from "../domain/refusals.ts";
import type { Claim } from "../domain/idempotency.ts";
import { cashAccount, refuseCreditAboveLimit } from "../domain/ledger.ts";
import { rechargeResponse } from "../domain/responses.ts";
import type { Tx } from "../db/port.ts";
import type { CallerKey } from "../db/keys.ts";
import { postTransfer } from "../db/ledger.ts";
import { findTestAccount, findUser, type User } from "../db/users.ts";
import { testUsername } from "../domain/sandbox.ts";
import { isInScope } from "../domain/users.ts";
import { audit } from "./audit.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { once, type Outcome } from "./idempotency.ts";
import { insertTestAccount } from "./test-accounts.ts";
import { recordCreditEvent } from "./webhook-events.ts";

export interface Recharge {
  keyId: string;
  /** The account that the key belongs to. */
  resellerAccount: number;
  /** Whether the key is a test key: the command may make a test account, which needs an id. */
  isTest?: boolean;
  username: string;
  /** Above 0, at most AMOUNT_LIMIT_MICROS. */
  amountMicros: number;
}

export interface Recharged {
  /** After the credit, so at most BALANCE_LIMIT_MICROS, which is below 2^53. */
  user: Omit<User, "balanceMicros" | "depositedMicros"> & { balanceMicros: number };
  previousBalanceMicros: number;
}

/** Refuses what requireCaller refuses, then what `credit` refuses. */
export function recharge(tx: Tx, command: Recharge, context: Context): Recharged {
  const caller = requireCaller(tx, command.keyId, "recharge", context);
  return credit(tx, caller, command, context).recharged;
}

export interface RechargeOnce {
  recharge: Recharge;
  claim: Claim;
}

/** recharge, run by `once`. docs/specification.md#idempotency-record. */
export function rechargeOnce(tx: Tx, command: RechargeOnce, context: Context): Outcome<Recharged> {
  const { resellerAccount, keyId } = command.recharge;
  const claimant = {
    keyId,
    resellerAccount,
    permission: "recharge",
    claim: command.claim,
  } as const;
  const run = (caller: CallerKey) => {
    const { recharged, transferSeq } = credit(tx, caller, command.recharge, context);
    return { result: recharged, effect: { transferSeq }, body: rechargeResponse(recharged) };
  };
  const current = () => {
    throw new Error("a recharge was stored without its response");
  };
  return once(tx, claimant, { run, current }, context);
}

/** Of a test account that is not made yet. */
const NO_MONEY = { balanceMicros: 0n, depositedMicros: 0n, wantedEvents: 0 };

/** Credits the user, or with a test key the user's test account, for a key that has been checked. Refuses: user_not_found, user_out_of_reach, balance_too_large, deposits_too_large. */
function credit(
  tx: Tx,
  caller: CallerKey,
  command: Recharge,
  context: Context,
): { recharged: Recharged; transferSeq: number } {
  const found = findUser(tx, command.username);
  if (!found) throw refusal("user_not_found");
  const { testOf } = caller;
  if (!isInScope(caller.reach, testOf ?? command.resellerAccount, found)) {
    throw refusal("user_out_of_reach");
  }
  const holder = testOf === null ? found : findTestAccount(tx, found.account);
  refuseCreditAboveLimit(holder ?? NO_MONEY, command.amountMicros);
  // Nothing is refused from here on.
  const account = holder?.account ?? insertTestAccount(tx, found, context);
  const { depositedMicros: _, ...user } = found;
  const previousBalanceMicros = Number((holder ?? NO_MONEY).balanceMicros);
  const actor = { keyId: command.keyId, operator: null };
  const transferSeq = postTransfer(tx, {
    debitAccount: cashAccount(testOf !== null),
    creditAccount: account,
    amountMicros: command.amountMicros,
    kind: "recharge",
    orderId: null,
    actor,
    note: null,
    createdAt: context.now,
  });
  const recharged = { ...user, balanceMicros: previousBalanceMicros + command.amountMicros };
  audit(tx, context, {
    actor,
    action: "user.recharge",
    subject: testOf === null ? user.username : testUsername(user),
    account,
    before: { balanceMicros: previousBalanceMicros },
    after: { balanceMicros: recharged.balanceMicros },
  });
  recordCreditEvent(
    tx,
    holder ?? { ...NO_MONEY, account },
    command.amountMicros,
    "recharge",
    context,
  );
  return { recharged: { user: recharged, previousBalanceMicros }, transferSeq: transferSeq! };
}

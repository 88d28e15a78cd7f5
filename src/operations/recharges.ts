// Recharges: a payment bot credits a balance with its Recharge key. docs/specification.md#post-recharge.

import { refusal } from "../domain/refusals.ts";
import type { Claim } from "../domain/idempotency.ts";
import { CASH_ACCOUNT, refuseCreditAboveLimit } from "../domain/ledger.ts";
import { rechargeResponse } from "../domain/responses.ts";
import type { Tx } from "../db/port.ts";
import type { CallerKey } from "../db/keys.ts";
import { postTransfer } from "../db/ledger.ts";
import { findUser, type User } from "../db/users.ts";
import { isInScope } from "../domain/users.ts";
import { audit } from "./audit.ts";
import { requireCaller } from "./callers.ts";
import type { Context } from "./context.ts";
import { once, type Outcome } from "./idempotency.ts";
import { recordCreditEvent } from "./webhook-events.ts";

export interface Recharge {
  keyId: string;
  /** The reseller that the key belongs to. */
  resellerAccount: number;
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

/** Credits the user, for a key that has been checked. Refuses: user_not_found, user_out_of_reach, balance_too_large, deposits_too_large. */
function credit(
  tx: Tx,
  caller: CallerKey,
  command: Recharge,
  context: Context,
): { recharged: Recharged; transferSeq: number } {
  const found = findUser(tx, command.username);
  if (!found) throw refusal("user_not_found");
  if (!isInScope(caller.reach, command.resellerAccount, found)) throw refusal("user_out_of_reach");
  refuseCreditAboveLimit(found, command.amountMicros);
  // Nothing is refused from here on.
  const { depositedMicros: _, ...user } = found;
  const previousBalanceMicros = Number(user.balanceMicros);
  const actor = { keyId: command.keyId, operator: null };
  const transferSeq = postTransfer(tx, {
    debitAccount: CASH_ACCOUNT,
    creditAccount: user.account,
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
    subject: user.username,
    account: user.account,
    before: { balanceMicros: previousBalanceMicros },
    after: { balanceMicros: recharged.balanceMicros },
  });
  recordCreditEvent(tx, found, command.amountMicros, "recharge", context);
  return { recharged: { user: recharged, previousBalanceMicros }, transferSeq: transferSeq! };
}

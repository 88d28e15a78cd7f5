// Recharges: a payment bot credits a balance with its Recharge key. docs/specification/endpoints.md#post-recharge.

import { refusal } from "../../domain/values/error-table.ts";
import type { Claim } from "../../domain/values/idempotency.ts";
import { cashAccount, refuseCreditAboveLimit } from "../../domain/ledger/ledger.ts";
import { rechargeResponse } from "../../domain/orders/responses.ts";
import { type Need, needLock, needNumbers, needRow, type Tx } from "../../db/port/port.ts";
import type { Key } from "../../db/users/keys.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { addRecharged, rechargedOn } from "../../db/ledger/recharges.ts";
import { SETTINGS_ID } from "../../db/ledger/invoices.ts";
import type { IdempotencyRecord } from "../../db/tables/database.ts";
import { invoiceSettings } from "../../db/tables/invoices.ts";
import { transfers } from "../../db/tables/ledger.ts";
import { keys, users } from "../../db/tables/users.ts";
import { findTestAccount, findUser, type User } from "../../db/users/users.ts";
import { exceededRechargeLimit, type RechargeRefusal } from "../../domain/ledger/recharges.ts";
import { testUsername } from "../../domain/orders/sandbox.ts";
import { isInReach } from "../../domain/users/users.ts";
import { audit } from "../batch/audit.ts";
import { requireCaller } from "../batch/callers.ts";
import type { Context } from "../batch/context.ts";
import { type Done, needsOfClaim, once, type Outcome } from "../batch/idempotency.ts";
import { noteInvoiceItem } from "./invoices.ts";
import { insertTestAccount } from "../users/test-accounts.ts";
import { recordCreditEvent } from "../webhooks/webhook-events.ts";
import { utcDayOf } from "../../domain/values/calendar.ts";

export interface Recharge {
  keyId: string;
  /** The account that the key belongs to. */
  resellerAccount: number;
  /** Whether the key is a test key: the command may create a test account, which needs an id. */
  isTest?: boolean;
  username: string;
  /** Above 0, at most AMOUNT_LIMIT_MICROS. */
  amountMicros: number;
}

export interface Recharged {
  /** The user after the credit. Its balance is below 2^53, because BALANCE_LIMIT_MICROS limits credits. */
  user: Omit<User, "balanceMicros" | "depositedMicros"> & { balanceMicros: number };
  previousBalanceMicros: number;
}

/**
 * The result when a limit of the key refused the recharge: no balance changed. It is not thrown as a refusal, because
 * its transaction also records it in the key's row, for the operator's alert.
 */
export interface LimitedRecharge {
  limited: RechargeRefusal;
}

/** Makes a recharge. Refuses what requireCaller refuses, then what `credit` refuses. */
export function recharge(tx: Tx, command: Recharge, context: Context): Recharged | LimitedRecharge {
  const caller = requireCaller(tx, command.keyId, "recharge", context);
  const outcome = credit(tx, caller, command, context);
  return "limited" in outcome ? outcome : outcome.recharged;
}

export function needsOfRecharge({ keyId, resellerAccount, username }: Recharge): Need[] {
  return [
    needLock(resellerAccount),
    needRow(keys.byKey, keyId),
    needRow(users.byUsername, username),
    needRow(invoiceSettings.byKey, SETTINGS_ID),
    needNumbers(transfers),
  ];
}

/** Counts the ids of the command: one for a test key, because the user may have no test account yet. */
export function countTestAccounts({ isTest }: Recharge): number {
  return isTest ? 1 : 0;
}

export interface RechargeOnce {
  recharge: Recharge;
  claim: Claim;
}

/**
 * Runs recharge by `once`. A recharge that a limit refused has no record, so it can be tried again.
 * docs/specification/http.md#idempotency-record.
 */
export function rechargeOnce(
  tx: Tx,
  command: RechargeOnce,
  context: Context,
): Outcome<Recharged | LimitedRecharge> {
  const { resellerAccount, keyId } = command.recharge;
  const claimant = {
    keyId,
    resellerAccount,
    permission: "recharge",
    claim: command.claim,
  } as const;
  const run = (caller: Key): Done<Recharged | LimitedRecharge> => {
    const outcome = credit(tx, caller, command.recharge, context);
    if ("limited" in outcome) return { result: outcome, effect: null, body: null };
    const { recharged, transferSeq } = outcome;
    return { result: recharged, effect: { transferSeq }, body: rechargeResponse(recharged) };
  };
  const current = () => {
    throw new Error("a recharge was stored without its response");
  };
  const refuseReplay = (caller: Key, { transferSeq }: IdempotencyRecord) => {
    const { creditAccount } = tx.row(transfers.byKey, transferSeq!)!;
    const holder = tx.row(users.byKey, creditAccount)!;
    refuseOutOfReach(caller, holder.testOf === null ? holder : tx.row(users.byKey, holder.testOf)!);
  };
  return once(tx, claimant, { refuseReplay, run, current }, context);
}

export function needsOfRechargeOnce({ recharge, claim }: RechargeOnce): Need[] {
  return [...needsOfRecharge(recharge), ...needsOfClaim(recharge.resellerAccount, claim)];
}

/** The amounts of a test account that does not exist yet. */
const NO_MONEY = { balanceMicros: 0n, depositedMicros: 0n, wantedEvents: 0 };

/**
 * Credits the user, or with a test key the user's test account. The key has been checked.
 * Refuses: user_not_found, user_out_of_reach, balance_too_large, deposits_too_large.
 */
function credit(
  tx: Tx,
  caller: Key,
  command: Recharge,
  context: Context,
): { recharged: Recharged; transferSeq: number } | LimitedRecharge {
  const found = findUser(tx, command.username);
  if (!found) throw refusal("user_not_found");
  const { testOf } = caller;
  refuseOutOfReach(caller, found);
  const day = utcDayOf(context.now);
  const limited = exceededRechargeLimit(caller, rechargedOn(tx, caller, day), command.amountMicros);
  if (limited) {
    noteLimited(tx, caller, context);
    return { limited };
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
  const { amountMicros } = command;
  noteInvoiceItem(tx, { ...found, account, testOf }, { seq: transferSeq!, amountMicros }, context);
  addRecharged(tx, caller, day, command.amountMicros);
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

/** Refuses a user whom the key does not reach. Refuses: user_out_of_reach. */
function refuseOutOfReach(key: Key, user: { parentAccount: number | null }): void {
  const reseller = key.testOf ?? key.resellerAccount;
  if (!isInReach(key.reach, reseller, user)) throw refusal("user_out_of_reach");
}

/** Records a refused recharge at most once a day, so that a caller that keeps retrying causes no writes. */
function noteLimited(tx: Tx, key: Key, { now }: Context): void {
  const { rechargeRefusedAt: at } = key;
  if (at === null || utcDayOf(at) !== utcDayOf(now))
    tx.update(keys, key, { rechargeRefusedAt: now });
}

// Adjustments: the operator's credits and debits of a user's balance.
// docs/specification/command-line.md#cli-adjustments.

import type { AuditFacts } from "../../domain/administrators/audit.ts";
import {
  type Actor,
  cashAccount,
  refuseCreditAboveLimit,
  refuseDebitAboveBalance,
} from "../../domain/ledger/ledger.ts";
import { Refusal } from "../../domain/values/error-table.ts";
import type { AdjustmentMade } from "../../domain/ledger/refusals.ts";
import type { Tx } from "../../db/port/port.ts";
import { postTransfer } from "../../db/ledger/ledger.ts";
import { transferDetails, transfers } from "../../db/tables/ledger.ts";
import { findUserByAccount, type User } from "../../db/users/users.ts";
import { audit } from "../batch/audit.ts";
import type { Context } from "../batch/context.ts";
import { requireUser } from "../users/users.ts";
import { noteInvoiceItem } from "./invoices.ts";
import { recordCreditEvent, recordDebitEvents } from "../webhooks/webhook-events.ts";

export interface AdjustBalance {
  username: string;
  /** Above 0, at most AMOUNT_LIMIT_MICROS. */
  amountMicros: number;
  /** For operators only. */
  note: string | null;
  /** Shown to the user. */
  publicNote?: string | null;
  /** The operator's reference, unique for the user. Repeating the adjustment with it has no second effect. */
  reference?: string | null;
  /** False: a credit that nobody paid for, so no invoice follows. */
  invoice?: boolean;
  actor: Actor;
}

export interface AdjustedBalance {
  /** The user after the change; with `earlier`, the user now. */
  user: User;
  previousBalanceMicros: bigint;
  /** An earlier adjustment with the same reference, so nothing was changed. Null: this adjustment is new. */
  earlier: AdjustmentMade | null;
}

/** Credits a user. Refuses: user_not_found, adjustment_reference_taken, balance_too_large, deposits_too_large. */
export function creditUser(tx: Tx, command: AdjustBalance, context: Context): AdjustedBalance {
  const user = requireUser(tx, command.username);
  const earlier = findEarlier(tx, command, user, "credit");
  if (earlier) return earlier;
  refuseCreditAboveLimit(user, command.amountMicros);
  const { seq, ...adjusted } = adjust(tx, command, context, user, cashAccount(false), user.account);
  const { amountMicros, invoice = true } = command;
  if (invoice) noteInvoiceItem(tx, user, { seq, amountMicros }, context);
  recordCreditEvent(tx, user, command.amountMicros, "adjustment", context);
  return adjusted;
}

/** Debits a user. Refuses: user_not_found, adjustment_reference_taken, insufficient_balance. */
export function debitUser(tx: Tx, command: AdjustBalance, context: Context): AdjustedBalance {
  const user = requireUser(tx, command.username);
  const earlier = findEarlier(tx, command, user, "debit");
  if (earlier) return earlier;
  refuseDebitAboveBalance(user.balanceMicros, command.amountMicros);
  const { seq: _, ...adjusted } = adjust(
    tx,
    command,
    context,
    user,
    user.account,
    cashAccount(false),
  );
  recordDebitEvents(tx, user, command.amountMicros, context);
  return adjusted;
}

/**
 * Credits or debits without returning the balance, for a server: its writer replies in JSON, and a balance may be above
 * 2^53. Refuses what creditUser and debitUser refuse.
 */
export function adjustBalance(
  tx: Tx,
  { direction, ...command }: AdjustBalance & { direction: "credit" | "debit" },
  context: Context,
): { earlier: AdjustmentMade | null } {
  const { earlier } = (direction === "credit" ? creditUser : debitUser)(tx, command, context);
  return { earlier };
}

/**
 * Finds the adjustment with the command's reference; null when there is none yet.
 * Refuses: adjustment_reference_taken, when a different adjustment has the reference.
 */
function findEarlier(
  tx: Tx,
  { amountMicros, reference = null }: AdjustBalance,
  user: User,
  direction: "credit" | "debit",
): AdjustedBalance | null {
  if (reference === null) return null;
  // With the lock, a command with the same reference either commits before this one, and is found, or runs after it.
  tx.lock(user.account);
  const found = tx.row(transferDetails.byReference, user.account, reference);
  if (!found) return null;
  const transfer = tx.row(transfers.byKey, found.seq)!;
  const isCredit = transfer.creditAccount === user.account;
  const { seq, createdAt } = transfer;
  const made = { seq, createdAt, amountMicros: transfer.amountMicros };
  const earlier: AdjustmentMade = { ...made, direction: isCredit ? "credit" : "debit" };
  const isSame = earlier.direction === direction && earlier.amountMicros === amountMicros;
  if (!isSame) throw new Refusal("adjustment_reference_taken", earlier);
  const change = BigInt(isCredit ? amountMicros : -amountMicros);
  return { user, previousBalanceMicros: transfer.balanceAfterMicros - change, earlier };
}

function adjust(
  tx: Tx,
  command: AdjustBalance,
  context: Context,
  user: User,
  debitAccount: number,
  creditAccount: number,
): AdjustedBalance & { seq: number } {
  const seq = postTransfer(tx, {
    debitAccount,
    creditAccount,
    amountMicros: command.amountMicros,
    kind: "adjustment",
    orderId: null,
    actor: command.actor,
    note: command.note,
    publicNote: command.publicNote ?? null,
    reference: command.reference ?? null,
    createdAt: context.now,
  });
  const adjusted = findUserByAccount(tx, user.account)!;
  audit(tx, context, {
    actor: command.actor,
    action: creditAccount === user.account ? "user.credit" : "user.debit",
    subject: user.username,
    account: user.account,
    before: { balanceMicros: user.balanceMicros },
    after: { balanceMicros: adjusted.balanceMicros, ...textsOf(command) },
  });
  const { balanceMicros: previousBalanceMicros } = user;
  return { user: adjusted, previousBalanceMicros, earlier: null, seq: seq! };
}

/** Returns the texts as the audit log stores them: the note always, the other texts only if given. */
function textsOf({ note, publicNote = null, reference = null }: AdjustBalance): AuditFacts {
  return {
    note,
    ...(publicNote === null ? {} : { publicNote }),
    ...(reference === null ? {} : { reference }),
  };
}
